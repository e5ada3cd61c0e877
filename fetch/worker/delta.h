#ifndef FETCH_WORKER_DELTA_H
#define FETCH_WORKER_DELTA_H

#include "base/str.h"

/*
 * delta: applies git's instructions that build one object from another. Source:
 * git's gitformat-pack, "Deltified representation".
 */

/* Reads the sizes of the base and of the result from the header, and advances
 * `*rest` to the instructions. Errors: ERR_DAMAGED. */
MUST_CHECK bool delta_sizes(struct str *rest, uint64_t *base_bytes,
                            uint64_t *result_bytes, struct err *e);

/*
 * Applies `instructions` to `base`, filling exactly `n` bytes of `out`. Errors:
 * ERR_DAMAGED if they read outside the base or do not fill `out`.
 */
MUST_CHECK bool delta_apply(struct str instructions, struct str base, char *out,
                            size_t n, struct err *e);

#endif
