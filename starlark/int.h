#ifndef STARLARK_INT_H
#define STARLARK_INT_H

#include "digits.h"
#include "ops.h"

/* int: what an int is made of, for those that compute with it. */

/* An int as sign and magnitude. */
struct sl_number {
    const uint64_t *d;
    uint32_t n; /* without leading zeros */
    bool negative;
    uint64_t few[2]; /* the digits of a word */
};
void sl_number_load(value v, struct sl_number *out);

/* An int to be computed in place, with room for n digits; NULL when it would be
 * too large, or memory ends. */
struct sl_bigint *sl_int_room(struct star *s, uint32_t n);

/* The int that was computed in `b`, whose n digits have no leading zeros. */
value sl_int_finish(struct star *s, struct sl_bigint *b, uint32_t n,
                    bool negative);

/* The same, or of what was computed on the stack, in `few`, when b is NULL. A
 * small result gets an object of its size. */
#define STACK_DIGITS 24u
value sl_int_settle(struct star *s, struct sl_bigint *b,
                    uint64_t few[static STACK_DIGITS], uint32_t n,
                    bool negative);

#endif
