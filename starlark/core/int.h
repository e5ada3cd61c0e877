#ifndef STARLARK_INT_H
#define STARLARK_INT_H

#include <tommath.h>

#include "ops.h"

/*
 * int: what an int is made of, for those that compute with it. A magnitude is an
 * array of digits of 60 bits, the least significant first: libtommath's. It adds,
 * multiplies, shifts; it reads our digits where they are, and writes into one
 * number of its own. Division and text, which it does slowly, and without a look
 * at limits, are here.
 */

#define DIGIT_BITS 60u
#define DIGIT_MASK (((uint64_t)1 << DIGIT_BITS) - 1)

#if defined __has_feature
#    if __has_feature(memory_sanitizer)
#        include <sanitizer/msan_interface.h>
#        define SL_UNPOISON(p, size) __msan_unpoison(p, size)
#    endif
#endif
#ifndef SL_UNPOISON /* libtommath is not instrumented */
#    define SL_UNPOISON(p, size) ((void)0)
#endif

/* --- int.c ------------------------------------------------------------------------- */

/* To be read by libtommath: digits, which may have leading zeros; an int, whose
 * digits are put in `few` when it is a word. */
mp_int sl_digits_view(const uint64_t *d, uint32_t n);
mp_int sl_int_view(value v, uint64_t few[2]);

/* An int of any magnitude, in the form that it must have. `d` must not belong to
 * an object that nobody holds. */
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

/* --- digits.c: false when a budget ended, with the error set -------------------------- */

uint32_t sl_digits_trim(const uint64_t *a, uint32_t n);
/* r = a + b, of n digits; returns the carry. r may be a or b. */
uint64_t sl_digits_add(uint64_t *r, const uint64_t *a, const uint64_t *b,
                       uint32_t n);
/* r = a * m + more, with room for n + 1; m and more are one digit. Returns how
 * many digits there are. r may be a. */
uint32_t sl_digits_mul_small(uint64_t *r, const uint64_t *a, uint32_t n,
                             uint64_t m, uint64_t more);
/* r = a * b: all an + bn digits are written. r overlaps with neither. */
bool sl_digits_mul(struct star *s, uint64_t *r, const uint64_t *a, uint32_t an,
                   const uint64_t *b, uint32_t bn);
/* q = a / d, with room for n; returns the remainder. q may be a. */
uint64_t sl_digits_div_small(uint64_t *q, const uint64_t *a, uint32_t n,
                             uint64_t d);
/* q = a / b, all an - bn + 1 digits written, and the remainder to r, all bn
 * digits. b has no leading zero; an >= bn. r may be a; q overlaps with neither. */
bool sl_digits_divide(struct star *s, uint64_t *q, uint64_t *r,
                      const uint64_t *a, uint32_t an, const uint64_t *b,
                      uint32_t bn, uint64_t *scratch);
#define DIVIDE_SCRATCH(an, bn) ((size_t)(an) + 2 * (size_t)(bn) + 2)

/* libtommath's own number, for a result of `n` digits, after charging for about
 * as much work. The next call may give the same one. */
mp_int *sl_int_room(struct star *s, size_t n);

#endif
