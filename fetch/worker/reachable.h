#ifndef FETCH_WORKER_REACHABLE_H
#define FETCH_WORKER_REACHABLE_H

#include "objects.h"

/*
 * reachable: determines which blobs of a pack belong to a request that named
 * only commits or trees.
 *
 *     wants --> commits and trees of the pack --> their entries
 *
 * A pack may contain objects that were not requested. A blob that arrives
 * before the tree that names it stays in the pack's memory until that tree
 * arrives; a blob that no tree names is never written. There is no recursion.
 *
 * Source: THREATS.md row 14.
 */

struct reachable {
    struct oid_set ids; /* wants, and the entries of reachable trees */
    struct map early;   /* id -> struct object: blobs not known to be
                         * reachable yet */
    size_t early_taken; /* number of those that became reachable later */
};

/* The state lives in `a`; `wants` is copied. */
void reachable_init(struct reachable *r, struct arena *a,
                    const struct oid *wants, size_t count);

/* Handles a new blob. Returns false if it is not known to be reachable yet; it
 * is remembered then, with its bytes borrowed. */
bool reachable_add_blob(struct reachable *r, const struct oid *id,
                        struct str bytes);

/*
 * Handles the commit or tree `id`, which has been added to `objects`. Calls
 * `blob` for each remembered blob that is reachable now. Returns false if
 * `blob` does.
 */
MUST_CHECK bool reachable_add(struct reachable *r,
                              const struct objects *objects,
                              const struct oid *id,
                              bool (*blob)(void *ctx, const struct oid *id,
                                           struct str bytes, struct err *e),
                              void *ctx, struct err *e);

/* Returns the number of blobs in the pack that were not requested. */
size_t reachable_unrequested(const struct reachable *r);

#endif
