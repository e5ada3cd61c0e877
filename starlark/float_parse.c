#include <math.h>

#include "digits.h"
#include "ops.h"

/*
 * Text to the nearest float, ties to even, by the grammar of float(): no white
 * space, no underscores, nothing hexadecimal, no locale. Short numbers are one
 * exact product or quotient of doubles; others are a quotient of integers of up
 * to some thousand bits, with enough bits to round it once.
 */

#define DIGITS_MAX                                                             \
    800 /* decimal; after so many, more do not matter unless they
                          break a tie, which one digit that is not 0 does */
#define BIG_DIGITS                                                             \
    80u /* 60 bits each: 10^(DIGITS_MAX + 400), and the quotient */

struct number {
    char digits[DIGITS_MAX + 1];
    int count;
    int64_t exponent; /* of the last digit */
    bool negative;
};

static bool is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

static bool is_word(const char *p, const char *end, const char *word)
{
    while (p < end && *word && (*p | 0x20) == *word)
        p++, word++;
    return p == end && !*word;
}

static void put_digit(struct number *x, char c, bool after_point)
{
    if (x->count == 0 && c == '0') { /* leading */
        x->exponent -= after_point;
    } else if (x->count < DIGITS_MAX) {
        x->digits[x->count++] = c;
        x->exponent -= after_point;
    } else {
        if (c != '0')
            x->digits[DIGITS_MAX] = '1';
        x->exponent += !after_point;
    }
}

/* Sign, digits, point, exponent; false when it is none. */
static bool scan(const char *p, const char *end, struct number *x)
{
    bool any = false, minus = false;
    int64_t exponent = 0;

    for (; is_digit(p, end); p++, any = true)
        put_digit(x, *p, false);
    if (p < end && *p == '.')
        for (p++; is_digit(p, end); p++, any = true)
            put_digit(x, *p, true);
    if (!any)
        return false;
    if (p < end && (*p | 0x20) == 'e') {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            minus = *p++ == '-';
        if (!is_digit(p, end))
            return false;
        for (; is_digit(p, end); p++)
            if (exponent < INT64_MAX / 100)
                exponent = exponent * 10 + (*p - '0');
        x->exponent += minus ? -exponent : exponent;
    }
    if (x->digits[DIGITS_MAX]) {
        x->count++;
        x->exponent--;
    }
    return p == end;
}

static const double powers_of_ten[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool convert_short(const struct number *x, double *out)
{
    uint64_t m = 0;

    if (x->count > 15 || x->exponent < -22 || x->exponent > 22)
        return false;
    for (int i = 0; i < x->count; i++)
        m = m * 10 + (uint64_t)(x->digits[i] - '0');
    *out = x->exponent < 0 ? (double)m / powers_of_ten[-x->exponent]
                           : (double)m * powers_of_ten[x->exponent];
    return true;
}

/* a = a * 10^times; returns the digits. */
static uint32_t scale_by_ten(uint64_t *a, uint32_t n, int64_t times)
{
    for (; times >= 17; times -= 17)
        n = sl_digits_mul_small(a, a, n, 100000000000000000u, 0);
    while (times-- > 0)
        n = sl_digits_mul_small(a, a, n, 10, 0);
    return n;
}

/* The double nearest to a * 2^exponent; `more`: and a bit. */
static double nearest(uint64_t *a, uint32_t n, int exponent, bool more)
{
    int bits = (int)sl_digits_bits(a, n);
    /* How many a double has at this size: fewer when it is subnormal. */
    int keep = bits + exponent < -1021 ? bits + exponent + 1074 : 53;
    bool half_lost, lost;

    if (keep < 0)
        return 0;
    int drop = bits - keep;
    n = sl_digits_shr(a, a, n, (uint32_t)drop - 1, &lost);
    uint64_t m = n ? a[0] : 0; /* with the first bit that is dropped */
    half_lost = m & 1;
    m >>= 1;
    if (half_lost && (lost || more || (m & 1)))
        m++;
    return ldexp((double)m, drop + exponent);
}

static double convert(const struct number *x)
{
    uint64_t num[BIG_DIGITS], den[BIG_DIGITS], q[BIG_DIGITS];
    uint64_t scratch[DIVIDE_SCRATCH(BIG_DIGITS, BIG_DIGITS)];
    uint32_t n = 0, dn = 1, shift = 0;

    if (x->count + x->exponent > 310)
        return INFINITY;
    if (x->count + x->exponent < -330)
        return 0;
    for (int i = 0; i < x->count; i++)
        n = sl_digits_mul_small(num, num, n, 10,
                                (uint64_t)(x->digits[i] - '0'));
    den[0] = 1;
    if (x->exponent >= 0)
        n = scale_by_ten(num, n, x->exponent);
    else
        dn = scale_by_ten(den, 1, -x->exponent);

    /* At least 64 bits of quotient. */
    uint32_t want = sl_digits_bits(den, dn) + 66;
    uint32_t have = sl_digits_bits(num, n);
    if (have < want) {
        shift = want - have;
        n = sl_digits_shl(num, num, n, shift);
    }
    (void)sl_digits_divide(NULL, q, num, num, n, den, dn, scratch);
    return nearest(q, n - dn + 1, -(int)shift, sl_digits_trim(num, dn) != 0);
}

bool sl_float_parse(const char *p, size_t length, double *out)
{
    const char *end = p + length;
    struct number x;
    double d;

    x.count = 0;
    x.exponent = 0;
    x.digits[DIGITS_MAX] = 0;
    x.negative = p < end && *p == '-';
    if (p < end && (*p == '+' || *p == '-'))
        p++;
    if (is_word(p, end, "inf") || is_word(p, end, "infinity")) {
        d = INFINITY;
    } else if (is_word(p, end, "nan")) {
        *out = NAN;
        return true;
    } else {
        if (!scan(p, end, &x))
            return false;
        d = 0;
        if (x.count && !convert_short(&x, &d))
            d = convert(&x);
    }
    *out = x.negative ? -d : d;
    return true;
}
