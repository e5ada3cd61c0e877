#include <math.h>

#include "digits.h"
#include "table.h"

/* Floats beside ints: exact order, and hashes that agree. Their text is in
 * float_text.c. */

#define WORD_LIMIT 4611686018427387904.0 /* 2^62: below it, an int is a word */

static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b) > 0 ? 1 : -(isnan(a) < isnan(b));
    return (a > b) - (a < b);
}

/* An int and a double of at least 2^62: both have digits. */
static int compare_digits(value v, double d)
{
    const struct sl_bigint *b = sl_bigint(v);
    uint64_t digits[DOUBLE_DIGITS];

    return sl_digits_compare(b->digits, b->used, digits,
                             sl_digits_from_double(digits, d));
}

static int compare_int_double(value v, double d)
{
    if (isnan(d) || d == INFINITY)
        return -1;
    if (d == -INFINITY)
        return 1;
    if (sl_is_int_word(v)) {
        if (d >= WORD_LIMIT)
            return -1;
        if (d < -WORD_LIMIT)
            return 1;
        /* Its whole part is a word, too; a fraction decides between equals. */
        int64_t i = sl_int_word(v), whole = (int64_t)d;
        if (i != whole)
            return i < whole ? -1 : 1;
        return (d < (double)whole) - (d > (double)whole);
    }
    int sign = sl_int_sign(v);
    if (fabs(d) < WORD_LIMIT || (d < 0) != (sign < 0))
        return sign;
    return sign * compare_digits(v, fabs(d));
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
