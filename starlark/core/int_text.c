#include "int.h"
#include "text.h"

/* Ints to text and back, converting as many characters at a time as fit in one
 * digit of libtommath. */

struct radix {
    unsigned base;
    const char *digits; /* characters of the base */
    uint32_t chars;     /* number of characters that fit in a digit */
    uint64_t power;     /* base ^ chars */
};

static struct radix radix_of(unsigned base, const char *digits)
{
    struct radix x = {base, digits, 1, base};

    for (; x.power <= DIGIT_MASK / base; x.chars++)
        x.power *= base;
    return x;
}

/* --- to text ------------------------------------------------------------------- */

/* Writes exactly x->chars characters before `end`, with leading zeros. */
static void put_digit(const struct radix *x, char *end, uint64_t digit)
{
    for (uint32_t i = 0; i < x->chars; i++, digit /= x->base)
        *--end = x->digits[digit % x->base];
}

/* Writes the magnitude a, which is destroyed, before `end`. Returns false if a
 * limit is reached. */
static bool put_all(struct star *s, const struct radix *x, uint64_t *a,
                    uint32_t n, char *end)
{
    for (; n; n = sl_digits_trim(a, n), end -= x->chars) {
        if (!sl_charge(s, n / 8 + 1))
            return false;
        put_digit(x, end, sl_digits_div_small(a, a, n, x->power));
    }
    return true;
}

static bool append(struct sl_text *t, const struct radix *x,
                   const struct sl_bigint *b)
{
    /* A digit of 60 bits is less than the square of x->power. */
    size_t room = 2 * (size_t)x->chars * b->used;
    size_t size = b->used * sizeof *b->digits;
    uint64_t *a = sl_storage(t->s, size + room);
    bool ok = a;

    if (ok) {
        char *out = (char *)a + size, *end = out + room;
        memcpy(a, b->digits, size);
        memset(out, '0', room);
        if ((ok = put_all(t->s, x, a, b->used, end))) {
            while (*out == '0')
                out++;
            sl_text_append(t, out, (size_t)(end - out));
        }
    }
    sl_storage_free(t->s, a, size + room);
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

    if (sl_is_int_word(v)) {
        append_word(t, sl_int_word(v), base, digits);
        return !t->failed;
    }
    if (sl_bigint(v)->negative)
        sl_text_char(t, '-');
    const struct radix x = radix_of(base, digits);
    if (!append(t, &x, sl_bigint(v)))
        t->failed = true; /* some callers check only t->failed */
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

/* Parses `length` characters at `in`. Returns false if a limit is reached. */
static bool read_all(struct star *s, const struct radix *x, const char *in,
                     size_t length, mp_int *r)
{
    mp_err e = MP_OKAY;

    mp_zero(r);
    for (size_t i = 0; i < length && e == MP_OKAY;) {
        size_t end = i + ((length - i) % x->chars ?: x->chars);
        uint64_t part = 0;
        for (; i < end; i++)
            part = part * x->base + digit_value(in[i]);
        if (!sl_charge(s, (uint64_t)r->used / 16 + 1))
            return false;
        e = mp_mul_d(r, x->power, r);
        if (e == MP_OKAY)
            e = mp_add_d(r, part, r);
        SL_UNPOISON(r, sizeof *r);
    }
    if (e != MP_OKAY)
        sl_fail_memory(s, (size_t)r->alloc * sizeof(mp_digit));
    return e == MP_OKAY;
}

/* Returns 1 if all characters are digits of the base, 0 if not, -1 if
 * interrupted. */
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
    const struct radix x = radix_of(base, NULL);

    if (all_digits(s, digits, length, base) != 1)
        return 0;
    for (; length && *digits == '0'; length--)
        digits++;
    /* A text this long has more bits than the limit allows. */
    if ((length - (length > 0)) / x.chars > SL_INT_MAX_BITS / (DIGIT_BITS - 6))
        return sl_int_too_large(s);
    mp_int *r = sl_int_room(s, length / x.chars + 3);
    if (!r || !read_all(s, &x, digits, length, r))
        return 0;
    return sl_int_from_digits(s, r->dp, (uint32_t)r->used, negative);
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
