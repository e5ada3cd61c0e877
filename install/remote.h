#ifndef INSTALL_REMOTE_H
#define INSTALL_REMOTE_H

#include "mapm/layer.h"
#include "mapm/store.h"

/*
 * verify_remote: is each locked commit in the history of the ref that its
 * origin names? Of an origin that names a commit: in that of any branch or
 * tag. All repositories at once; nothing is remembered, nothing is written.
 */

/*
 * Calls `found` for each entry whose commit is not, or whose ref is gone, with
 * the reason. Errors: what keeps it from being found out, all of it reported.
 */
MUST_CHECK bool verify_remote(
    struct context *cx, const struct layer *l, struct store *store,
    void (*found)(void *ctx, const struct lock_entry *entry, const char *how),
    void *ctx, struct err *e);

#endif
