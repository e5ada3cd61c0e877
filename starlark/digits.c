#include "digits.h"

#include <math.h>
#include <tommath.h>

#if defined __has_feature
#    if __has_feature(memory_sanitizer)
#        include <sanitizer/msan_interface.h>
#        define UNPOISON(p, size) __msan_unpoison(p, size)
#    endif
#endif
#ifndef UNPOISON /* libtommath is not instrumented */
#    define UNPOISON(p, size) ((void)0)
#endif

_Static_assert(MP_DIGIT_BIT == 60 && sizeof(mp_digit) == sizeof(uint64_t),
               "libtommath must be built with digits of 60 bits");

typedef unsigned __int128 wide;

#define COLUMNS_BELOW 48u   /* digits: shorter products are computed here */
#define PIECE_DIGITS  2500u /* a product of so many takes a millisecond */
#define DIVIDE_BELOW  64u   /* quotients shorter than that: digit by digit */
#define SCRATCH_KEPT  8192u /* digits */

uint32_t sl_digits_trim(const uint64_t *a, uint32_t n)
{
    while (n && !a[n - 1])
        n--;
    return n;
}

int sl_digits_compare(const uint64_t *a, uint32_t an, const uint64_t *b,
                      uint32_t bn)
{
    if (an != bn)
        return an < bn ? -1 : 1;
    while (an--)
        if (a[an] != b[an])
            return a[an] < b[an] ? -1 : 1;
    return 0;
}

uint32_t sl_digits_bits(const uint64_t *a, uint32_t n)
{
    n = sl_digits_trim(a, n);
    if (!n)
        return 0;
    return n * DIGIT_BITS - ((uint32_t)__builtin_clzll(a[n - 1]) - 4);
}

/* --- one pass ------------------------------------------------------------------ */

/* r = a + b + carry of n digits; returns the carry. */
static uint64_t add_n(uint64_t *r, const uint64_t *a, const uint64_t *b,
                      uint32_t n, uint64_t carry)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t t = a[i] + b[i] + carry;
        r[i] = t & DIGIT_MASK;
        carry = t >> DIGIT_BITS;
    }
    return carry;
}

static uint64_t sub_n(uint64_t *r, const uint64_t *a, const uint64_t *b,
                      uint32_t n, uint64_t borrow)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t t = a[i] - b[i] - borrow;
        r[i] = t & DIGIT_MASK;
        borrow = t >> 63;
    }
    return borrow;
}

/* Adds a carry to a, in place, or takes a borrow from it. */
static uint64_t carry_up(uint64_t *a, uint32_t n, uint64_t carry)
{
    for (uint32_t i = 0; carry && i < n; i++) {
        a[i] += carry;
        carry = a[i] >> DIGIT_BITS;
        a[i] &= DIGIT_MASK;
    }
    return carry;
}

static uint64_t borrow_up(uint64_t *a, uint32_t n, uint64_t borrow)
{
    for (uint32_t i = 0; borrow && i < n; i++) {
        a[i] -= borrow;
        borrow = a[i] >> 63;
        a[i] &= DIGIT_MASK;
    }
    return borrow;
}

uint32_t sl_digits_add(uint64_t *r, const uint64_t *a, uint32_t an,
                       const uint64_t *b, uint32_t bn)
{
    uint64_t carry = add_n(r, a, b, bn, 0);

    if (r != a)
        memcpy(r + bn, a + bn, (an - bn) * sizeof *a);
    r[an] = carry_up(r + bn, an - bn, carry);
    return sl_digits_trim(r, an + 1);
}

uint32_t sl_digits_sub(uint64_t *r, const uint64_t *a, uint32_t an,
                       const uint64_t *b, uint32_t bn)
{
    uint64_t borrow = sub_n(r, a, b, bn, 0);

    if (r != a)
        memcpy(r + bn, a + bn, (an - bn) * sizeof *a);
    borrow_up(r + bn, an - bn, borrow);
    return sl_digits_trim(r, an);
}

/* Only the carry from digit to digit must wait for the one before. */
uint32_t sl_digits_mul_small(uint64_t *r, const uint64_t *a, uint32_t n,
                             uint64_t m, uint64_t more)
{
    uint64_t carry = 0;

    for (uint32_t i = 0; i < n; i++) {
        wide t = (wide)a[i] * m;
        uint64_t sum = ((uint64_t)t & DIGIT_MASK) + more;
        sum += carry;
        r[i] = sum & DIGIT_MASK;
        carry = sum >> DIGIT_BITS;
        more = (uint64_t)(t >> DIGIT_BITS);
    }
    r[n] = more + carry;
    return sl_digits_trim(r, n + 1);
}

