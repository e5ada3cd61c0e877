#include "mapm/clients_scope.h"

const struct client_scope client_scope_workspace = {
    .rows = clients_table,
    .skills = ".agents/skills",
};
