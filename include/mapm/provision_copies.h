#ifndef MAPM_PROVISION_COPIES_H
#define MAPM_PROVISION_COPIES_H

#include "mapm/clients_scope.h"

/*
 * copies: files of the user as they were before mapm first edited them, below
 * the state folder of the user [H8]:
 *
 *     mapm/backup/<time>/<client>-<digest of the path>
 *
 * provision_apply writes them, before anything changes. No path is read from
 * there: what can be put back is what the clients' rows name.
 */
struct provision_copy {
    const char *client;
    struct str path;  /* absolute */
    struct str place; /* of the copy */
    struct str time;  /* its folder: "2026-11-23T06-06-10Z" */
    struct str text, now;
    bool is_there;  /* else `now` is "" */
    struct str why; /* it cannot be put back; "": it can */
};

struct provision_copies {
    const struct client_scope *scope;
    struct provision_copy *items; /* the newest of each file that differs */
    size_t count, capacity;
    struct str set; /* the folder with what was replaced; "" = none yet */
};

/* Ownership: in `a`; `scope`, of a user, is borrowed. Errors: ERR_IO. */
MUST_CHECK bool provision_list_copies(const struct client_scope *scope,
                                      struct arena *a,
                                      struct provision_copies *out,
                                      struct err *e);

/*
 * Puts one back atomically; what it replaces is kept in `*kept`, beside the
 * copies ("" when there was no file). ERR_EDITED when the file changed since the
 * list; ERR_IO, ERR_REFUSED. The file is as it was after false.
 */
MUST_CHECK bool provision_restore_copy(struct provision_copies *all,
                                       const struct provision_copy *c,
                                       struct arena *a, struct str *kept,
                                       struct err *e);

#endif
