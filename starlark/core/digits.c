#include "int.h"

/* Division of big numbers; libtommath needs three times as many
 * instructions. */

typedef unsigned __int128 wide;

/* Computes r = a + b over n digits and returns the carry. */
static uint64_t add(uint64_t *r, const uint64_t *a, const uint64_t *b,
                    uint32_t n)
{
    uint64_t carry = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t t = a[i] + b[i] + carry;
        r[i] = t & DIGIT_MASK;
        carry = t >> DIGIT_BITS;
    }
    return carry;
}

/* Computes r = a << bits, one digit longer than a; bits < 60. */
static void shift_up(uint64_t *r, const uint64_t *a, uint32_t n, uint32_t bits)
{
    uint64_t below = 0;

    for (uint32_t i = 0; i < n; i++) {
        r[i] = (a[i] << bits | below >> (DIGIT_BITS - bits)) & DIGIT_MASK;
        below = a[i];
    }
    r[n] = below >> (DIGIT_BITS - bits);
}

static void shift_down(uint64_t *r, const uint64_t *a, uint32_t n,
                       uint32_t bits)
{
    uint64_t above = 0;

    while (n--) {
        uint64_t digit = a[n];
        r[n] = (digit >> bits | above << (DIGIT_BITS - bits)) & DIGIT_MASK;
        above = digit;
    }
}

/* Returns the reciprocal of the divisor d, whose highest bit is set; with it,
 * dividing two digits by one takes two multiplications (Moeller and Granlund,
 * 2011). */
static uint64_t reciprocal(uint64_t d)
{
    wide all = ((wide)DIGIT_MASK << DIGIT_BITS) | DIGIT_MASK;

    return (uint64_t)(all / d) & DIGIT_MASK;
}

/* Returns (high, low) / d for high < d. */
static inline uint64_t divide_2_by_1(uint64_t high, uint64_t low, uint64_t d,
                                     uint64_t inverse, uint64_t *remainder)
{
    wide t = (wide)inverse * high + ((wide)high << DIGIT_BITS | low);
    uint64_t q = (uint64_t)(t >> DIGIT_BITS) + 1;
    uint64_t fraction = (uint64_t)t & DIGIT_MASK;
    uint64_t r = (low - q * d) & DIGIT_MASK;

    if (r > fraction) {
        q--;
        r = (r + d) & DIGIT_MASK;
    }
    if (r >= d) {
        q++;
        r -= d;
    }
    *remainder = r;
    return q & DIGIT_MASK;
}

static uint32_t leading_zeros(uint64_t digit)
{
    return (uint32_t)__builtin_clzll(digit) - (64 - DIGIT_BITS);
}

uint64_t sl_digits_div_small(uint64_t *q, const uint64_t *a, uint32_t n,
                             uint64_t d)
{
    const uint32_t shift = leading_zeros(d);
    const uint64_t top = d << shift, inverse = reciprocal(top);
    uint64_t r = n ? a[n - 1] >> (DIGIT_BITS - shift) : 0;

    /* a is shifted on the fly by as many bits as d */
    while (n--) {
        uint64_t low = n ? a[n - 1] >> (DIGIT_BITS - shift) : 0;
        low |= (a[n] << shift) & DIGIT_MASK;
        q[n] = divide_2_by_1(r, low, top, inverse, &r);
    }
    return r >> shift;
}

/* Computes a -= b * digit and returns what must be subtracted from a[n]. */
static uint64_t sub_mul(uint64_t *a, const uint64_t *b, uint32_t n,
                        uint64_t digit)
{
    uint64_t high = 0;
    int64_t borrow = 0; /* 0 or less */

    for (uint32_t i = 0; i < n; i++) {
        wide t = (wide)b[i] * digit;
        int64_t d = (int64_t)(a[i] - ((uint64_t)t & DIGIT_MASK) - high);
        d += borrow;
        a[i] = (uint64_t)d & DIGIT_MASK;
        borrow = d >> DIGIT_BITS;
        high = (uint64_t)(t >> DIGIT_BITS);
    }
    return high - (uint64_t)borrow;
}

/* Divides a, of n + m digits with the highest 0, by b, of n >= 2 digits with
 * the highest bit set. Writes m digits of the quotient to q; the remainder
 * replaces the lower n digits of a. Returns false if a limit is reached. */
static bool divide(struct star *s, uint64_t *q, uint64_t *a, const uint64_t *b,
                   uint32_t n, uint32_t m)
{
    uint64_t top = b[n - 1], inverse = reciprocal(top);

    for (uint32_t j = m; j-- > 0;) {
        uint64_t *part = a + j, digit = DIGIT_MASK, r;
        if (!sl_charge(s, n / 8 + 1))
            return false;
        if (part[n] < top) {
            digit = divide_2_by_1(part[n], part[n - 1], top, inverse, &r);
            /* Correct the estimate with the next digit: it is now exact, or
             * rarely one too large. */
            wide low = (wide)b[n - 2] * digit;
            while (low > ((wide)r << DIGIT_BITS | part[n - 2])) {
                digit--;
                low -= b[n - 2];
                r += top;
                if (r > DIGIT_MASK)
                    break;
            }
        }
        uint64_t take = sub_mul(part, b, n, digit);
        uint64_t left = part[n] - take;
        part[n] = 0;
        while (left >> 63) { /* estimate was one too large */
            digit--;
            left += add(part, part, b, n);
        }
        q[j] = digit;
    }
    return true;
}

bool sl_digits_divide(struct star *s, uint64_t *q, uint64_t *r,
                      const uint64_t *a, uint32_t an, const uint64_t *b,
                      uint32_t bn, uint64_t *scratch)
{
    uint32_t shift = leading_zeros(b[bn - 1]);
    uint64_t *x = scratch, *y = x + an + 1;

    if (bn == 1) {
        *r = sl_digits_div_small(q, a, an, *b);
        return true;
    }
    shift_up(x, a, an, shift);
    shift_up(y, b, bn, shift);
    if (!divide(s, q, x, y, bn, an + 1 - bn))
        return false;
    shift_down(r, x, bn, shift);
    return true;
}
