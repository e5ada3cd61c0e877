#include <math.h>

#include "int.h"

_Static_assert(MP_DIGIT_BIT == 60 && sizeof(mp_digit) == sizeof(uint64_t),
               "libtommath must be built with digits of 60 bits");

typedef unsigned __int128 wide;

/* A product of so many digits takes two milliseconds. */
#define PIECE_DIGITS SL_RARE(4200u, 4u)
/* Quotients shorter than that: digit by digit. */
#define DIVIDE_BELOW SL_RARE(64u, 4u)
/* So much of libtommath's memory is kept for the next result. */
#define RESULT_KEPT SL_RARE(1024, 4)

/* --- memory --------------------------------------------------------------------------- */

struct sl_scratch {
    mp_int result;
};

/* What libtommath takes, at most: charged by taking it and giving it back, right
 * before it takes it. */
static bool library_memory(struct star *s, size_t digits)
{
    void *p = sl_storage(s, digits * sizeof(mp_digit));

    sl_storage_free(s, p, digits * sizeof(mp_digit));
    return p;
}

mp_int *sl_int_room(struct star *s, size_t n)
{
    if (s->scratch && s->scratch->result.alloc > RESULT_KEPT &&
        n <= RESULT_KEPT)
        sl_int_close(s);
    if (!s->scratch && (s->scratch = sl_storage(s, sizeof *s->scratch)))
        memset(s->scratch, 0, sizeof *s->scratch);
    if (!s->scratch || !sl_charge(s, n / 16))
        return NULL;
    mp_int *r = &s->scratch->result;
    if (r->alloc >= (int)n)
        return r;
    if (!library_memory(s, n))
        return NULL;
    mp_err e = r->dp ? mp_grow(r, (int)n) : mp_init_size(r, (int)n);
    SL_UNPOISON(r, sizeof *r);
    if (e == MP_OKAY)
        return r;
    sl_fail_memory(s, n * sizeof(mp_digit));
    return NULL;
}

void sl_int_close(struct star *s)
{
    if (!s->scratch)
        return;
    mp_clear(&s->scratch->result);
    sl_storage_free(s, s->scratch, sizeof *s->scratch);
    s->scratch = NULL;
}

/* --- one pass ------------------------------------------------------------------------- */

uint32_t sl_digits_trim(const uint64_t *a, uint32_t n)
{
    while (n && !a[n - 1])
        n--;
    return n;
}

uint64_t sl_digits_add(uint64_t *r, const uint64_t *a, const uint64_t *b,
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

/* a -= b; returns the borrow. */
static uint64_t subtract(uint64_t *a, const uint64_t *b, uint32_t n)
{
    uint64_t borrow = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint64_t t = a[i] - b[i] - borrow;
        a[i] = t & DIGIT_MASK;
        borrow = t >> 63;
    }
    return borrow;
}

static bool is_less(const uint64_t *a, const uint64_t *b, uint32_t n)
{
    while (n && a[n - 1] == b[n - 1])
        n--;
    return n && a[n - 1] < b[n - 1];
}

/* Only the carry from digit to digit must wait for the one before. */
uint32_t sl_digits_mul_small(uint64_t *r, const uint64_t *a, uint32_t n,
                             uint64_t m, uint64_t more)
{
    uint64_t carry = 0;

    for (uint32_t i = 0; i < n; i++) {
        wide t = (wide)a[i] * m;
        uint64_t sum = ((uint64_t)t & DIGIT_MASK) + more + carry;
        r[i] = sum & DIGIT_MASK;
        carry = sum >> DIGIT_BITS;
        more = (uint64_t)(t >> DIGIT_BITS);
    }
    r[n] = more + carry;
    return n + (r[n] != 0);
}

/* r = a << bits, one digit longer; bits < 60. */
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

/* --- products ------------------------------------------------------------------------- */

/* A long one piece by piece, between which limits are looked at. */
bool sl_digits_mul(struct star *s, uint64_t *r, const uint64_t *a, uint32_t an,
                   const uint64_t *b, uint32_t bn)
{
    if (an < bn)
        return sl_digits_mul(s, r, b, bn, a, an);
    if (bn <= 1 && sl_charge(s, an / 16)) {
        sl_digits_mul_small(r, a, an, bn ? *b : 0, 0);
        return true;
    }

    const mp_int y = sl_digits_view(b, bn);
    bool same = a == b && an == bn;
    for (uint32_t at = 0, n; at < an; at += n) {
        n = same || an - at < PIECE_DIGITS ? an - at : PIECE_DIGITS;
        const mp_int x = sl_digits_view(a + at, n);
        double work = bn < 48 ? n * (double)bn / 16 : n * sqrt(bn);
        mp_int *p = sl_int_room(s, n + bn);
        if (!p || !sl_charge(s, (uint64_t)work) ||
            (bn >= 48 && !library_memory(s, 12 * (size_t)(n > bn ? n : bn))))
            return false;
        mp_err e = same ? mp_sqr(&x, p) : mp_mul(&x, &y, p);
        SL_UNPOISON(p, sizeof *p);
        if (e != MP_OKAY) {
            sl_fail_memory(s, (n + bn) * sizeof *r);
            return false;
        }
        uint32_t used = (uint32_t)p->used;
        SL_UNPOISON(p->dp, used * sizeof *r);
        if (!at) {
            memcpy(r, p->dp, used * sizeof *r);
            memset(r + used, 0, (an + bn - used) * sizeof *r);
        } else if (sl_digits_add(r + at, r + at, p->dp, used)) {
            for (uint32_t i = at + used; ++r[i] > DIGIT_MASK; i++)
                r[i] = 0;
        }
    }
    return true;
}

