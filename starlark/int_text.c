#include <math.h>

#include "digits.h"
#include "ops.h"

/*
 * Ints to text and back. Beyond some digits by divide and conquer over powers of
 * the base, so that it costs little more than a few products of that size; what
 * is below goes by the largest power of the base that is one digit.
 */

#define FEW_DIGITS  30u /* to text: more are cut in two */
#define LEAF_DIGITS 16u /* from text */
#define LEVELS      24

/* powers[i] = base ^ (chars << i) */
struct powers {
    struct star *s;
    unsigned base;
    uint32_t chars; /* as many fit in a digit */
    uint64_t one;   /* base ^ chars */
    uint64_t *power[LEVELS];
    uint32_t n[LEVELS], size[LEVELS];
    unsigned count;
};

static void powers_init(struct powers *p, struct star *s, unsigned base)
{
    uint64_t one = base;

    p->s = s;
    p->base = base;
    p->count = 0;
    for (p->chars = 1; one <= DIGIT_MASK / base; p->chars++)
        one *= base;
    p->one = one;
}

static void powers_free(struct powers *p)
{
    for (unsigned i = 0; i < p->count; i++)
        sl_storage_free(p->s, p->power[i], p->size[i] * sizeof(uint64_t));
}

/* One more power: the square of the last. `scratch` is for that product. */
static bool powers_next(struct powers *p, uint64_t *scratch)
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
    else if (!sl_digits_mul(p->s, r, p->power[i - 1], n, p->power[i - 1], n,
                            scratch))
        return false;
    p->n[i] = sl_digits_trim(r, size);
    return true;
}

/* --- to text ------------------------------------------------------------------- */

static const char lower_digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
static const char upper_digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Exactly `width` characters, with leading zeros. */
static void put_digit(char *out, uint32_t width, uint64_t digit, unsigned base,
                      const char *digits)
{
    while (width-- > 0) {
        out[width] = digits[digit % base];
        digit /= base;
    }
}

/* 18 characters; the two halves do not wait for each other. */
static void put_decimal(char out[static 18], uint64_t digit)
{
    uint32_t high = (uint32_t)(digit / 1000000000);
    uint32_t low = (uint32_t)(digit % 1000000000);

    for (int i = 8; i >= 0; i--) {
        out[i] = (char)('0' + high % 10);
        out[i + 9] = (char)('0' + low % 10);
        high /= 10;
        low /= 10;
    }
}

struct writer {
    struct powers p;
    const char *digits;
};

/* Writes a, which is destroyed, as the last characters of the `width` at out;
 * those before it become "0". */
static bool put_few(struct writer *w, uint64_t *a, uint32_t n, char *out,
                    uint32_t width)
{
    const struct sl_divisor one = sl_divisor(w->p.one);

    if (!sl_charge(w->p.s, (uint64_t)n * n / 8 + width / 8))
        return false;
    while (n && width) {
        uint64_t part = sl_digits_div_small(a, a, n, &one);
        uint32_t chars = width < w->p.chars ? width : w->p.chars;
        n = sl_digits_trim(a, n);
        width -= chars;
        if (w->p.base == 10 && chars == 18)
            put_decimal(out + width, part);
        else
            put_digit(out + width, chars, part, w->p.base, w->digits);
    }
    memset(out, '0', width);
    return true;
}

/* The same; a < powers[level], whose number of characters is `width`. */
static bool put_many(struct writer *w, uint64_t *a, uint32_t n, unsigned level,
                     char *out, uint32_t width, uint64_t *scratch)
{
    n = sl_digits_trim(a, n);
    if (n <= FEW_DIGITS)
        return put_few(w, a, n, out, width);

    const uint64_t *power = w->p.power[level - 1];
    uint32_t pn = w->p.n[level - 1], low = width / 2;
    if (n < pn) {
        memset(out, '0', low);
        return put_many(w, a, n, level - 1, out + low, low, scratch);
    }
    uint64_t *q = scratch, *rest = q + (n - pn + 1);
    return sl_digits_divide(w->p.s, q, a, a, n, power, pn, rest) &&
           put_many(w, q, n - pn + 1, level - 1, out, low, rest) &&
           put_many(w, a, pn, level - 1, out + low, low, rest);
}

