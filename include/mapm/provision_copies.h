#ifndef MAPM_PROVISION_COPIES_H
#define MAPM_PROVISION_COPIES_H

#include "mapm/clients_scope.h"

/*
 * provision_copies: backups of files of the user, made before mapm first edits
 * them, in the state folder of the user [H8]:
 *
 *     mapm/backup/<time>/<client>-<digest of the path>
 *
 * provision_apply writes them before any change. Paths are not stored there:
 * only files that the rows of clients name can be restored.
 */
struct provision_copy {
    const char *client;
    struct str path;  /* absolute path of the file */
    struct str place; /* path of the copy */
    struct str time;  /* folder of the copy: "2026-11-23T06-06-10Z" */
    struct str text, now;
    bool is_there;  /* the file exists; otherwise `now` is "" */
    struct str why; /* why it cannot be restored, or "" */
};

struct provision_copies {
    const struct client_scope *scope;
    struct provision_copy *items; /* the newest copy of each file that
                                     differs */
    size_t count, capacity;
    struct str set; /* folder of the replaced files; "" so far */
};

/* Lists the copies. Ownership: allocated in `a`; `scope`, of a user, is
 * borrowed. Errors: ERR_IO. */
MUST_CHECK bool provision_list_copies(const struct client_scope *scope,
                                      struct arena *a,
                                      struct provision_copies *out,
                                      struct err *e);

/* Restores a copy atomically. The replaced file is stored in `*kept`, next to
 * the copies ("" if there was no file). On failure the file is unchanged.
 * Errors: ERR_EDITED if the file changed since it was listed;
 * ERR_IO, ERR_REFUSED. */
MUST_CHECK bool provision_restore_copy(struct provision_copies *all,
                                       const struct provision_copy *c,
                                       struct arena *a, struct str *kept,
                                       struct err *e);

#endif