/* --- quotients ------------------------------------------------------------------------ */

/* With the divisor d, whose highest bit is set, its reciprocal makes two digits
 * by one a matter of two products (Moeller and Granlund, 2011). */
static uint64_t reciprocal(uint64_t d)
{
    wide all = ((wide)DIGIT_MASK << DIGIT_BITS) | DIGIT_MASK;

    return (uint64_t)(all / d) & DIGIT_MASK;
}

/* (high, low) / d, high < d. */
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

    /* As if a were shifted as d is. */
    while (n--) {
        uint64_t low = n ? a[n - 1] >> (DIGIT_BITS - shift) : 0;
        low |= (a[n] << shift) & DIGIT_MASK;
        q[n] = divide_2_by_1(r, low, top, inverse, &r);
    }
    return r >> shift;
}

/*
 * The functions from here to sl_digits_divide divide a, of n + m digits, by b of
 * n digits whose highest bit is set: m digits of the quotient go to q, its
 * digit above them, 0 or 1, is returned, and the remainder replaces the lower n
 * digits of a. -1: interrupted.
 */

/* a -= b * digit; returns what must be taken from a[n]. */
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

static int divide_digits(struct star *s, uint64_t *q, uint64_t *a,
                         const uint64_t *b, uint32_t n, uint32_t m)
{
    uint64_t top = b[n - 1], inverse = reciprocal(top);
    int high = !is_less(a + m, b, n);

    if (high)
        subtract(a + m, b, n);
    for (uint32_t j = m; j-- > 0;) {
        uint64_t *part = a + j, digit = DIGIT_MASK, r;
        if (!sl_charge(s, n / 8 + 1))
            return -1;
        if (part[n] < top) {
            digit = divide_2_by_1(part[n], part[n - 1], top, inverse, &r);
            /* The next digit makes it exact, or one too large, rarely. */
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
        while (left >> 63) { /* it was too large */
            digit--;
            left += sl_digits_add(part, part, b, n);
        }
        q[j] = digit;
    }
    return high;
}

/* Large ones (Modern Computer Arithmetic, 1.4.3): the quotient of the highest
 * digits, then the product of it and the others is taken away. */
static int divide_parts(struct star *s, uint64_t *q, uint64_t *a,
                        const uint64_t *b, uint32_t n, uint32_t m,
                        uint64_t *scratch)
{
    if (m < DIVIDE_BELOW)
        return divide_digits(s, q, a, b, n, m);

    if (2 * m > n) { /* the quotient in two halves */
        uint32_t low = m / 2;
        int high = divide_parts(s, q + low, a + low, b, n, m - low, scratch);
        if (high < 0 || divide_parts(s, q, a, b, n, low, scratch) < 0)
            return -1;
        return high;
    }

    uint32_t rest = n - m;
    int high = divide_parts(s, q, a + rest, b + rest, m, m, scratch);
    if (high < 0 || !sl_digits_mul(s, scratch, b, rest, q, m))
        return -1;
    uint64_t borrow = subtract(a, scratch, n);
    if (high)
        borrow += subtract(a + m, b, rest);
    while (borrow) {
        uint32_t i = 0;
        while (i < m && !q[i])
            q[i++] = DIGIT_MASK;
        if (i < m)
            q[i]--;
        else
            high--;
        borrow -= sl_digits_add(a, a, b, n);
    }
    return high;
}

bool sl_digits_divide(struct star *s, uint64_t *q, uint64_t *r,
                      const uint64_t *a, uint32_t an, const uint64_t *b,
                      uint32_t bn, uint64_t *scratch)
{
    uint32_t shift = leading_zeros(b[bn - 1]), m = an - bn + 1;
    uint64_t *x = scratch, *y = x + an + 1, *rest = y + bn + 1;

    if (bn == 1) {
        *r = sl_digits_div_small(q, a, an, *b);
        return true;
    }
    shift_up(x, a, an, shift);
    shift_up(y, b, bn, shift);
    /* As many digits of the quotient as b has at a time; a and its shifted
     * digit have none above m. */
    for (uint32_t done = 0; done < m;) {
        uint32_t n = (m - done) % bn ? (m - done) % bn : bn;
        done += n;
        if (divide_parts(s, q + m - done, x + m - done, y, bn, n, rest) < 0)
            return false;
    }
    shift_down(r, x, bn, shift);
    return true;
}
