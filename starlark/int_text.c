#include <math.h>

#include "int.h"
#include "text.h"

/*
 * Ints to text and back. Beyond some digits by divide and conquer over powers of
 * the base, so that it costs little more than a few products of that size; what
 * is below goes by the largest power of the base that is one digit.
 */

#define FEW_DIGITS  SL_RARE(30u, 3u) /* to text: more are cut in two */
#define LEAF_DIGITS SL_RARE(16u, 2u) /* from text */
#define LEVELS      24

/* powers[i] = base ^ (chars << i) */
struct powers {
    struct star *s;
    unsigned base;
    const char *digits; /* the characters */
    uint32_t chars;     /* as many fit in a digit */
    uint64_t one;       /* base ^ chars */
    uint64_t *power[LEVELS];
    uint32_t n[LEVELS], size[LEVELS];
    unsigned count;
};

static void powers_init(struct powers *p, struct star *s, unsigned base)
{
    p->s = s;
    p->base = base;
    p->count = 0;
    p->one = base;
    for (p->chars = 1; p->one <= DIGIT_MASK / base; p->chars++)
        p->one *= base;
}

static void powers_free(struct powers *p)
{
    while (p->count-- > 0)
        sl_storage_free(p->s, p->power[p->count],
                        p->size[p->count] * sizeof(uint64_t));
}

/* One more power: the square of the last. */
static bool powers_next(struct powers *p)
{
    unsigned i = p->count;
    uint32_t n = i ? p->n[i - 1] : 0, size = i ? 2 * n : 1;
    uint64_t *r = sl_storage(p->s, size * sizeof *r);

    if (!r)
        return false;
    p->power[i] = r;
    p->size[i] = size;
    p->count++;
    if (!i)
        *r = p->one;
    else if (!sl_digits_mul(p->s, r, p->power[i - 1], n, p->power[i - 1], n))
        return false;
    p->n[i] = sl_digits_trim(r, size);
    return true;
}

/* --- to text ------------------------------------------------------------------- */

/* Exactly `width` characters, with leading zeros. */
static void put_digit(const struct powers *p, char *out, uint32_t width,
                      uint64_t digit)
{
    if (p->base == 10) {
        char *first = sl_digits((int64_t)digit, out + width);
        memset(out, '0', (size_t)(first - out));
        return;
    }
    while (width-- > 0) {
        out[width] = p->digits[digit % p->base];
        digit /= p->base;
    }
}

/* Writes a, which is destroyed, as the last characters of the `width` at out, a
 * multiple of p->chars; those before it become "0". */
static bool put_few(struct powers *p, uint64_t *a, uint32_t n, char *out,
                    uint32_t width)
{
    if (!sl_charge(p->s, (uint64_t)n * n / 8 + width / 8))
        return false;
    while (n && width) {
        uint64_t part = sl_digits_div_small(a, a, n, p->one);
        n = sl_digits_trim(a, n);
        width -= p->chars;
        put_digit(p, out + width, p->chars, part);
    }
    memset(out, '0', width);
    return true;
}

/* The same; a < powers[level], whose number of characters is `width`. */
static bool put_many(struct powers *p, uint64_t *a, uint32_t n, unsigned level,
                     char *out, uint32_t width, uint64_t *scratch)
{
    n = sl_digits_trim(a, n);
    if (n <= FEW_DIGITS)
        return put_few(p, a, n, out, width);

    const uint64_t *power = p->power[level - 1];
    uint32_t pn = p->n[level - 1], low = width / 2;
    if (n < pn) {
        memset(out, '0', low);
        return put_many(p, a, n, level - 1, out + low, low, scratch);
    }
    uint64_t *q = scratch, *rest = q + (n - pn + 1);
    return sl_digits_divide(p->s, q, a, a, n, power, pn, rest) &&
           put_many(p, q, n - pn + 1, level - 1, out, low, rest) &&
           put_many(p, a, pn, level - 1, out + low, low, rest);
}

/* The digits `width` wide, without the zeros before the first; one remains. */
static void append_trimmed(struct sl_text *t, const char *out, size_t width)
{
    for (; width > 1 && *out == '0'; width--)
        out++;
    sl_text_append(t, out, width);
}

static bool append_many(struct sl_text *t, struct powers *p, const mp_int *x)
{
    uint32_t n = (uint32_t)x->used;
    uint64_t *a = sl_scratch_take(t->s, 5 * (size_t)n + 1024);
    bool ok = a;

    /* Until x is less than the square of the last one. */
    while (ok && (!p->count || n > 2 * p->n[p->count - 1] - 2))
        ok = powers_next(p);
    size_t width = (size_t)p->chars << p->count;
    char *out = ok ? sl_storage(t->s, width) : NULL;
    if (out) {
        memcpy(a, x->dp, n * sizeof *a);
        ok = put_many(p, a, n, p->count, out, (uint32_t)width, a + n);
        if (ok)
            append_trimmed(t, out, width);
        sl_storage_free(t->s, out, width);
    }
    powers_free(p);
    sl_scratch_give(t->s);
    return ok && out;
}

/* Of a base that is a power of two: 60 bits are so many characters each. */
static bool append_bits(struct sl_text *t, struct powers *p, const mp_int *x)
{
    const uint32_t chars = DIGIT_BITS / (uint32_t)__builtin_ctz(p->base);
    char out[DIGIT_BITS];

    if (!sl_charge(t->s, (uint64_t)x->used))
        return false;
    for (int i = x->used; i-- > 0;) {
        put_digit(p, out, chars, x->dp[i]);
        if (i == x->used - 1)
            append_trimmed(t, out, chars);
        else
            sl_text_append(t, out, chars);
    }
    return true;
}

