#ifndef FETCH_WORKER_DELTA_H
#define FETCH_WORKER_DELTA_H

#include "base/str.h"

/*
 * delta: git's instructions for building one object from another.
 * Source: git's gitformat-pack, "Deltified representation".
 */

/* The sizes in the header: of the base and of the result. `*rest` is left at
 * the instructions. ERR_DAMAGED. */
MUST_CHECK bool delta_sizes(struct str *rest, uint64_t *base_bytes,
                            uint64_t *result_bytes, struct err *e);

/*
 * Follows `instructions` on `base`, filling exactly `n` bytes of `out`.
 * ERR_DAMAGED when they leave the base, or do not fill `out` exactly.
 */
MUST_CHECK bool delta_apply(struct str instructions, struct str base, char *out,
                            size_t n, struct err *e);

#endif