/* Of a base that is a power of two. */
static void put_bits(char *out, uint32_t width, const uint64_t *a, uint32_t n,
                     unsigned bits, const char *digits)
{
    for (uint32_t i = 0; i < width; i++) {
        uint64_t at = (uint64_t)i * bits;
        uint32_t which = (uint32_t)(at / DIGIT_BITS),
                 shift = (uint32_t)(at % DIGIT_BITS);
        uint64_t d = a[which] >> shift;
        if (shift + bits > DIGIT_BITS && which + 1 < n)
            d |= a[which + 1] << (DIGIT_BITS - shift);
        out[width - 1 - i] = digits[d & ((1u << bits) - 1)];
    }
}

static bool append_bits(struct sl_text *t, const uint64_t *a, uint32_t n,
                        unsigned base, const char *digits)
{
    unsigned bits = (unsigned)__builtin_ctz(base);
    uint32_t width = (sl_digits_bits(a, n) + bits - 1) / bits;

    if (!sl_charge(t->s, width / 8))
        return false;
    char *out = sl_storage(t->s, width);
    if (!out)
        return false;
    put_bits(out, width, a, n, bits, digits);
    sl_text_append(t, out, width);
    sl_storage_free(t->s, out, width);
    return !t->failed;
}

/* The digits `width` wide, without the zeros before the first. */
static bool append_trimmed(struct sl_text *t, const char *out, size_t width)
{
    size_t zeros = 0;

    while (zeros < width && out[zeros] == '0')
        zeros++;
    sl_text_append(t, out + zeros, width - zeros);
    return !t->failed;
}

static bool append_many(struct sl_text *t, struct writer *w, const uint64_t *a,
                        uint32_t n)
{
    uint64_t *x = sl_scratch_take(t->s, 12 * (size_t)n + 1024);
    bool ok = x;
    unsigned level = 0;

    /* Until a is less than the square of the last one. */
    while (ok && (!level || n > 2 * w->p.n[level - 1] - 2)) {
        ok = powers_next(&w->p, x);
        level++;
    }
    size_t width = (size_t)w->p.chars << level;
    char *out = ok ? sl_storage(t->s, width) : NULL;
    if (out) {
        memcpy(x, a, n * sizeof *x);
        ok = put_many(w, x, n, level, out, (uint32_t)width, x + n) &&
             append_trimmed(t, out, width);
        sl_storage_free(t->s, out, width);
    }
    powers_free(&w->p);
    sl_scratch_give(t->s);
    return ok && out;
}

static bool format_big(struct sl_text *t, const struct sl_bigint *b,
                       unsigned base, const char *digits)
{
    struct writer w;
    uint64_t few[FEW_DIGITS];
    char out[FEW_DIGITS * 60 + 60];

    if ((base & (base - 1)) == 0)
        return append_bits(t, b->digits, b->used, base, digits);
    w.digits = digits;
    powers_init(&w.p, t->s, base);
    if (b->used > FEW_DIGITS)
        return append_many(t, &w, b->digits, b->used);
    /* A digit of 60 bits is less than two digits of the largest power. */
    uint32_t width = w.p.chars * (b->used + b->used / 2 + 1);
    memcpy(few, b->digits, b->used * sizeof *few);
    return put_few(&w, few, b->used, out, width) &&
           append_trimmed(t, out, width);
}

