#ifndef MAPM_CLIENTS_SCOPE_H
#define MAPM_CLIENTS_SCOPE_H

#include "base/err.h"
#include "mapm/clients.h"

/*
 * client_scope: where the clients look. In a workspace that is what their rows
 * say, relative to its root. At user level each row has absolute paths, below
 * the home folder or where a variable moved them.
 */
struct client_scope {
    /* As many as clients_table, in its order. `skills`, `agents` and `mcp` are
     * those of the scope. */
    const struct client *rows;
    const char *skills; /* the common folder of skills */
    bool is_user;
    const char *named_skills; /* user level: as HOME has it, links and all */
    const char *state; /* user level: ${XDG_STATE_HOME:-~/.local/state} */
    /* User level: why a row has no places, as it names no absolute folder. Of
     * each NULL, or a message. */
    const char *const *refused;
};

extern const struct client_scope client_scope_workspace;

/*
 * The scope of a user with the home folder `home`. A link that leads to another
 * place in the home, or in a folder that a variable names, is followed; one
 * that leads out of it stays in the path, where no file is opened through it.
 *
 * Ownership: in `a`. Errors: ERR_REFUSED for a home folder that is no absolute
 * path, or not printable; ERR_IO, ERR_NOT_FOUND where it cannot be opened.
 *.
 */
MUST_CHECK bool clients_user_scope(struct str home, struct arena *a,
                                   struct client_scope *out, struct err *e);

/* Its common folder of skills alone; "" without a home folder. */
struct str clients_user_skills(struct str home, struct arena *a);

#endif
