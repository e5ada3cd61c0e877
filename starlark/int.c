#include "int.h"

#include <math.h>
#include <stddef.h>

#include "table.h"

/*
 * Ints of any size: a word when it fits in 63 bits, else a struct sl_bigint.
 * Every result is brought into the one form it must have, so that equal ints
 * of one word are the same word. Arithmetic is in int_binary.c, text in
 * int_text.c.
 */

#define MAX_DIGITS (SL_INT_MAX_BITS / DIGIT_BITS + 1)

void sl_number_load(value v, struct sl_number *out)
{
    if (sl_is_int_word(v)) {
        int64_t i = sl_int_word(v);
        uint64_t m = i < 0 ? -(uint64_t)i : (uint64_t)i;
        out->few[0] = m & DIGIT_MASK;
        out->few[1] = m >> DIGIT_BITS;
        out->n = out->few[1] ? 2 : m != 0;
        out->d = out->few;
        out->negative = i < 0;
        return;
    }
    const struct sl_bigint *b = sl_bigint(v);
    out->d = b->digits;
    out->n = b->used;
    out->negative = b->negative;
}

/* The word of that magnitude, or 0 when there is none. */
static value as_word(const uint64_t *d, uint32_t n, bool negative)
{
    uint64_t m;

    if (n > 2 || (n == 2 && d[1] > 4))
        return 0;
    m = (n > 0 ? d[0] : 0) | (n > 1 ? d[1] << DIGIT_BITS : 0);
    if (m > (uint64_t)SL_INT_WORD_MAX + negative)
        return 0;
    return sl_word(negative ? -(int64_t)m : (int64_t)m);
}

static bool is_too_large(const uint64_t *d, uint32_t n)
{
    return n > SL_INT_MAX_BITS / DIGIT_BITS &&
           sl_digits_bits(d, n) > SL_INT_MAX_BITS;
}

value sl_int_too_large(struct star *s)
{
    return sl_fail(s, "int too large: more than %u bits", SL_INT_MAX_BITS);
}

struct sl_bigint *sl_int_room(struct star *s, uint32_t n)
{
    size_t header = offsetof(struct sl_bigint, digits);

    if (n > MAX_DIGITS + 1)
        return (struct sl_bigint *)(uintptr_t)sl_int_too_large(s);
    return sl_alloc_part(s, T_INT, header + n * sizeof(uint64_t), header);
}

value sl_int_from_digits(struct star *s, const uint64_t *d, uint32_t n,
                         bool negative)
{
    n = sl_digits_trim(d, n);
    value word = as_word(d, n, negative);
    if (word)
        return word;
    if (is_too_large(d, n))
        return sl_int_too_large(s);
    struct sl_bigint *b = sl_int_room(s, n);
    if (!b)
        return 0;
    memcpy(b->digits, d, n * sizeof *d);
    b->used = n;
    b->negative = negative;
    return sl_value(b);
}

value sl_int_finish(struct star *s, struct sl_bigint *b, uint32_t n,
                    bool negative)
{
    value word = as_word(b->digits, n, negative);

    if (word)
        return word;
    if (is_too_large(b->digits, n))
        return sl_int_too_large(s);
    b->used = n;
    b->negative = negative;
    return sl_value(b);
}

value sl_int_settle(struct star *s, struct sl_bigint *b,
                    uint64_t few[static STACK_DIGITS], uint32_t n,
                    bool negative)
{
    if (b && n > STACK_DIGITS)
        return sl_int_finish(s, b, n, negative);
    if (b)
        memcpy(few, b->digits, n * sizeof *few);
    return sl_int_from_digits(s, few, n, negative);
}

value sl_int(struct star *s, int64_t n)
{
    if (n >= SL_INT_WORD_MIN && n <= SL_INT_WORD_MAX)
        return sl_word(n);
    uint64_t m = n < 0 ? -(uint64_t)n : (uint64_t)n;
    uint64_t d[2] = {m & DIGIT_MASK, m >> DIGIT_BITS};
    return sl_int_from_digits(s, d, 2, n < 0);
}

