#ifndef STARLARK_INT_H
#define STARLARK_INT_H

#include <tommath.h>

#include "ops.h"

/*
 * int: the digits of ints, for code that computes with them. A magnitude is an
 * array of digits of 60 bits, the least significant first, as in libtommath,
 * which reads the digits of int objects where they are and writes into a number
 * of the interpreter. Ints of at most 127 bits do not need it.
 */

#define DIGIT_BITS 60u
#define DIGIT_MASK (((uint64_t)1 << DIGIT_BITS) - 1)

#if defined __has_feature
#    if __has_feature(memory_sanitizer)
#        include <sanitizer/msan_interface.h>
#        define SL_UNPOISON(p, size) __msan_unpoison(p, size)
#    endif
#endif
#ifndef SL_UNPOISON /* libtommath is not instrumented by MSan */
#    define SL_UNPOISON(p, size) ((void)0)
#endif

/* --- int.c ------------------------------------------------------------------------- */

/* Views for libtommath to read: of digits, which may have leading zeros; and of
 * an int, whose digits are written to `few` if it is a word. */
mp_int sl_digits_view(const uint64_t *d, uint32_t n);
mp_int sl_int_view(value v, uint64_t few[2]);

/* Returns an int of any magnitude in normal form. `d` must not point into an
 * object that is not held. */
value sl_int_from_digits(struct star *s, const uint64_t *d, uint32_t n,
                         bool negative);
value sl_int_too_large(struct star *s); /* Sets the error and returns 0. */

/* Hashes a magnitude beyond a word; and converts a double of at least 2^53 to
 * digits, so that a float and the int equal to it have the same hash. */
uint32_t sl_digits_hash(uint64_t seed, const uint64_t *d, uint32_t n,
                        bool negative);
#define DOUBLE_DIGITS 18
uint32_t sl_digits_from_double(uint64_t d[static DOUBLE_DIGITS],
                               double magnitude);

uint32_t sl_digits_trim(const uint64_t *a, uint32_t n);

/* Computes q = a / d and returns the remainder; q has n digits and may be a. In
 * digits.c. */
uint64_t sl_digits_div_small(uint64_t *q, const uint64_t *a, uint32_t n,
                             uint64_t d);
/* Computes q = a / b (an - bn + 1 digits) and the remainder r (bn digits). b
 * has no leading zero, and an >= bn. Returns false if a limit is reached. */
bool sl_digits_divide(struct star *s, uint64_t *q, uint64_t *r,
                      const uint64_t *a, uint32_t an, const uint64_t *b,
                      uint32_t bn, uint64_t *scratch);
#define DIVIDE_SCRATCH(an, bn) ((size_t)(an) + (size_t)(bn) + 2)

/* Returns the number of libtommath used for results, always the same one, with
 * room for `n` digits, after charging for as much work. Returns NULL if memory
 * or a limit is exhausted. */
mp_int *sl_int_room(struct star *s, size_t n);

#endif
