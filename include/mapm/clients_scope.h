#ifndef MAPM_CLIENTS_SCOPE_H
#define MAPM_CLIENTS_SCOPE_H

#include "mapm/clients.h"

/*
 * client_scope: where the clients look. In a workspace that is what their rows
 * say, relative to its root. At user level each row has absolute paths, free
 * of symbolic links, below the home folder or where a variable moved them.
 */
struct client_scope {
    /* As many as clients_table, in its order. `skills`, `agents` and `mcp` are
     * those of the scope. */
    const struct client *rows;
    const char *skills; /* the common folder of skills */
    bool is_user;
};

extern const struct client_scope client_scope_workspace;

#endif