value sl_int_u64(struct star *s, uint64_t n)
{
    uint64_t d[2] = {n & DIGIT_MASK, n >> DIGIT_BITS};

    return sl_int_from_digits(s, d, 2, false);
}

/* --- questions ----------------------------------------------------------------- */

int sl_int_sign(value v)
{
    if (sl_is_int_word(v))
        return (sl_int_word(v) > 0) - (sl_int_word(v) < 0);
    return sl_bigint(v)->negative ? -1 : 1;
}

int sl_int_compare(value a, value b)
{
    struct sl_number x, y;

    if (sl_is_int_word(a) && sl_is_int_word(b))
        return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    sl_number_load(a, &x);
    sl_number_load(b, &y);
    if (x.negative != y.negative)
        return x.negative ? -1 : 1;
    int order = sl_digits_compare(x.d, x.n, y.d, y.n);
    return x.negative ? -order : order;
}

uint32_t sl_digits_hash(uint64_t seed, const uint64_t *d, uint32_t n,
                        bool negative)
{
    uint64_t sum = negative;

    for (uint32_t i = 0; i < n; i++)
        sum = ((uint64_t)sl_mix(seed, sum) << 32 ^ d[i]) + i;
    return sl_mix(seed, sum);
}

uint32_t sl_int_hash(struct star *s, value v)
{
    if (sl_is_int_word(v))
        return sl_mix(s->hash_seed, v);
    struct sl_bigint *b = sl_bigint(v);
    if (!b->o.hash) {
        sl_owe(s, b->used / 8);
        b->o.hash =
            sl_digits_hash(s->hash_seed, b->digits, b->used, b->negative);
    }
    return b->o.hash;
}

bool sl_int_to_i64(value v, int64_t *out)
{
    const struct sl_bigint *b = sl_bigint(v);

    if (sl_is_int_word(v)) {
        *out = sl_int_word(v);
        return true;
    }
    if (b->used > 2 || b->digits[1] > 8)
        return false;
    uint64_t m = b->digits[0] | b->digits[1] << DIGIT_BITS;
    if (b->digits[1] == 8 && !(b->negative && !b->digits[0]))
        return false;
    *out = b->negative ? (int64_t)-m : (int64_t)m;
    return true;
}

/* Rounded to nearest, ties to even, from the highest 64 bits and whether any
 * below them is set. */
bool sl_int_to_double(struct star *s, value v, double *out)
{
    struct sl_number x;
    uint64_t top[3];
    bool lost;

    if (sl_is_int_word(v)) {
        *out = (double)sl_int_word(v);
        return true;
    }
    sl_number_load(v, &x);
    uint32_t bits = sl_digits_bits(x.d, x.n), drop = bits - 62;
    if (bits > 1024) {
        sl_fail(s, "int too large to convert to float");
        return false;
    }
    /* 62 bits remain, of which a double keeps 53: one bit below them is enough
     * to say that there was more. */
    uint64_t all[1024 / DIGIT_BITS + 1];
    memcpy(all, x.d, x.n * sizeof *all);
    uint32_t n = sl_digits_shr(all, all, x.n, drop, &lost);
    memset(top, 0, sizeof top);
    memcpy(top, all, n * sizeof *top);
    int64_t m = (int64_t)((top[0] | top[1] << DIGIT_BITS) | lost);
    double d = ldexp((double)m, (int)drop);
    if (isinf(d)) {
        sl_fail(s, "int too large to convert to float");
        return false;
    }
    *out = x.negative ? -d : d;
    return true;
}

uint32_t sl_digits_from_double(uint64_t d[static DOUBLE_DIGITS],
                               double magnitude)
{
    int exponent;

    d[0] = (uint64_t)ldexp(frexp(magnitude, &exponent), 53);
    return sl_digits_shl(d, d, 1, (uint32_t)exponent - 53);
}

value sl_int_from_double(struct star *s, double d)
{
    uint64_t digits[DOUBLE_DIGITS];

    d = trunc(d);
    if (fabs(d) < 0x1p62)
        return sl_word((int64_t)d);
    return sl_int_from_digits(s, digits, sl_digits_from_double(digits, fabs(d)),
                              d < 0);
}
