#include "int.h"

/* Arithmetic on ints of any size: signs, floors and two's complement here, the
 * magnitudes in digits.c. Small results are computed on the stack. */

#define SHIFT_LIMIT 512

/* --- sums ------------------------------------------------------------------------ */

static value add(struct star *s, const struct sl_number *x,
                 const struct sl_number *y, bool y_negative)
{
    uint64_t few[STACK_DIGITS + 1], *r = few;
    struct sl_bigint *b = NULL;
    bool negative = x->negative;
    uint32_t n;

    if (x->n < y->n) {
        const struct sl_number *t = x;
        negative = y_negative;
        y_negative = x->negative;
        x = y;
        y = t;
    }
    if (x->n > STACK_DIGITS) {
        if (!sl_charge(s, x->n / 16) || !(b = sl_int_room(s, x->n + 1)))
            return 0;
        r = b->digits;
    }
    if (negative == y_negative) {
        n = sl_digits_add(r, x->d, x->n, y->d, y->n);
    } else if (sl_digits_compare(x->d, x->n, y->d, y->n) >= 0) {
        n = sl_digits_sub(r, x->d, x->n, y->d, y->n);
    } else {
        n = sl_digits_sub(r, y->d, y->n, x->d, x->n);
        negative = y_negative;
    }
    return sl_int_settle(s, b, few, n, negative);
}

value sl_int_negate(struct star *s, value v)
{
    struct sl_number x;

    if (sl_is_int_word(v))
        return sl_int(s, -sl_int_word(v));
    sl_number_load(v, &x);
    return sl_charge(s, x.n / 16) ? sl_int_from_digits(s, x.d, x.n, !x.negative)
                                  : 0;
}

/* --- products --------------------------------------------------------------------- */

static value mul(struct star *s, const struct sl_number *x,
                 const struct sl_number *y)
{
    bool negative = x->negative != y->negative;

    if (!x->n || !y->n)
        return sl_word(0);
    if (x->n < y->n) {
        const struct sl_number *t = x;
        x = y;
        y = t;
    }
    uint32_t n = x->n + y->n;
    if (sl_digits_bits(x->d, x->n) + sl_digits_bits(y->d, y->n) >
        SL_INT_MAX_BITS + 1)
        return sl_int_too_large(s);
    if (n <= STACK_DIGITS) {
        uint64_t few[STACK_DIGITS];
        if (!sl_digits_mul(s, few, x->d, x->n, y->d, y->n, NULL))
            return 0;
        return sl_int_from_digits(s, few, n, negative);
    }
    if (y->n == 1) {
        struct sl_bigint *b = sl_charge(s, n / 16) ? sl_int_room(s, n) : NULL;
        if (!b)
            return 0;
        n = sl_digits_mul_small(b->digits, x->d, x->n, *y->d, 0);
        return sl_int_finish(s, b, n, negative);
    }
    if (y->n < COLUMNS_BELOW) {
        struct sl_bigint *b = sl_int_room(s, n);
        if (!b || !sl_digits_mul(s, b->digits, x->d, x->n, y->d, y->n, NULL))
            return 0;
        return sl_int_finish(s, b, sl_digits_trim(b->digits, n), negative);
    }
    /* Not in the object: memory is taken on the way, which may collect it. */
    uint64_t *r = sl_scratch_take(s, n + MUL_SCRATCH(x->n));
    value v = 0;
    if (r && sl_digits_mul(s, r, x->d, x->n, y->d, y->n, r + n))
        v = sl_int_from_digits(s, r, n, negative);
    sl_scratch_give(s);
    return v;
}

/* --- quotients --------------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;

    return a % b && (a < 0) != (b < 0) ? q - 1 : q;
}

static int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t r = a % b;

    return r && (r < 0) != (b < 0) ? r + b : r;
}

/* The magnitudes are divided; then, if the signs differ and something remains,
 * the quotient is one further from 0, the remainder on the other side of 0. */
static value floored(struct star *s, bool want_quotient,
                     const struct sl_number *x, const struct sl_number *y,
                     uint64_t *q, uint64_t *r)
{
    uint32_t rn = sl_digits_trim(r, y->n), qn = x->n - y->n + 1;
    bool differ = x->negative != y->negative;
    const uint64_t one = 1;

    if (want_quotient) {
        if (differ && rn)
            qn = sl_digits_add(q, q, qn, &one, 1);
        return sl_int_from_digits(s, q, qn, differ);
    }
    if (differ && rn)
        rn = sl_digits_sub(r, y->d, y->n, r, rn);
    return sl_int_from_digits(s, r, rn, y->negative);
}