uint32_t sl_digits_shl(uint64_t *r, const uint64_t *a, uint32_t n,
                       uint32_t bits)
{
    uint32_t whole = bits / DIGIT_BITS, part = bits % DIGIT_BITS;

    r[n + whole] = n ? a[n - 1] >> (DIGIT_BITS - part) : 0;
    for (uint32_t i = n; i-- > 1;)
        r[i + whole] =
            (a[i] << part | a[i - 1] >> (DIGIT_BITS - part)) & DIGIT_MASK;
    if (n)
        r[whole] = (a[0] << part) & DIGIT_MASK;
    memset(r, 0, whole * sizeof *r);
    return sl_digits_trim(r, n + whole + 1);
}

uint32_t sl_digits_shr(uint64_t *r, const uint64_t *a, uint32_t n,
                       uint32_t bits, bool *lost)
{
    uint32_t whole = bits / DIGIT_BITS, part = bits % DIGIT_BITS;

    *lost = false;
    for (uint32_t i = 0; i < whole && i < n; i++)
        *lost |= a[i] != 0;
    if (whole >= n)
        return 0;
    *lost |= (a[whole] & (((uint64_t)1 << part) - 1)) != 0;
    for (uint32_t i = whole; i < n; i++) {
        uint64_t above = i + 1 < n ? a[i + 1] : 0;
        r[i - whole] =
            (a[i] >> part | above << (DIGIT_BITS - part)) & DIGIT_MASK;
    }
    return sl_digits_trim(r, n - whole);
}

/* --- products --------------------------------------------------------------------- */

/* Column by column: a sum of up to 255 products of digits fits in 128 bits. */
static void mul_columns(uint64_t *r, const uint64_t *a, uint32_t an,
                        const uint64_t *b, uint32_t bn)
{
    wide sum = 0;

    for (uint32_t k = 0; k < an + bn - 1; k++) {
        uint32_t first = k < bn ? 0 : k - bn + 1;
        uint32_t last = k < an ? k : an - 1;
        const uint64_t *x = a + first, *y = b + (k - first);
        uint32_t i = last - first + 1;
        for (; i >= 4; i -= 4, x += 4, y -= 4)
            sum += (wide)x[0] * y[0] + (wide)x[1] * y[-1] + (wide)x[2] * y[-2] +
                   (wide)x[3] * y[-3];
        for (; i; i--)
            sum += (wide)*x++ * *y--;
        r[k] = (uint64_t)sum & DIGIT_MASK;
        sum >>= DIGIT_BITS;
    }
    r[an + bn - 1] = (uint64_t)sum;
}

/* A square has each product of two different digits twice. */
static void square_columns(uint64_t *r, const uint64_t *a, uint32_t n)
{
    wide carry = 0;

    for (uint32_t k = 0; k < 2 * n - 1; k++) {
        uint32_t i = k < n ? 0 : k - n + 1, j = k - i;
        wide sum = 0;
        for (; i < j; i++, j--)
            sum += (wide)a[i] * a[j];
        sum += sum + carry;
        if (i == j)
            sum += (wide)a[i] * a[i];
        r[k] = (uint64_t)sum & DIGIT_MASK;
        carry = sum >> DIGIT_BITS;
    }
    r[2 * n - 1] = (uint64_t)carry;
}

static mp_int view(const uint64_t *a, uint32_t n)
{
    return (mp_int){.used = (int)sl_digits_trim(a, n),
                    .alloc = (int)n,
                    .sign = MP_ZPOS,
                    .dp = (mp_digit *)(uintptr_t)a};
}

/* What libtommath takes for temporaries, at most: charged by taking it and
 * giving it back, right before it takes it. */
static bool library_memory(struct star *s, uint32_t digits)
{
    size_t size = (size_t)digits * 12 * sizeof(uint64_t) + 4096;
    void *p = sl_storage(s, size);

    if (p)
        sl_storage_free(s, p, size);
    return p;
}

