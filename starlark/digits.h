#ifndef STARLARK_DIGITS_H
#define STARLARK_DIGITS_H

#include "star.h"

/*
 * digits: arithmetic on magnitudes, the front of libtommath.
 *
 * A magnitude is an array of digits of 60 bits, the least significant first.
 * Functions that return a count return that of the result without leading
 * zeros; arguments may have some, except where said. Small numbers are computed
 * here, in place and without any allocation; large products are left to
 * libtommath, in pieces of a millisecond or so, between which limits are
 * looked at. Then a function fails: false or -1, with the error set.
 */

#define DIGIT_BITS 60u
#define DIGIT_MASK (((uint64_t)1 << DIGIT_BITS) - 1)

uint32_t sl_digits_trim(const uint64_t *a, uint32_t n);
/* Neither has leading zeros. */
int sl_digits_compare(const uint64_t *a, uint32_t an, const uint64_t *b,
                      uint32_t bn);
uint32_t sl_digits_bits(const uint64_t *a, uint32_t n);

/* r = a + b, with room for an + 1; an >= bn. r may be a or b. */
uint32_t sl_digits_add(uint64_t *r, const uint64_t *a, uint32_t an,
                       const uint64_t *b, uint32_t bn);
/* r = a - b, with room for an; a >= b, an >= bn. r may be a or b. */
uint32_t sl_digits_sub(uint64_t *r, const uint64_t *a, uint32_t an,
                       const uint64_t *b, uint32_t bn);
/* r = a * m + more, with room for n + 1; m and more are one digit. r may be a. */
uint32_t sl_digits_mul_small(uint64_t *r, const uint64_t *a, uint32_t n,
                             uint64_t m, uint64_t more);
/* A digit to divide by, not 0, and what that needs. */
struct sl_divisor {
    uint64_t d, inverse;
    uint32_t shift;
};
struct sl_divisor sl_divisor(uint64_t d);
/* q = a / d, with room for n; returns the remainder. q may be a; or NULL. */
uint64_t sl_digits_div_small(uint64_t *q, const uint64_t *a, uint32_t n,
                             const struct sl_divisor *by);
/* r = a << bits, with room for n + bits / 60 + 1. r may be a. */
uint32_t sl_digits_shl(uint64_t *r, const uint64_t *a, uint32_t n,
                       uint32_t bits);
/* r = a >> bits, with room for n; *lost: whether a bit that was set is gone. */
uint32_t sl_digits_shr(uint64_t *r, const uint64_t *a, uint32_t n,
                       uint32_t bits, bool *lost);

/* r = a * b: all an + bn digits are written. r overlaps with neither. */
bool sl_digits_mul(struct star *s, uint64_t *r, const uint64_t *a, uint32_t an,
                   const uint64_t *b, uint32_t bn, uint64_t *scratch);
#define COLUMNS_BELOW  48u /* a shorter one needs no scratch */
#define MUL_SCRATCH(n) (8 * (size_t)(n) + 256) /* n: the longer one */

/* q = a / b, all an - bn + 1 digits written, and the remainder to r, all bn
 * digits. b has no leading zero; an >= bn. r may be a; q overlaps with neither.
 * `s` may be NULL when the quotient is short: nothing is charged then. */
bool sl_digits_divide(struct star *s, uint64_t *q, uint64_t *r,
                      const uint64_t *a, uint32_t an, const uint64_t *b,
                      uint32_t bn, uint64_t *scratch);
#define DIVIDE_SCRATCH(an, bn)                                                 \
    ((size_t)(an) + 2 + MUL_SCRATCH(bn) + 2 * (size_t)(bn))

/* int.c: an int of any magnitude, in the form that it must have. `d` must not
 * belong to an object that nobody holds. */
value sl_int_from_digits(struct star *s, const uint64_t *d, uint32_t n,
                         bool negative);
value sl_int_too_large(struct star *s); /* the error */

/* A hash of any magnitude beyond a word, and the digits of a double of at least
 * 2^53: how a float and the int it equals get the same hash. */
uint32_t sl_digits_hash(uint64_t seed, const uint64_t *d, uint32_t n,
                        bool negative);
#define DOUBLE_DIGITS 18
uint32_t sl_digits_from_double(uint64_t d[static DOUBLE_DIGITS],
                               double magnitude);

/* Memory for scratch: the interpreter's own when small. One at a time. */
uint64_t *sl_scratch_take(struct star *s, size_t digits);
void sl_scratch_give(struct star *s);

#endif
