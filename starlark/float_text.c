#include <math.h>

#include "digits.h"
#include "ops.h"

/*
 * Floats to text and back, exactly, without the C library, whose text depends on
 * a locale. What has few decimal places is found by trying; the rest is done in
 * integers of up to some thousand bits: d = r / s * 10^point with r < s, whose
 * decimal digits come out one by one (Steele and White, 1990).
 */

#define FRACTION_DIGITS 24u /* 60 bits each: 10^324 and the bits of a double */
#define FIXED_PLACES    6
#define TEXT_DIGITS     (309 + FIXED_PLACES + 2) /* 309 before the point */

struct decimal { /* 0.d1 d2 d3 ... * 10^point */
    int count, point;
    char digits[TEXT_DIGITS];
};

static const double powers_of_ten[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* --- digits by trying ------------------------------------------------------------ */

static void put_number(struct decimal *out, uint64_t m, int places)
{
    char text[20];
    int at = sizeof text, first;

    for (; m % 10 == 0; places--)
        m /= 10;
    for (; m; m /= 10)
        text[--at] = (char)('0' + m % 10);
    first = at;
    out->count = (int)sizeof text - first;
    out->point = out->count - places;
    memcpy(out->digits, text + first, (size_t)out->count);
}

/* Of up to 15 digits that read back as d, the shortest are the only ones of
 * their length, and m / 10^places is rounded once. */
static bool shortest_by_trying(double d, struct decimal *out)
{
    if (d < 1e-5 || d >= 1e15)
        return false;
    for (int places = 0; places <= 20; places++) {
        double scaled = d * powers_of_ten[places];
        if (scaled >= 1e15)
            return false;
        double m = (double)(int64_t)(scaled + 0.5);
        if (m != 0 && m / powers_of_ten[places] == d) {
            put_number(out, (uint64_t)m, places);
            return true;
        }
    }
    return false;
}

/* --- digits by division ------------------------------------------------------------- */

struct fraction {
    uint64_t r[FRACTION_DIGITS], s[FRACTION_DIGITS];
    /* Half the distances to the floats below and above: r may be so much
     * smaller or larger, and just so much when `even`. */
    uint64_t low[FRACTION_DIGITS], high[FRACTION_DIGITS];
    bool even;
    uint32_t n; /* of s; the others have no more */
    int point;
};

static void scale_by(uint64_t *a, uint64_t m)
{
    sl_digits_mul_small(a, a, sl_digits_trim(a, FRACTION_DIGITS - 1), m, 0);
}

static void scale_by_ten(uint64_t *a, int times)
{
    for (; times >= 17; times -= 17)
        scale_by(a, 100000000000000000u);
    while (times-- > 0)
        scale_by(a, 10);
}

static void shift_by(uint64_t *a, uint32_t bits)
{
    uint32_t n = sl_digits_trim(a, FRACTION_DIGITS);

    if (n && bits)
        sl_digits_shl(a, a, n, bits);
}

/* a + b against s. */
static int compare_sum(const struct fraction *f, const uint64_t *a,
                       const uint64_t *b)
{
    uint64_t sum[FRACTION_DIGITS + 1];
    uint32_t n = sl_digits_add(sum, a, f->n, b, f->n);

    return sl_digits_compare(sum, n, f->s, f->n);
}

static int compare_trimmed(const struct fraction *f, const uint64_t *a,
                           const uint64_t *b)
{
    return sl_digits_compare(a, sl_digits_trim(a, f->n), b,
                             sl_digits_trim(b, f->n));
}

/* d > 0, finite. Then 1/10 <= r / s < 1. */
static void fraction_init(struct fraction *f, double d)
{
    int exponent;
    uint64_t m = (uint64_t)ldexp(frexp(d, &exponent), 53);

    exponent -= 53;
    if (exponent < -1074) { /* subnormal: its last bit is that of all of them */
        m >>= -1074 - exponent;
        exponent = -1074;
    }
    /* Below a power of two, floats are twice as dense. */
    uint32_t boundary = m == (uint64_t)1 << 52 && exponent > -1074;

    memset(f, 0, sizeof *f);
    f->even = m % 2 == 0;
    f->r[0] = m;
    f->s[0] = f->low[0] = f->high[0] = 1;
    shift_by(f->r, 1 + boundary + (exponent > 0 ? (uint32_t)exponent : 0));
    shift_by(f->s, 1 + boundary + (exponent < 0 ? (uint32_t)-exponent : 0));
    shift_by(f->low, exponent > 0 ? (uint32_t)exponent : 0);
    shift_by(f->high, boundary + (exponent > 0 ? (uint32_t)exponent : 0));

    /* Never too large, and too small by one at most. */
    f->point = (int)ceil(log10(d) - 1e-9);
    scale_by_ten(f->s, f->point);
    scale_by_ten(f->r, -f->point);
    scale_by_ten(f->low, -f->point);
    scale_by_ten(f->high, -f->point);
    f->n = FRACTION_DIGITS;
    if (compare_trimmed(f, f->r, f->s) >= 0) {
        scale_by(f->s, 10);
        f->point++;
    }

    /* The highest digit of s shall tell a digit of r / s nearly, and 10 s have
     * no more digits than s. */
    uint32_t bits = sl_digits_bits(f->s, FRACTION_DIGITS) % DIGIT_BITS;
    uint32_t shift = (DIGIT_BITS + 56 - bits) % DIGIT_BITS;
    shift_by(f->r, shift);
    shift_by(f->s, shift);
    shift_by(f->low, shift);
    shift_by(f->high, shift);
    f->n = sl_digits_trim(f->s, FRACTION_DIGITS);
}

static void times_ten(const struct fraction *f, uint64_t *a)
{
    sl_digits_mul_small(a, a, f->n, 10, 0);
}

/* The next digit of r / s; what is left becomes r. */
static char next_digit(struct fraction *f)
{
    uint64_t product[FRACTION_DIGITS + 1];

    times_ten(f, f->r);
    uint64_t digit = f->r[f->n - 1] / (f->s[f->n - 1] + 1);
    sl_digits_mul_small(product, f->s, f->n, digit, 0);
    sl_digits_sub(f->r, f->r, f->n, product, f->n);
    while (compare_trimmed(f, f->r, f->s) >= 0) {
        sl_digits_sub(f->r, f->r, f->n, f->s, f->n);
        digit++;
    }
    return (char)('0' + digit);
}

static void round_up(struct decimal *out)
{
    int i = out->count - 1;

    while (i >= 0 && out->digits[i] == '9')
        out->digits[i--] = '0';
    if (i >= 0) {
        out->digits[i]++;
        return;
    }
    out->digits[0] = '1'; /* 999 -> 1000 */
    out->point++;
}

/* Up when more than half is left; of just a half, to an even digit. */
static bool half_is_up(const struct fraction *f, char digit)
{
    int half = compare_sum(f, f->r, f->r);

    return half > 0 || (half == 0 && digit % 2);
}

static void shortest(double d, struct decimal *out)
{
    struct fraction f;

    if (shortest_by_trying(d, out))
        return;
    fraction_init(&f, d);
    out->point = f.point;
    for (out->count = 0;;) {
        char digit = next_digit(&f);
        times_ten(&f, f.low);
        times_ten(&f, f.high);
        out->digits[out->count++] = digit;
        int lower = compare_trimmed(&f, f.r, f.low);
        int upper = compare_sum(&f, f.r, f.high);
        bool may_stop = lower < 0 || (lower == 0 && f.even);
        bool may_raise = upper > 0 || (upper == 0 && f.even);
        if (!may_stop && !may_raise)
            continue;
        if (may_raise && (!may_stop || half_is_up(&f, digit)))
            round_up(out);
        break;
    }
    while (out->count > 1 && out->digits[out->count - 1] == '0')
        out->count--;
}

/* `count` digits, or when that is negative, so many places after the point. */
static void rounded(double d, int count, int places, struct decimal *out)
{
    struct fraction f;

    fraction_init(&f, d);
    out->point = f.point;
    out->count = count >= 0 ? count : f.point + places;
    if (out->count < 0) { /* less than half of the last place */
        out->count = 0;
        return;
    }
    for (int i = 0; i < out->count; i++)
        out->digits[i] = next_digit(&f);
    if (!half_is_up(&f, out->count ? out->digits[out->count - 1] : '0'))
        return;
    if (out->count) {
        round_up(out);
    } else {
        out->digits[out->count++] = '1';
        out->point++;
    }
}

/* --- writing ---------------------------------------------------------------------------- */

static char digit_at(const struct decimal *x, int i)
{
    return i >= 0 && i < x->count ? x->digits[i] : '0';
}

/* With `places` after the point. */
static void put_fixed(struct sl_text *t, const struct decimal *x, int places)
{
    if (x->point <= 0)
        sl_text_char(t, '0');
    for (int i = 0; i < x->point; i++)
        sl_text_char(t, digit_at(x, i));
    sl_text_char(t, '.');
    for (int i = 0; i < places; i++)
        sl_text_char(t, digit_at(x, x->point + i));
}

static void put_exponent(struct sl_text *t, const struct decimal *x, int places,
                         char e)
{
    int exponent = x->count ? x->point - 1 : 0;

    sl_text_char(t, digit_at(x, 0));
    if (places)
        sl_text_char(t, '.');
    for (int i = 1; i <= places; i++)
        sl_text_char(t, digit_at(x, i));
    sl_text_char(t, e);
    sl_text_char(t, exponent < 0 ? '-' : '+');
    exponent = exponent < 0 ? -exponent : exponent;
    if (exponent >= 100)
        sl_text_char(t, (char)('0' + exponent / 100));
    sl_text_char(t, (char)('0' + exponent / 10 % 10));
    sl_text_char(t, (char)('0' + exponent % 10));
}

static void put_shortest(struct sl_text *t, double d, char e)
{
    struct decimal x = {.count = 0, .point = 1}; /* 0 */

    if (d != 0)
        shortest(d, &x);
    if (x.point > -4 && x.point <= 16)
        put_fixed(t, &x, x.count > x.point ? x.count - x.point : 1);
    else
        put_exponent(t, &x, x.count - 1, e);
}

void sl_float_format(struct sl_text *t, double d, char how)
{
    struct decimal x = {.count = 0, .point = 1};

    if (isnan(d) || isinf(d)) {
        const char *text = isnan(d) ? "nan" : d > 0 ? "+inf" : "-inf";
        sl_text_append(t, text, strlen(text));
        return;
    }
    if (signbit(d))
        sl_text_char(t, '-');
    d = fabs(d);
    if (how == 'g' || how == 'G') {
        put_shortest(t, d, how == 'g' ? 'e' : 'E');
    } else if (how == 'f' || how == 'F') {
        if (d != 0)
            rounded(d, -1, FIXED_PLACES, &x);
        put_fixed(t, &x, FIXED_PLACES);
    } else {
        if (d != 0)
            rounded(d, FIXED_PLACES + 1, 0, &x);
        put_exponent(t, &x, FIXED_PLACES, how);
    }
}

void sl_float_repr(struct sl_text *t, double d)
{
    sl_float_format(t, d, 'g');
}
