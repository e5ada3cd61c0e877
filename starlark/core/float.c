#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "int.h"
#include "table.h"
#include "text.h"

/*
 * Floats: order and hashes consistent with ints, conversion to and from text.
 * The C library does the exact conversions; only digits and exponents are
 * passed to it, since the decimal point depends on the host's locale.
 */

#define WORD_LIMIT 4611686018427387904.0 /* 2^62; ints below it are words */

/* --- beside ints ------------------------------------------------------------------- */

static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return !!isnan(a) - !!isnan(b);
    return (a > b) - (a < b);
}

static int compare_int_double(value v, double d)
{
    uint64_t few[2], digits[DOUBLE_DIGITS];

    if (!isfinite(d))
        return d < 0 ? 1 : -1;
    if (fabs(d) < WORD_LIMIT) {
        if (!sl_is_int_word(v))
            return sl_int_sign(v);
        /* The whole part is also a word; on a tie the fraction decides. */
        int64_t i = sl_int_word(v), whole = (int64_t)d;
        if (i != whole)
            return i < whole ? -1 : 1;
        return (d < (double)whole) - (d > (double)whole);
    }
    const mp_int x = sl_int_view(v, few);
    mp_int y = sl_digits_view(digits, sl_digits_from_double(digits, fabs(d)));
    y.sign = d < 0 ? MP_NEG : MP_ZPOS;
    return mp_cmp(&x, &y);
}

int sl_number_compare(value a, value b)
{
    bool a_float = sl_type(a) == T_FLOAT, b_float = sl_type(b) == T_FLOAT;

    if (a_float && b_float)
        return compare_doubles(sl_float_of(a), sl_float_of(b));
    if (a_float)
        return -compare_int_double(b, sl_float_of(a));
    if (b_float)
        return compare_int_double(a, sl_float_of(b));
    return sl_int_compare(a, b);
}

uint32_t sl_float_hash(struct star *s, double d)
{
    uint64_t digits[DOUBLE_DIGITS], bits;

    if (isnan(d))
        return sl_mix(s->hash_seed, V_ELLIPSIS);
    if (d >= -WORD_LIMIT && d < WORD_LIMIT && d == trunc(d))
        return sl_mix(s->hash_seed, sl_word((int64_t)d));
    if (isfinite(d) && fabs(d) >= WORD_LIMIT)
        return sl_digits_hash(s->hash_seed, digits,
                              sl_digits_from_double(digits, fabs(d)), d < 0);
    memcpy(&bits, &d, sizeof bits);
    return sl_mix(~s->hash_seed, bits);
}

/* --- to text ----------------------------------------------------------------------- */

struct decimal { /* The number 0.d1 d2 d3 ... * 10^point. */
    int count, point;
    char digits[20];
};

/* Tries up to 15 digits: the shortest digits that read back as d are unique in
 * their length, and m / 10^places is rounded only once. */
static bool shortest_by_trying(double d, struct decimal *x)
{
    char text[SL_DIGITS_BYTES], *end = text + sizeof text;
    double power = 1;

    if (d < 1e-5 || d >= 1e15)
        return false;
    for (int places = 0; places <= 20; places++) {
        power = places ? power * 10 : 1;
        double scaled = d * power;
        if (scaled >= 1e15)
            return false;
        double m = (double)(int64_t)(scaled + 0.5);
        if (m == 0 || m / power != d)
            continue;
        const char *first = sl_digits((int64_t)m, end);
        x->count = (int)(end - first);
        x->point = x->count - places;
        memcpy(x->digits, first, (size_t)x->count);
        return true;
    }
    return false;
}