static value divide_shorter(struct star *s, bool want_quotient, value a,
                            const struct sl_number *x,
                            const struct sl_number *y)
{
    if (want_quotient)
        return sl_word(x->n && x->negative != y->negative ? -1 : 0);
    if (!x->n || x->negative == y->negative)
        return a;
    return add(s, x, y, y->negative);
}

/* Which power of two it is; 0 when it is none. */
static uint32_t power_of_two(const struct sl_number *y)
{
    uint64_t top = y->d[y->n - 1];

    if (y->negative || (top & (top - 1)))
        return 0;
    for (uint32_t i = 0; i < y->n - 1; i++)
        if (y->d[i])
            return 0;
    return sl_digits_bits(y->d, y->n) - 1;
}

/* x % 2^bits: its lower bits. */
static value lower_bits(struct star *s, const struct sl_number *x,
                        const struct sl_number *y, uint32_t bits)
{
    uint64_t *r = sl_scratch_take(s, y->n);
    value v = 0;

    if (r && sl_charge(s, y->n / 16)) {
        memcpy(r, x->d, y->n * sizeof *r);
        r[y->n - 1] &= ((uint64_t)1 << bits % DIGIT_BITS) - 1;
        v = floored(s, false, x, y, NULL, r);
    }
    sl_scratch_give(s);
    return v;
}

/* Floored: of a negative one, what is lost makes it one further from 0. */
static value shift_right(struct star *s, const struct sl_number *x,
                         uint32_t bits)
{
    const uint64_t one = 1;
    uint64_t *r;
    bool lost;
    value v = 0;

    if (bits / DIGIT_BITS >= x->n)
        return sl_word(x->negative ? -1 : 0);
    if (!sl_charge(s, x->n / 16) || !(r = sl_scratch_take(s, x->n + 1)))
        return 0;
    uint32_t n = sl_digits_shr(r, x->d, x->n, bits, &lost);
    if (lost && x->negative) {
        r[n] = 0;
        n = sl_digits_add(r, r, n, &one, n ? 1 : 0);
        if (!n)
            r[n++] = 1;
    }
    v = sl_int_from_digits(s, r, n, x->negative);
    sl_scratch_give(s);
    return v;
}

static value divide(struct star *s, bool want_quotient, value a,
                    const struct sl_number *x, const struct sl_number *y)
{
    uint32_t qn = x->n - y->n + 1;
    value v = 0;

    if (sl_digits_compare(x->d, x->n, y->d, y->n) < 0)
        return divide_shorter(s, want_quotient, a, x, y);
    uint32_t bits = power_of_two(y);
    if (bits)
        return want_quotient ? shift_right(s, x, bits)
                             : lower_bits(s, x, y, bits);
    if (!want_quotient && y->n == 1) {
        if (!sl_charge(s, x->n / 4))
            return 0;
        const struct sl_divisor by = sl_divisor(*y->d);
        uint64_t r = sl_digits_div_small(NULL, x->d, x->n, &by);
        return floored(s, false, x, y, NULL, &r);
    }
    uint64_t *q =
        sl_scratch_take(s, qn + 1 + y->n + DIVIDE_SCRATCH(x->n, y->n));
    if (!q)
        return 0;
    uint64_t *r = q + qn + 1, *scratch = r + y->n;
    if (sl_charge(s, x->n / 4) &&
        sl_digits_divide(s, q, r, x->d, x->n, y->d, y->n, scratch))
        v = floored(s, want_quotient, x, y, q, r);
    sl_scratch_give(s);
    return v;
}

/* --- bits ---------------------------------------------------------------------------- */

/* Digit by digit as two's complement, whose sign goes on for ever. */
static value bitwise(struct star *s, enum sl_operator op,
                     const struct sl_number *x, const struct sl_number *y)
{
    uint32_t n = (x->n > y->n ? x->n : y->n) + 1;
    uint64_t few[STACK_DIGITS] = {0}, *r = few;
    struct sl_bigint *b = NULL;
    bool negative = op == OP_AND  ? x->negative && y->negative
                    : op == OP_OR ? x->negative || y->negative
                                  : x->negative != y->negative;
    uint64_t cx = x->negative, cy = y->negative, cr = negative;
    uint64_t fx = x->negative ? DIGIT_MASK : 0,
             fy = y->negative ? DIGIT_MASK : 0;
    uint64_t fr = negative ? DIGIT_MASK : 0;

    if (n > STACK_DIGITS) {
        if (!sl_charge(s, n / 16) || !(b = sl_int_room(s, n)))
            return 0;
        r = b->digits;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint64_t dx = ((i < x->n ? x->d[i] : 0) ^ fx) + cx;
        uint64_t dy = ((i < y->n ? y->d[i] : 0) ^ fy) + cy;
        cx = dx >> DIGIT_BITS;
        cy = dy >> DIGIT_BITS;
        uint64_t d = op == OP_AND ? dx & dy : op == OP_OR ? dx | dy : dx ^ dy;
        d = ((d & DIGIT_MASK) ^ fr) + cr;
        cr = d >> DIGIT_BITS;
        r[i] = d & DIGIT_MASK;
    }
    n = sl_digits_trim(r, n);
    return sl_int_settle(s, b, few, n, negative);
}

