#ifndef MAPM_INPUT_H
#define MAPM_INPUT_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/metaskill.h"

/* input: reads the input of a run (K20, X14). */

/*
 * Makes the argument of run(), one compact JSON object allocated in `a`: from
 * `text` ("" for none), overridden by `pairs` "key=value", where a value that
 * is not JSON is taken as a string. Sets `*given` to false if both are empty.
 * Errors: ERR_USAGE for a text that is not an object, a pair without "=", or
 * a duplicate key.
 */
MUST_CHECK bool input_read(struct str text, const struct str *pairs,
                           size_t pair_count, struct arena *a, struct str *out,
                           bool *given, struct err *e);

/* Returns the error text of K9, "error: input is required. … Retry
 * run_metaskill with …", with the activation text. Allocated in `a`. */
struct str input_missing(const struct skill *s, struct arena *a);

#endif