/* Rounds d to the nearest decimal of `count` digits. */
static void round_to(double d, int count, struct decimal *x)
{
    char text[64];
    const char *p = text;

    snprintf(text, sizeof text, "%.*e", count - 1, d);
    for (x->count = 0; *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            x->digits[x->count++] = *p;
    x->point = (int)strtol(p + 1, NULL, 10) + 1;
}

static bool reads_back(const struct decimal *x, double d)
{
    char text[64];

    snprintf(text, sizeof text, "%.*se%d", x->count, x->digits,
             x->point - x->count);
    return strtod(text, NULL) == d;
}

/* Finds the shortest digits that read back as d: 15 suffice if d has so few, 17
 * always; subnormal numbers may need fewer. Floats just below a power of two
 * are denser than above it: the nearest 16-digit decimal may read as the
 * neighbor below, and the next decimal as d. */
static void shortest(double d, struct decimal *x)
{
    for (int n = d < DBL_MIN ? 1 : 15; n <= 17; n++) {
        round_to(d, n, x);
        if (n == 17 || reads_back(x, d))
            return;
        if (n == 16 && x->digits[15] != '9') {
            x->digits[15]++;
            if (reads_back(x, d))
                return;
        }
    }
}

static void put_shortest(struct sl_text *t, double d, char e)
{
    struct decimal x = {.count = 1, .point = 1, .digits = "0"};

    if (d != 0 && !shortest_by_trying(d, &x))
        shortest(d, &x);
    while (x.count > 1 && x.digits[x.count - 1] == '0')
        x.count--;

    size_t count = (size_t)x.count, point = (size_t)x.point;
    if (x.point <= -4 || x.point > 16) {
        sl_text_printf(t, "%c%s%.*s%c%+03d", x.digits[0],
                       x.count > 1 ? "." : "", x.count - 1, x.digits + 1, e,
                       x.point - 1);
    } else if (x.point <= 0) {
        sl_text_put(t, "0.000", (size_t)(2 - x.point));
        sl_text_put(t, x.digits, count);
    } else if (count <= point) {
        sl_text_put(t, x.digits, count);
        sl_text_put(t, "000000000000000", point - count);
        sl_text_put(t, ".0", 2);
    } else {
        sl_text_put(t, x.digits, point);
        sl_text_char(t, '.');
        sl_text_put(t, x.digits + point, count - point);
    }
}

static void put_six_places(struct sl_text *t, double d, char how)
{
    const char digits[] = "0123456789";
    char text[400];

    snprintf(text, sizeof text,
             how == 'e'   ? "%.6e"
             : how == 'E' ? "%.6E"
                          : "%.6f",
             d);
    size_t whole = strspn(text, digits);
    size_t point = strcspn(text + whole, digits);
    sl_text_append(t, text, whole);
    sl_text_char(t, '.');
    sl_text_append(t, text + whole + point, strlen(text + whole + point));
}

void sl_float_format(struct sl_text *t, double d, char how)
{
    if (isnan(d) || isinf(d)) {
        const char *text = isnan(d) ? "nan" : d > 0 ? "+inf" : "-inf";
        sl_text_append(t, text, strlen(text));
        return;
    }
    if (signbit(d))
        sl_text_char(t, '-');
    if (how == 'g' || how == 'G')
        put_shortest(t, fabs(d), how == 'g' ? 'e' : 'E');
    else
        put_six_places(t, fabs(d), how);
}

/* --- from text ---------------------------------------------------------------------- */

#define TEXT_MAX_BYTES (1024u * 1024u)
/* The midpoint between two floats has at most 770 digits. Of further digits it
 * only matters whether any is nonzero. */
#define DIGITS_MAX 800

struct number {
    char text[DIGITS_MAX + 32]; /* input for strtod: "0x", digits, exponent */
    int start, length;          /* digits of the mantissa, without leading
                                 * zeros */
    bool more;                  /* there are further digits, at least one of
                                 * them nonzero */
    int64_t exponent;           /* exponent of the last digit: number of
                                 * digits behind it */
};

static bool is_word(const char *p, const char *end, const char *word)
{
    while (p < end && *word && (*p | 0x20) == *word)
        p++, word++;
    return p == end && !*word;
}

static bool is_digit(char c, bool hex)
{
    char letter = (char)(c | 0x20);

    return (c >= '0' && c <= '9') || (hex && letter >= 'a' && letter <= 'f');
}

static void put_digit(struct number *x, char c, bool after_point)
{
    bool leading = x->length == x->start && c == '0';

    if (!leading && x->length == DIGITS_MAX) {
        x->more |= c != '0';
        x->exponent += !after_point;
        return;
    }
    if (!leading)
        x->text[x->length++] = c;
    x->exponent -= after_point;
}

static bool read_exponent(const char *p, const char *end, int64_t *out)
{
    bool minus = p < end && *p == '-';
    int64_t e = 0;

    if (p < end && (*p == '+' || *p == '-'))
        p++;
    if (p == end)
        return false;
    for (; p < end && is_digit(*p, false); p++)
        if (e < INT64_MAX / 100)
            e = e * 10 + (*p - '0');
    *out += minus ? -e : e;
    return p == end;
}

/* Reads digits, an optional point and exponent; a hexadecimal number requires
 * the exponent. */
static bool read_number(const char *p, const char *end, double *out)
{
    bool hex = end - p > 2 && *p == '0' && (p[1] | 0x20) == 'x';
    struct number x = {.text = "0x", .start = hex ? 2 : 0};
    bool any = false, point = false;

    x.length = x.start;
    for (p += x.start; p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
        } else if (is_digit(*p, hex)) {
            put_digit(&x, *p, point);
            any = true;
        } else {
            break;
        }
    }
    if (x.more || x.length == x.start) {
        x.text[x.length++] = x.more ? '1' : '0';
        x.exponent -= x.more;
    }
    x.exponent *= hex ? 4 : 1;
    if (!any || (p == end ? hex
                          : (*p | 0x20) != (hex ? 'p' : 'e') ||
                                !read_exponent(p + 1, end, &x.exponent)))
        return false;
    snprintf(x.text + x.length, sizeof x.text - (size_t)x.length, "%c%lld",
             hex ? 'p' : 'e', (long long)x.exponent);
    *out = strtod(x.text, NULL);
    return true;
}

bool sl_float_parse(const char *p, size_t length, double *out)
{
    const char *end = p + length;
    bool negative = length && *p == '-';
    double d;

    if (length > TEXT_MAX_BYTES)
        return false;
    if (length && (*p == '+' || *p == '-'))
        p++;
    if (is_word(p, end, "inf") || is_word(p, end, "infinity"))
        d = INFINITY;
    else if (is_word(p, end, "nan"))
        d = NAN;
    else if (!read_number(p, end, &d))
        return false;
    *out = negative && !isnan(d) ? -d : d;
    return true;
}
