#ifndef MAPM_CLIENTS_SCOPE_H
#define MAPM_CLIENTS_SCOPE_H

#include "base/err.h"
#include "mapm/clients.h"

/*
 * clients_scope: the paths that clients read, in a workspace or at user level.
 * In a workspace the rows of clients_table apply, relative to its root. At user
 * level each row has absolute paths, below the home folder or where an
 * environment variable moved them.
 */
struct client_scope {
    /* As many as in clients_table, in the same order, with `skills`, `agents`
     * and `mcp` of this scope. */
    const struct client *rows;
    const char *skills; /* the shared skills folder */
    bool is_user;
    const char *named_skills; /* user level: path with its symbolic links */
    const char *home;         /* user level: without symbolic links */
    const char *state; /* user level: ${XDG_STATE_HOME:-~/.local/state} */
    /* User level: for each row the reason why it has no paths (a variable is
     * not an absolute path), or NULL. */
    const char *const *refused;
};

extern const struct client_scope client_scope_workspace;

/*
 * Makes the scope of a user with the home folder `home`. Symbolic links are
 * resolved if they lead to another place in the home folder, or in a folder
 * that a variable names. A link that leads out of these remains in the path,
 * and files are not opened through it.
 *
 * Ownership: allocated in `a`.
 * Errors: ERR_REFUSED if the home folder is not an absolute path or not
 * printable; ERR_IO or ERR_NOT_FOUND if it cannot be opened.
 */
MUST_CHECK bool clients_user_scope(struct str home, struct arena *a,
                                   struct client_scope *out, struct err *e);

/* Returns only the shared skills folder of the user; "" without a home
 * folder. */
struct str clients_user_skills(struct str home, struct arena *a);

#endif