bool sl_int_format(struct sl_text *t, value v, unsigned base, bool upper)
{
    const char *digits = upper ? upper_digits : lower_digits;
    char out[64];
    size_t at = sizeof out;

    if (sl_int_sign(v) < 0)
        sl_text_char(t, '-');
    if (!sl_is_int_word(v)) {
        if (!format_big(t, sl_bigint(v), base, digits))
            t->failed = true; /* not all who write look at what we return */
        return !t->failed;
    }
    int64_t i = sl_int_word(v);
    uint64_t m = i < 0 ? -(uint64_t)i : (uint64_t)i;
    if (base == 10) {
        do
            out[--at] = (char)('0' + m % 10);
        while (m /= 10);
    } else {
        do
            out[--at] = digits[m % base];
        while (m /= base);
    }
    sl_text_append(t, out + at, sizeof out - at);
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

/* Of up to LEAF_DIGITS * p->chars characters; r has room for a digit more. */
static uint32_t read_few(const struct powers *p, uint64_t *r, const char *in,
                         size_t length)
{
    uint32_t n = 0;

    for (size_t i = 0; i < length;) {
        size_t end = i + ((length - i) % p->chars ?: p->chars);
        uint64_t part = 0, scale = 1;
        for (; i < end; i++) {
            part = part * p->base + digit_value(in[i]);
            scale *= p->base;
        }
        n = sl_digits_mul_small(r, r, n, scale, part);
    }
    return n;
}

/* to = high * power + low, where high and low have `width` digits, `to` twice
 * as many. */
static bool join(struct powers *p, uint64_t *to, const uint64_t *low,
                 const uint64_t *high, uint32_t width, uint64_t *scratch)
{
    unsigned level = p->count - 1;
    uint32_t n = sl_digits_trim(high, width), pn = p->n[level];

    memset(to, 0, 2 * width * sizeof *to);
    if (!n) {
        memcpy(to, low, width * sizeof *to);
        return true;
    }
    if (!sl_digits_mul(p->s, to, high, n, p->power[level], pn, scratch))
        return false;
    uint64_t carry = 0;
    for (uint32_t i = 0; i < 2 * width && (carry || i < width); i++) {
        to[i] += carry + (i < width ? low[i] : 0);
        carry = to[i] >> DIGIT_BITS;
        to[i] &= DIGIT_MASK;
    }
    return true;
}

/* The text in leaves of LEAF_DIGITS digits each, the last one first; then two
 * neighbours are joined to one again and again. */
static value read_many(struct powers *p, const char *in, size_t length,
                       bool negative)
{
    size_t leaf = (size_t)LEAF_DIGITS * p->chars;
    uint32_t count = (uint32_t)((length + leaf - 1) / leaf);
    uint32_t width = LEAF_DIGITS, room = 2 * LEAF_DIGITS * (count + 1);
    size_t size = 2 * (size_t)room + MUL_SCRATCH(room);
    uint64_t *from = sl_scratch_take(p->s, size), *to = from + room;
    uint64_t *scratch = to + room;
    bool ok = from;
    value v = 0;

    for (uint32_t i = 0; ok && i < count; i++) {
        size_t n = length < leaf ? length : leaf;
        uint64_t few[LEAF_DIGITS + 1] = {0};
        length -= n;
        read_few(p, few, in + length, n);
        memcpy(from + i * width, few, width * sizeof *few);
        ok = sl_charge(p->s, 16);
    }
    while (ok && (1u << (p->count ? p->count - 1 : 0)) < LEAF_DIGITS)
        ok = powers_next(p, scratch);
    for (; ok && count > 1; count = (count + 1) / 2, width *= 2) {
        for (uint32_t i = 0; ok && i < count; i += 2) {
            uint64_t *out = to + i * width, *low = from + i * width;
            if (i + 1 < count) {
                ok = join(p, out, low, low + width, width, scratch);
            } else {
                memcpy(out, low, width * sizeof *out);
                memset(out + width, 0, width * sizeof *out);
            }
        }
        uint64_t *t = from;
        from = to;
        to = t;
        if (count > 2)
            ok = ok && powers_next(p, scratch);
    }
    if (ok)
        v = sl_int_from_digits(p->s, from, width, negative);
    powers_free(p);
    sl_scratch_give(p->s);
    return v;
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

    if (all_digits(s, digits, length, base) != 1)
        return 0;
    for (; length && *digits == '0'; length--)
        digits++;
    if ((double)length * log2(base) > SL_INT_MAX_BITS + 8.0)
        return sl_int_too_large(s);
    powers_init(&p, s, base);
    if (length > (size_t)LEAF_DIGITS * p.chars)
        return read_many(&p, digits, length, negative);
    uint64_t few[LEAF_DIGITS + 1];
    return sl_int_from_digits(s, few, read_few(&p, few, digits, length),
                              negative);
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