static bool mul_library(struct star *s, uint64_t *r, const uint64_t *a,
                        uint32_t an, const uint64_t *b, uint32_t bn)
{
    const mp_int x = view(a, an), y = view(b, bn);
    mp_int product;
    bool same = a == b && an == bn;

    if (!sl_charge(s, (uint64_t)(an * sqrt((double)bn))) ||
        !library_memory(s, an))
        return false;
    if (mp_init_size(&product, (int)(an + bn + 2)) != MP_OKAY) {
        sl_fail_memory(s, (an + bn) * sizeof *r);
        return false;
    }
    UNPOISON(&product, sizeof product);
    bool ok =
        (same ? mp_sqr(&x, &product) : mp_mul(&x, &y, &product)) == MP_OKAY;
    UNPOISON(&product, sizeof product);
    if (ok) {
        uint32_t used = (uint32_t)product.used;
        UNPOISON(product.dp, used * sizeof *r);
        memcpy(r, product.dp, used * sizeof *r);
        memset(r + used, 0, (an + bn - used) * sizeof *r);
    } else {
        sl_fail_memory(s, (an + bn) * sizeof *r);
    }
    mp_clear(&product);
    return ok;
}

/* One step of Karatsuba's, bn > an / 2. */
static bool mul_split(struct star *s, uint64_t *r, const uint64_t *a,
                      uint32_t an, const uint64_t *b, uint32_t bn,
                      uint64_t *scratch)
{
    uint32_t h = (an + 1) / 2, n = h + 1;
    uint64_t *x = scratch, *y = x + n, *middle = y + n, *rest = middle + 2 * n;
    bool same = a == b && an == bn;

    sl_digits_add(x, a, h, a + h, an - h);
    sl_digits_add(y, b, h, b + h, bn - h);
    if (!sl_digits_mul(s, r, a, h, b, h, rest) ||
        !sl_digits_mul(s, r + 2 * h, a + h, an - h, b + h, bn - h, rest) ||
        !sl_digits_mul(s, middle, x, n, same ? x : y, n, rest))
        return false;
    sl_digits_sub(middle, middle, 2 * n, r, 2 * h);
    sl_digits_sub(middle, middle, 2 * n, r + 2 * h, an + bn - 2 * h);
    n = sl_digits_trim(middle, 2 * n);
    uint64_t carry = add_n(r + h, r + h, middle, n, 0);
    carry_up(r + h + n, an + bn - h - n, carry);
    return true;
}

/* a in pieces as long as b. */
static bool mul_pieces(struct star *s, uint64_t *r, const uint64_t *a,
                       uint32_t an, const uint64_t *b, uint32_t bn,
                       uint64_t *scratch)
{
    memset(r, 0, ((size_t)an + bn) * sizeof *r);
    for (uint32_t at = 0; at < an; at += bn) {
        uint32_t n = an - at < bn ? an - at : bn;
        if (!sl_digits_mul(s, scratch, b, bn, a + at, n, scratch + 2 * bn))
            return false;
        uint64_t carry = add_n(r + at, r + at, scratch, n + bn, 0);
        carry_up(r + at + n + bn, an - at - n, carry);
    }
    return true;
}

bool sl_digits_mul(struct star *s, uint64_t *r, const uint64_t *a, uint32_t an,
                   const uint64_t *b, uint32_t bn, uint64_t *scratch)
{
    if (an < bn)
        return sl_digits_mul(s, r, b, bn, a, an, scratch);
    if (!bn) {
        memset(r, 0, an * sizeof *r);
        return true;
    }
    if (bn < COLUMNS_BELOW) {
        if (!sl_charge(s, (uint64_t)an * bn / 16))
            return false;
        if (bn == 1)
            sl_digits_mul_small(r, a, an, *b, 0);
        else if (a == b && an == bn)
            square_columns(r, a, an);
        else
            mul_columns(r, a, an, b, bn);
        return true;
    }
    if (bn < an - an / 4)
        return mul_pieces(s, r, a, an, b, bn, scratch);
    if (an <= PIECE_DIGITS)
        return mul_library(s, r, a, an, b, bn);
    return mul_split(s, r, a, an, b, bn, scratch);
}

/* --- quotients ---------------------------------------------------------------------- */

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

struct sl_divisor sl_divisor(uint64_t d)
{
    uint32_t shift = leading_zeros(d);

    return (struct sl_divisor){
        .d = d << shift, .inverse = reciprocal(d << shift), .shift = shift};
}

