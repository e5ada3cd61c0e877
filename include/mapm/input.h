#ifndef MAPM_INPUT_H
#define MAPM_INPUT_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/metaskill.h"

/* input: the input of a run (K20, X14). */

/*
 * The argument of run(): one JSON object, compact, in `a`. From `text`
 * ("" = none), then `pairs` "key=value" on top of it: a value that is JSON is
 * taken as that, else as a string. `*given` false: both are empty. Errors:
 * ERR_USAGE for a text that is not an object, a pair without "=", a duplicate
 * key.
 */
MUST_CHECK bool input_read(struct str text, const struct str *pairs,
                           size_t pair_count, struct arena *a, struct str *out,
                           bool *given, struct err *e);

/* K9: "error: input is required. … Retry run_metaskill with …" with the
 * activation text. In `a`. */
struct str input_missing(const struct skill *s, struct arena *a);

#endif
