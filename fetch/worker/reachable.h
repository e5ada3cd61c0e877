#ifndef FETCH_WORKER_REACHABLE_H
#define FETCH_WORKER_REACHABLE_H

#include "objects.h"

/*
 * reachable: which blobs of a pack belong to the request, when the request
 * named only commits or trees.
 *
 *     wants --> commits and trees of the pack --> their entries
 *
 * A pack may bring objects that nobody requested. A blob that arrives before
 * the tree naming it stays in the pack's memory until that tree arrives; a
 * blob that no tree names is never written. No recursion.
 *
 * Source: THREATS.md row 14.
 */

struct reachable {
    struct oid_set ids; /* wants, and entries of reachable trees */
    struct map early;   /* id --> struct object: blobs, not reachable so far */
    size_t early_taken; /* … that became reachable since */
};

/* Everything in it lives in `a`; `wants` is copied. */
void reachable_init(struct reachable *r, struct arena *a,
                    const struct oid *wants, size_t count);

/* A blob arrived. False: it is not reachable so far and is remembered; its
 * bytes are borrowed. */
bool reachable_add_blob(struct reachable *r, const struct oid *id,
                        struct str bytes);

/*
 * The commit or tree `id` arrived in `objects`. Calls `blob` for each early
 * blob that is reachable now. False: what `blob` reported.
 */
MUST_CHECK bool reachable_add(struct reachable *r,
                              const struct objects *objects,
                              const struct oid *id,
                              bool (*blob)(void *ctx, const struct oid *id,
                                           struct str bytes, struct err *e),
                              void *ctx, struct err *e);

/* Blobs of the pack that nothing requested. */
size_t reachable_unrequested(const struct reachable *r);

#endif