uint64_t sl_digits_div_small(uint64_t *q, const uint64_t *a, uint32_t n,
                             const struct sl_divisor *by)
{
    const uint32_t shift = by->shift;
    uint64_t r;

    if (!n)
        return 0;
    /* As if a were shifted as d is. */
    r = shift ? a[n - 1] >> (DIGIT_BITS - shift) : 0;
    for (uint32_t i = n; i > 0; i--) {
        uint64_t low = shift && i > 1 ? a[i - 2] >> (DIGIT_BITS - shift) : 0;
        low |= (a[i - 1] << shift) & DIGIT_MASK;
        uint64_t digit = divide_2_by_1(r, low, by->d, by->inverse, &r);
        if (q)
            q[i - 1] = digit;
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
    int high = sl_digits_compare(a + m, n, b, n) >= 0;

    if (high)
        sub_n(a + m, a + m, b, n, 0);
    for (uint32_t j = m; j-- > 0;) {
        uint64_t *part = a + j, digit = DIGIT_MASK, r;
        if (s && !sl_charge(s, n / 8 + 1))
            return -1;
        if (part[n] < top) {
            digit = divide_2_by_1(part[n], part[n - 1], top, inverse, &r);
            /* The next digit makes it exact, or one too large, rarely. */
            if (n > 1) {
                wide low = (wide)b[n - 2] * digit;
                while (low > ((wide)r << DIGIT_BITS | part[n - 2])) {
                    digit--;
                    low -= b[n - 2];
                    r += top;
                    if (r > DIGIT_MASK)
                        break;
                }
            }
        }
        uint64_t take = sub_mul(part, b, n, digit);
        uint64_t left = part[n] - take;
        part[n] = 0;
        while (left >> 63) { /* it was too large */
            digit--;
            left += add_n(part, part, b, n, 0);
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
    if (high < 0 || !sl_digits_mul(s, scratch, b, rest, q, m, scratch + n))
        return -1;
    uint64_t borrow = sub_n(a, a, scratch, n, 0);
    if (high)
        borrow += sub_n(a + m, a + m, b, rest, 0);
    while (borrow) {
        high -= (int)borrow_up(q, m, 1);
        borrow -= add_n(a, a, b, n, 0);
    }
    return high;
}

bool sl_digits_divide(struct star *s, uint64_t *q, uint64_t *r,
                      const uint64_t *a, uint32_t an, const uint64_t *b,
                      uint32_t bn, uint64_t *scratch)
{
    uint32_t shift = leading_zeros(b[bn - 1]), m = an - bn + 1;
    uint64_t *x = scratch, *y = x + an + 2, *rest = y + bn + 1;
    bool lost;

    if (bn == 1) {
        const struct sl_divisor by = sl_divisor(*b);
        *r = sl_digits_div_small(q, a, an, &by);
        return true;
    }
    x[an] = 0;
    sl_digits_shl(x, a, an, shift);
    sl_digits_shl(y, b, bn, shift);
    /* As many digits of the quotient as b has at a time; a and its shifted
     * digit have none above m. */
    for (uint32_t done = 0; done < m;) {
        uint32_t n = (m - done) % bn ? (m - done) % bn : bn;
        done += n;
        if (divide_parts(s, q + m - done, x + m - done, y, bn, n, rest) < 0)
            return false;
    }
    sl_digits_shr(r, x, bn, shift, &lost);
    return true;
}

/* --- scratch -------------------------------------------------------------------------- */

struct sl_scratch {
    size_t size;
    uint64_t digits[];
};

static size_t scratch_bytes(size_t digits)
{
    return sizeof(struct sl_scratch) + digits * sizeof(uint64_t);
}

uint64_t *sl_scratch_take(struct star *s, size_t digits)
{
    if (s->scratch && s->scratch->size >= digits)
        return s->scratch->digits;
    sl_int_close(s);
    if (digits < 512)
        digits = 512;
    s->scratch = sl_storage(s, scratch_bytes(digits));
    if (!s->scratch)
        return NULL;
    s->scratch->size = digits;
    return s->scratch->digits;
}

void sl_scratch_give(struct star *s)
{
    if (s->scratch && s->scratch->size > SCRATCH_KEPT)
        sl_int_close(s);
}

void sl_int_close(struct star *s)
{
    if (s->scratch)
        sl_storage_free(s, s->scratch, scratch_bytes(s->scratch->size));
    s->scratch = NULL;
}