/* A digit of 60 bits is less than two digits of the largest power. */
static bool append_few(struct sl_text *t, struct powers *p, const mp_int *x)
{
    uint64_t few[FEW_DIGITS];
    char out[FEW_DIGITS * 60 + 60];
    uint32_t n = (uint32_t)x->used, width = p->chars * (n + n / 2 + 1);

    memcpy(few, x->dp, n * sizeof *few);
    if (!put_few(p, few, n, out, width))
        return false;
    append_trimmed(t, out, width);
    return true;
}

bool sl_int_format(struct sl_text *t, value v, unsigned base, bool upper)
{
    uint64_t few[2];
    struct powers p;

    if (sl_is_int_word(v) && base == 10) {
        sl_text_put_int(t, v);
        return !t->failed;
    }
    const mp_int x = sl_int_view(v, few);
    powers_init(&p, t->s, base);
    p.digits = upper ? "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     : "0123456789abcdefghijklmnopqrstuvwxyz";
    if (x.sign == MP_NEG)
        sl_text_char(t, '-');
    bool ok = x.used && !(base & (base - 1)) ? append_bits(t, &p, &x)
              : x.used > (int)FEW_DIGITS     ? append_many(t, &p, &x)
                                             : append_few(t, &p, &x);
    if (!ok)
        t->failed = true; /* not all who write look at what we return */
    return !t->failed;
}

/* --- from text ----------------------------------------------------------------------- */

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'z')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'Z')
        return (unsigned)(c - 'A') + 10;
    return 99;
}

/* How many digits the number of so many characters has, at most. */
static uint32_t digits_for(const struct powers *p, size_t length)
{
    return (uint32_t)(length / p->chars) + 1;
}

/* All digits_for(length) of r are written. */
static bool read_few(struct powers *p, uint64_t *r, const char *in,
                     size_t length)
{
    uint32_t n = 0;

    memset(r, 0, digits_for(p, length) * sizeof *r);
    for (size_t i = 0; i < length;) {
        size_t end = i + ((length - i) % p->chars ?: p->chars);
        uint64_t part = 0, scale = 1;
        for (; i < end; i++) {
            part = part * p->base + digit_value(in[i]);
            scale *= p->base;
        }
        n = sl_digits_mul_small(r, r, n, scale, part);
    }
    return sl_charge(p->s, 16);
}

/* The same of any length, as high * power + low. */
static bool read_many(struct powers *p, uint64_t *r, const char *in,
                      size_t length, uint64_t *scratch)
{
    unsigned level = 0;

    if (length <= (size_t)LEAF_DIGITS * p->chars)
        return read_few(p, r, in, length);
    while ((size_t)p->chars << (level + 1) < length)
        level++;
    while (p->count <= level)
        if (!powers_next(p))
            return false;

    size_t low = (size_t)p->chars << level, high = length - low;
    uint32_t n = digits_for(p, length), ln = digits_for(p, low);
    uint32_t hn = digits_for(p, high), pn = p->n[level];
    uint64_t *h = scratch, *product = h + hn;
    if (!read_many(p, h, in, high, product) ||
        !read_many(p, r, in + high, low, product))
        return false;
    if (!sl_digits_mul(p->s, product, h, hn, p->power[level], pn))
        return false;
    memset(r + ln, 0, (n - ln) * sizeof *r);
    if (hn + pn < n)
        memset(product + hn + pn, 0, (n - hn - pn) * sizeof *r);
    sl_digits_add(r, r, product, n);
    return true;
}

/* Whether all are digits of the base: 1, 0; -1 when that was interrupted. */
static int all_digits(struct star *s, const char *in, size_t length,
                      unsigned base)
{
    for (size_t i = 0; i < length; i++) {
        if (i % 65536 == 0 &&
            !sl_charge(s, length - i < 65536 ? (length - i) / 64 : 1024))
            return -1;
        if (digit_value(in[i]) >= base)
            return 0;
    }
    return length > 0;
}

value sl_int_parse(struct star *s, const char *digits, size_t length,
                   unsigned base, bool negative)
{
    uint64_t few[LEAF_DIGITS + 1], *r = few;
    struct powers p;
    value v = 0;

    if (all_digits(s, digits, length, base) != 1)
        return 0;
    for (; length && *digits == '0'; length--)
        digits++;
    if ((double)length * log2(base) > SL_INT_MAX_BITS + 8.0)
        return sl_int_too_large(s);
    powers_init(&p, s, base);
    uint32_t n = digits_for(&p, length);
    bool large = length > (size_t)LEAF_DIGITS * p.chars;
    if (large)
        r = sl_scratch_take(s, 4 * (size_t)n + 1024);
    if (r && read_many(&p, r, digits, length, r + n))
        v = sl_int_from_digits(s, r, n, negative);
    powers_free(&p);
    if (large)
        sl_scratch_give(s);
    return v;
}

value star_int_from_text(struct star *s, const char *digits, size_t length)
{
    bool negative = length && *digits == '-';
    size_t sign = length && (negative || *digits == '+');

    sl_host_enter(s);
    value v = sl_int_parse(s, digits + sign, length - sign, 10, negative);
    if (!v && !sl_failed(s))
        sl_fail_as(s, STAR_ERROR_VALUE, "not a decimal number");
    sl_host_leave(s);
    return v;
}
