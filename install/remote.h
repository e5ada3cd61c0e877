#ifndef INSTALL_REMOTE_H
#define INSTALL_REMOTE_H

#include "mapm/fetch.h"
#include "mapm/layer.h"
#include "mapm/store.h"

/* remote: requests about commits outside of a closure. */

/* Requests `wants` from all repositories in parallel, and calls `answer` with
 * each event; `a` is its arena. Fetched data is discarded. */
MUST_CHECK bool remote_ask(
    struct context *cx, const struct layer *l, struct store *store,
    const struct fetch_want *wants, size_t count,
    void (*answer)(void *ctx, const struct fetch_event *event, struct arena *a),
    void *ctx, struct err *e);

/* Returns whether the code is an answer about the commit, not a failed
 * request. */
bool remote_is_answer(enum err_code code);

/* verify_remote: checks that each locked commit is reachable from the ref of
 * its origin, or from any branch or tag if the origin names a commit. All
 * repositories are asked in parallel; nothing is cached or written. */

/* Calls `found` with the reason for each entry whose commit is not reachable or
 * whose ref is gone. Errors: all failures that prevented the check. */
MUST_CHECK bool verify_remote(
    struct context *cx, const struct layer *l, struct store *store,
    void (*found)(void *ctx, const struct lock_entry *entry, const char *how),
    void *ctx, struct err *e);

#endif
