#ifndef INSTALL_REMOTE_H
#define INSTALL_REMOTE_H

#include "mapm/fetch.h"
#include "mapm/layer.h"
#include "mapm/store.h"

/* Questions about commits, beside the closure. */

/*
 * Asks `wants`, of all repositories at once, and calls `answer` for each with
 * its event; `a` is its arena. Nothing is kept of what was fetched.
 */
MUST_CHECK bool remote_ask(
    struct context *cx, const struct layer *l, struct store *store,
    const struct fetch_want *wants, size_t count,
    void (*answer)(void *ctx, const struct fetch_event *event, struct arena *a),
    void *ctx, struct err *e);

/* An answer about the commit, not a failure to get one. */
bool remote_is_answer(enum err_code code);

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
