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

/* Of a base that is a power of two: 60 bits are so many characters each. */
static bool put_bits(struct powers *p, const uint64_t *a, uint32_t n, char *out)
{
    if (!sl_charge(p->s, n))
        return false;
    for (; n--; out += p->chars)
        put_digit(p, out, p->chars, a[n]);
    return true;
}

/* The digits of x, without zeros before the first; one remains. */
static bool append(struct sl_text *t, struct powers *p, const mp_int *x)
{
    const bool bits = !(p->base & (p->base - 1));
    uint32_t n = (uint32_t)x->used, width = p->chars * (n + n / 2 + 1);
    size_t size = n * sizeof(uint64_t);
    bool ok = true;

    if (bits) {
        p->chars = DIGIT_BITS / (uint32_t)__builtin_ctz(p->base);
        width = p->chars * n;
    } else if (n > FEW_DIGITS) {
        /* Until x is less than the square of the last one. */
        while (ok && (!p->count || n > 2 * p->n[p->count - 1] - 2))
            ok = powers_next(p);
        width = p->chars << p->count;
        size = (5 * (size_t)n + 1024) * sizeof(uint64_t);
    }
    uint64_t *a = ok ? sl_storage(t->s, size) : NULL;
    char *out = a ? sl_storage(t->s, width) : NULL;
    ok = out;
    if (ok) {
        memcpy(a, x->dp, n * sizeof *a);
        ok = bits ? put_bits(p, a, n, out)
                  : put_many(p, a, n, p->count, out, width, a + n);
    }
    if (ok) {
        size_t zeros = 0;
        while (zeros + 1 < width && out[zeros] == '0')
            zeros++;
        sl_text_append(t, out + zeros, width - zeros);
    }
    sl_storage_free(t->s, out, width);
    sl_storage_free(t->s, a, size);
    powers_free(p);
    return ok;
}

static void append_word(struct sl_text *t, int64_t i, unsigned base,
                        const char *digits)
{
    char out[64], *end = out + sizeof out, *p = end;
    uint64_t m = i < 0 ? -(uint64_t)i : (uint64_t)i;

    if (base == 10) {
        p = sl_digits(i, end);
    } else {
        do
            *--p = digits[m % base];
        while (m /= base);
        if (i < 0)
            *--p = '-';
    }
    sl_text_put(t, p, (size_t)(end - p));
}

bool sl_int_format(struct sl_text *t, value v, unsigned base, bool upper)
{
    const char *digits = upper ? "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               : "0123456789abcdefghijklmnopqrstuvwxyz";
    struct powers p;

    if (sl_is_int_word(v)) {
        append_word(t, sl_int_word(v), base, digits);
        return !t->failed;
    }
    const mp_int x = sl_int_view(v, NULL);
    powers_init(&p, t->s, base);
    p.digits = digits;
    if (x.sign == MP_NEG)
        sl_text_char(t, '-');
    if (!append(t, &p, &x))
        t->failed = true; /* not all who write look at what we return */
    return !t->failed;
}

value sl_int_fail(struct star *s, const char *before, value v,
                  const char *after)
{
    struct sl_text t = {.s = s};

    if (sl_int_format(&t, v, 10, false))
        sl_fail(s, "%s%.*s%s", before, (int)t.length, t.p, after);
    sl_text_free(&t);
    return 0;
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
    size_t size =
        (n <= LEAF_DIGITS ? n : 4 * (size_t)n + 1024) * sizeof(uint64_t);
    uint64_t *r = sl_storage(s, size);
    if (r && read_many(&p, r, digits, length, r + n))
        v = sl_int_from_digits(s, r, n, negative);
    sl_storage_free(s, r, size);
    powers_free(&p);
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