static value shift_left(struct star *s, const struct sl_number *x,
                        uint32_t bits)
{
    uint32_t n = x->n + bits / DIGIT_BITS + 1;
    uint64_t few[STACK_DIGITS];

    if (!x->n)
        return sl_word(0);
    if (n <= STACK_DIGITS)
        return sl_int_from_digits(s, few, sl_digits_shl(few, x->d, x->n, bits),
                                  x->negative);
    struct sl_bigint *b = sl_charge(s, n / 16) ? sl_int_room(s, n) : NULL;
    if (!b)
        return 0;
    n = sl_digits_shl(b->digits, x->d, x->n, bits);
    return sl_int_finish(s, b, n, x->negative);
}

static value shift(struct star *s, enum sl_operator op, value a, value b)
{
    struct sl_number x;
    int64_t bits;

    if (!sl_int_to_i64(b, &bits) || bits > INT32_MAX || bits < INT32_MIN) {
        struct sl_text t = {.s = s};
        if (sl_int_format(&t, b, 10, false) && !t.failed)
            sl_fail(s, "%.*s out of range", (int)t.length, t.p);
        sl_text_free(&t);
        return 0;
    }
    if (bits < 0)
        return sl_fail(s, "negative shift count: %lld", (long long)bits);
    if (op == OP_SHL && bits >= SHIFT_LIMIT)
        return sl_fail(s, "shift count too large: %lld", (long long)bits);
    if (op == OP_SHR && sl_is_int_word(a))
        return sl_word(sl_int_word(a) >> (bits < 63 ? bits : 63));
    sl_number_load(a, &x);
    return op == OP_SHL ? shift_left(s, &x, (uint32_t)bits)
                        : shift_right(s, &x, (uint32_t)bits);
}

/* --- all of them ------------------------------------------------------------------------ */

static value from_wide(struct star *s, __int128 n)
{
    unsigned __int128 m = n < 0 ? -(unsigned __int128)n : (unsigned __int128)n;
    uint64_t d[3] = {(uint64_t)m & DIGIT_MASK,
                     (uint64_t)(m >> DIGIT_BITS) & DIGIT_MASK,
                     (uint64_t)(m >> (2 * DIGIT_BITS))};

    return sl_int_from_digits(s, d, 3, n < 0);
}

static value division_by_zero(struct star *s, enum sl_operator op)
{
    return sl_fail(s, op == OP_MOD ? "integer modulo by zero"
                                   : "floored division by zero");
}

static value word_binary(struct star *s, enum sl_operator op, value a, value b)
{
    int64_t x = sl_int_word(a), y = sl_int_word(b);

    switch (op) {
    case OP_ADD:
        return sl_int(s, x + y);
    case OP_SUB:
        return sl_int(s, x - y);
    case OP_MUL:
        return from_wide(s, (__int128)x * y);
    case OP_FLOORDIV:
        return y ? sl_int(s, floor_div(x, y)) : division_by_zero(s, op);
    case OP_MOD:
        return y ? sl_word(floor_mod(x, y)) : division_by_zero(s, op);
    case OP_AND:
        return a & b;
    case OP_OR:
        return a | b;
    case OP_XOR:
        return (a ^ b) | 1;
    default:
        return shift(s, op, a, b);
    }
}

value sl_int_binary(struct star *s, enum sl_operator op, value a, value b)
{
    struct sl_number x, y;

    if (sl_is_int_word(a) && sl_is_int_word(b))
        return word_binary(s, op, a, b);
    if (op == OP_SHL || op == OP_SHR)
        return shift(s, op, a, b);
    sl_number_load(a, &x);
    sl_number_load(b, &y);
    switch (op) {
    case OP_ADD:
        return add(s, &x, &y, y.negative);
    case OP_SUB:
        return add(s, &x, &y, !y.negative);
    case OP_MUL:
        return mul(s, &x, &y);
    case OP_FLOORDIV:
    case OP_MOD:
        if (!y.n)
            return division_by_zero(s, op);
        return divide(s, op == OP_FLOORDIV, a, &x, &y);
    default:
        return bitwise(s, op, &x, &y);
    }
}
