#include "int.h"

#include <math.h>
#include <stddef.h>

#include "table.h"

/*
 * Ints of any size: a word if it fits in 63 bits, otherwise a struct sl_bigint.
 * Every result is normalized, so that equal small ints are identical words.
 */

_Static_assert(MP_DIGIT_BIT == 60 && sizeof(mp_digit) == sizeof(uint64_t),
               "libtommath must be built with digits of 60 bits");

#define SHIFT_LIMIT 512
/* Number of digits of libtommath's memory kept for the next result. */
#define RESULT_KEPT SL_RARE(1024, 4)

typedef __int128 wide;
typedef unsigned __int128 wide_unsigned;

/* --- libtommath's numbers --------------------------------------------------------- */

struct sl_scratch {
    mp_int result;
};

/* Checks that the budget has room for `digits` that libtommath is about to
 * allocate, by charging and releasing them. */
static bool sl_int_library_memory(struct star *s, size_t digits)
{
    void *p = sl_storage(s, digits * sizeof(mp_digit));

    sl_storage_free(s, p, digits * sizeof(mp_digit));
    return p;
}

mp_int *sl_int_room(struct star *s, size_t n)
{
    if (s->scratch && s->scratch->result.alloc > RESULT_KEPT &&
        n <= RESULT_KEPT)
        sl_int_close(s);
    if (!s->scratch && (s->scratch = sl_storage(s, sizeof *s->scratch)))
        memset(s->scratch, 0, sizeof *s->scratch);
    if (!s->scratch || !sl_charge(s, n / 16))
        return NULL;
    mp_int *r = &s->scratch->result;
    if (r->alloc >= (int)n)
        return r;
    if (!sl_int_library_memory(s, n))
        return NULL;
    mp_err e = r->dp ? mp_grow(r, (int)n) : mp_init_size(r, (int)n);
    SL_UNPOISON(r, sizeof *r);
    if (e == MP_OKAY)
        return r;
    sl_fail_memory(s, n * sizeof(mp_digit));
    return NULL;
}

void sl_int_close(struct star *s)
{
    if (!s->scratch)
        return;
    mp_clear(&s->scratch->result);
    sl_storage_free(s, s->scratch, sizeof *s->scratch);
    s->scratch = NULL;
}

/* --- one form for each int -------------------------------------------------------- */

uint32_t sl_digits_trim(const uint64_t *a, uint32_t n)
{
    while (n && !a[n - 1])
        n--;
    return n;
}

mp_int sl_digits_view(const uint64_t *d, uint32_t n)
{
    n = sl_digits_trim(d, n);
    return (mp_int){.used = (int)n,
                    .alloc = (int)n,
                    .sign = MP_ZPOS,
                    .dp = (mp_digit *)(uintptr_t)d};
}

mp_int sl_int_view(value v, uint64_t few[2])
{
    const struct sl_bigint *b = sl_bigint(v);
    mp_int view = {.dp = few};
    bool negative;

    if (sl_is_int_word(v)) {
        int64_t i = sl_int_word(v);
        uint64_t m = i < 0 ? -(uint64_t)i : (uint64_t)i;
        few[0] = m & DIGIT_MASK;
        few[1] = m >> DIGIT_BITS;
        view.used = few[1] ? 2 : m != 0;
        negative = i < 0;
    } else {
        view.dp = (mp_digit *)(uintptr_t)b->digits;
        view.used = (int)b->used;
        negative = b->negative;
    }
    view.alloc = view.used;
    view.sign = negative ? MP_NEG : MP_ZPOS;
    return view;
}

value sl_int_too_large(struct star *s)
{
    return sl_fail(s, "int too large: more than %u bits", SL_INT_MAX_BITS);
}

value sl_int_from_digits(struct star *s, const uint64_t *d, uint32_t n,
                         bool negative)
{
    const size_t header = offsetof(struct sl_bigint, digits);
    const mp_int view = sl_digits_view(d, n);

    n = (uint32_t)view.used;
    if (n < 2 || (n == 2 && d[1] <= 4)) {
        uint64_t m = (n > 0 ? d[0] : 0) | (n > 1 ? d[1] << DIGIT_BITS : 0);
        if (m <= (uint64_t)SL_INT_WORD_MAX + negative)
            return sl_word(negative ? -(int64_t)m : (int64_t)m);
    }
    if (n > SL_INT_MAX_BITS / DIGIT_BITS &&
        (uint32_t)mp_count_bits(&view) > SL_INT_MAX_BITS)
        return sl_int_too_large(s);
    struct sl_bigint *b =
        sl_alloc_part(s, T_INT, header + n * sizeof *d, header);
    if (!b)
        return 0;
    memcpy(b->digits, d, n * sizeof *d);
    b->used = n;
    b->negative = negative;
    return sl_value(b);
}

/* Returns the value of a number that libtommath computed with result `e`. */
static value sl_int_finish(struct star *s, mp_int *r, mp_err e)
{
    SL_UNPOISON(r, sizeof *r);
    if (e != MP_OKAY)
        return sl_fail_memory(s, (size_t)r->alloc * sizeof *r->dp);
    SL_UNPOISON(r->dp, (size_t)r->used * sizeof *r->dp);
    return sl_int_from_digits(s, r->dp, (uint32_t)r->used, r->sign == MP_NEG);
}

/* Returns an int object for a magnitude of at least 2^62. */
static value wide_object(struct star *s, wide_unsigned m, bool negative)
{
    enum { HEADER = offsetof(struct sl_bigint, digits) };
    const bool three = m >> (2 * DIGIT_BITS);
    struct sl_bigint *b =
        three ? sl_alloc_small(s, T_INT, HEADER + 3 * sizeof(uint64_t), HEADER)
              : sl_alloc_small(s, T_INT, HEADER + 2 * sizeof(uint64_t), HEADER);

    SL_ASSERT(m > (wide_unsigned)SL_INT_WORD_MAX);
    if (!b)
        return 0;
    b->used = three ? 3 : 2;
    b->negative = negative;
    b->digits[0] = (uint64_t)m & DIGIT_MASK;
    b->digits[1] = (uint64_t)(m >> DIGIT_BITS) & DIGIT_MASK;
    if (three)
        b->digits[2] = (uint64_t)(m >> (2 * DIGIT_BITS));
    return sl_value(b);
}

static value from_wide(struct star *s, wide n)
{
    if (n >= SL_INT_WORD_MIN && n <= SL_INT_WORD_MAX)
        return sl_word((int64_t)n);
    return n < 0 ? wide_object(s, -(wide_unsigned)n, true)
                 : wide_object(s, (wide_unsigned)n, false);
}

/* Returns false if `v` has more than 127 bits. */
static bool to_wide(value v, wide *out)
{
    const struct sl_bigint *b = sl_bigint(v);
    wide_unsigned m;

    if (sl_is_int_word(v)) {
        *out = sl_int_word(v);
        return true;
    }
    if (b->used > 3 || (b->used == 3 && b->digits[2] >> (127 - 2 * DIGIT_BITS)))
        return false;
    m = (wide_unsigned)b->digits[1] << DIGIT_BITS | b->digits[0];
    if (b->used == 3)
        m |= (wide_unsigned)b->digits[2] << (2 * DIGIT_BITS);
    *out = b->negative ? -(wide)m : (wide)m;
    return true;
}

value sl_int(struct star *s, int64_t n)
{
    if (n >= SL_INT_WORD_MIN && n <= SL_INT_WORD_MAX)
        return sl_word(n);
    return from_wide(s, n);
}

value sl_int_u64(struct star *s, uint64_t n)
{
    return from_wide(s, n);
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
    uint64_t few[2][2];
    wide m, n;

    if (sl_is_int_word(a) && sl_is_int_word(b))
        return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
    if (to_wide(a, &m) && to_wide(b, &n))
        return (m > n) - (m < n);
    const mp_int x = sl_int_view(a, few[0]), y = sl_int_view(b, few[1]);
    return mp_cmp(&x, &y);
}

uint32_t sl_digits_hash(uint64_t seed, const uint64_t *d, uint32_t n,
                        bool negative)
{
    uint64_t sum = negative;

    n = sl_digits_trim(d, n);
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

/* The two highest digits have more bits than a double; of the digits below, it
 * only matters whether any is nonzero. */
bool sl_int_to_double(struct star *s, value v, double *out)
{
    const struct sl_bigint *b = sl_bigint(v);

    if (sl_is_int_word(v)) {
        *out = (double)sl_int_word(v);
        return true;
    }
    const uint64_t *top = b->digits + b->used - 2;
    unsigned __int128 m = (unsigned __int128)top[1] << DIGIT_BITS | top[0];
    double d = INFINITY;
    if (b->used <= DOUBLE_DIGITS) {
        m |= sl_digits_trim(b->digits, b->used - 2) != 0;
        d = ldexp((double)m, (int)((b->used - 2) * DIGIT_BITS));
    }
    if (isinf(d)) {
        sl_fail(s, "int too large to convert to float");
        return false;
    }
    *out = b->negative ? -d : d;
    return true;
}

uint32_t sl_digits_from_double(uint64_t d[static DOUBLE_DIGITS],
                               double magnitude)
{
    int exponent;
    uint64_t m = (uint64_t)ldexp(frexp(magnitude, &exponent), 53);
    uint32_t shift = (uint32_t)exponent - 53, at = shift / DIGIT_BITS;
    unsigned __int128 t = (unsigned __int128)m << shift % DIGIT_BITS;

    memset(d, 0, at * sizeof *d);
    d[at] = (uint64_t)t & DIGIT_MASK;
    d[at + 1] = (uint64_t)(t >> DIGIT_BITS);
    return at + 2;
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

/* --- arithmetic on large ones ---------------------------------------------------------- */

value sl_int_negate(struct star *s, value v)
{
    const struct sl_bigint *b = sl_bigint(v);

    if (sl_is_int_word(v))
        return sl_int(s, -sl_int_word(v));
    if (!sl_charge(s, b->used / 16))
        return 0;
    return sl_int_from_digits(s, b->digits, b->used, !b->negative);
}

static value division_by_zero(struct star *s, enum sl_operator op)
{
    return sl_fail(s, op == OP_MOD ? "integer modulo by zero"
                                   : "floored division by zero");
}

static mp_err product(const mp_int *x, const mp_int *y, mp_int *r)
{
    if (x->dp == y->dp) /* both are the same object */
        return mp_sqr(x, r);
    if (x->used > 1 && y->used > 1)
        return mp_mul(x, y, r);
    /* mp_mul_d sets the sign of r to that of its operand. */
    mp_err e =
        x->used > 1 ? mp_mul_d(x, y->dp[0], r) : mp_mul_d(y, x->dp[0], r);
    r->sign = x->sign == y->sign || !r->used ? MP_ZPOS : MP_NEG;
    return e;
}

static value multiply(struct star *s, const mp_int *x, const mp_int *y)
{
    size_t xn = (size_t)x->used, yn = (size_t)y->used;

    if (!xn || !yn)
        return sl_word(0);
    if (xn + yn > SL_INT_MAX_BITS / DIGIT_BITS &&
        mp_count_bits(x) + mp_count_bits(y) > (int)SL_INT_MAX_BITS + 1)
        return sl_int_too_large(s);
    if (!sl_charge(s, xn * yn / 16) ||
        (xn + yn > 96 && !sl_int_library_memory(s, 12 * (xn > yn ? xn : yn))))
        return 0;
    mp_int *r = sl_int_room(s, xn + yn + 1);
    return r ? sl_int_finish(s, r, product(x, y, r)) : 0;
}

/* Turns q and r, the quotient and remainder of the magnitudes, into the floored
 * results: if the signs differ and the remainder is nonzero, the quotient moves
 * one away from 0 and the remainder changes its side of 0. */
static value floored(struct star *s, enum sl_operator op, const mp_int *x,
                     const mp_int *y, mp_int q, mp_int r)
{
    bool differ = x->sign != y->sign, beyond = differ && r.used;
    mp_int *out;
    mp_err e;

    if (op == OP_MOD && !beyond)
        return sl_int_from_digits(s, r.dp, (uint32_t)r.used, y->sign == MP_NEG);
    if (op == OP_FLOORDIV && !beyond)
        return sl_int_from_digits(s, q.dp, (uint32_t)q.used, differ);
    if (!(out = sl_int_room(s, (size_t)(q.used + y->used) + 1)))
        return 0;
    if (op == OP_MOD) {
        r.sign = y->sign;
        e = mp_sub(y, &r, out);
    } else {
        e = mp_add_d(&q, 1, out);
        out->sign = MP_NEG;
    }
    return sl_int_finish(s, out, e);
}

static value divide(struct star *s, enum sl_operator op, const mp_int *x,
                    const mp_int *y)
{
    uint32_t xn = (uint32_t)x->used, yn = (uint32_t)y->used;
    if (xn < yn)
        return floored(s, op, x, y, sl_digits_view(NULL, 0),
                       sl_digits_view(x->dp, xn));

    uint64_t few[64];
    uint32_t qn = xn - yn + 1;
    size_t n = qn + yn + DIVIDE_SCRATCH(xn, yn), size = n * sizeof *few;
    uint64_t *q = few, *r;
    if (!sl_charge(s, xn / 4))
        return 0;
    if (n > sizeof few / sizeof *few && !(q = sl_storage(s, size)))
        return 0;
    r = q + qn;
    value v = 0;
    if (sl_digits_divide(s, q, r, x->dp, xn, y->dp, yn, r + yn))
        v = floored(s, op, x, y, sl_digits_view(q, qn), sl_digits_view(r, yn));
    if (q != few)
        sl_storage_free(s, q, size);
    return v;
}

static value large_shift(struct star *s, enum sl_operator op, value a, int bits)
{
    uint64_t few[2];
    const mp_int x = sl_int_view(a, few);
    mp_int *r = sl_int_room(s, (size_t)x.used + SHIFT_LIMIT / DIGIT_BITS + 2);

    if (!r)
        return 0;
    return sl_int_finish(s, r,
                         op == OP_SHL ? mp_mul_2d(&x, bits, r)
                                      : mp_signed_rsh(&x, bits, r));
}

static value large_binary(struct star *s, enum sl_operator op, value a, value b)
{
    uint64_t few[2][2];
    const mp_int x = sl_int_view(a, few[0]), y = sl_int_view(b, few[1]);

    if (op == OP_MUL)
        return multiply(s, &x, &y);
    if (op == OP_FLOORDIV || op == OP_MOD)
        return divide(s, op, &x, &y);
    mp_int *r = sl_int_room(s, (size_t)(x.used > y.used ? x.used : y.used) + 2);
    if (!r)
        return 0;
    return sl_int_finish(s, r,
                         op == OP_ADD   ? mp_add(&x, &y, r)
                         : op == OP_SUB ? mp_sub(&x, &y, r)
                         : op == OP_AND ? mp_and(&x, &y, r)
                         : op == OP_OR  ? mp_or(&x, &y, r)
                                        : mp_xor(&x, &y, r));
}

/* --- words, and up to 127 bits ---------------------------------------------------- */

static value shift(struct star *s, enum sl_operator op, value a, value b)
{
    int64_t bits;
    wide n;

    if (!sl_int_to_i64(b, &bits) || bits > INT32_MAX || bits < INT32_MIN)
        return sl_int_fail(s, "", b, " out of range");
    if (bits < 0)
        return sl_fail(s, "negative shift count: %lld", (long long)bits);
    if (op == OP_SHL && bits >= SHIFT_LIMIT)
        return sl_fail(s, "shift count too large: %lld", (long long)bits);
    if (op == OP_SHR && to_wide(a, &n))
        return from_wide(s, n >> (bits < 127 ? bits : 127));
    if (op == OP_SHL && bits <= 64 && sl_is_int_word(a))
        return from_wide(s, sl_int_word(a) * ((wide)1 << bits));
    return large_shift(s, op, a, (int)bits);
}

static value divide_words(struct star *s, enum sl_operator op, int64_t x,
                          int64_t y)
{
    int64_t q = x / y, r = x % y;

    if (r && (r < 0) != (y < 0)) {
        q--;
        r += y;
    }
    return op == OP_MOD ? sl_word(r) : sl_int(s, q);
}

static unsigned bits_of(wide n)
{
    wide_unsigned m = n < 0 ? -(wide_unsigned)n : (wide_unsigned)n;
    uint64_t high = (uint64_t)(m >> 64), low = (uint64_t)m;

    return high  ? 128 - (unsigned)__builtin_clzll(high)
           : low ? 64 - (unsigned)__builtin_clzll(low)
                 : 0;
}

/* Computes on two ints of at most 127 bits; for divisions `y` is not 0. Returns
 * false if the result may exceed 127 bits. */
static bool wide_binary(enum sl_operator op, wide x, wide y, wide *r)
{
    switch (op) {
    case OP_ADD:
        return !__builtin_add_overflow(x, y, r);
    case OP_SUB:
        return !__builtin_sub_overflow(x, y, r);
    case OP_MUL:
        if (bits_of(x) + bits_of(y) > 127)
            return false;
        *r = x * y;
        return true;
    case OP_FLOORDIV:
        *r = x / y;
        *r -= *r * y != x && (x < 0) != (y < 0);
        return true;
    case OP_MOD:
        *r = x % y;
        *r += *r && (*r < 0) != (y < 0) ? y : 0;
        return true;
    case OP_AND:
        *r = x & y;
        return true;
    case OP_OR:
        *r = x | y;
        return true;
    default:
        *r = x ^ y;
        return true;
    }
}

value sl_int_binary(struct star *s, enum sl_operator op, value a, value b)
{
    const bool divides = op == OP_FLOORDIV || op == OP_MOD;
    wide x, y, r;

    if (op == OP_SHL || op == OP_SHR)
        return shift(s, op, a, b);
    if (divides && b == sl_word(0))
        return division_by_zero(s, op);
    if (sl_is_int_word(a) && sl_is_int_word(b) && divides)
        return divide_words(s, op, sl_int_word(a), sl_int_word(b));
    if (to_wide(a, &x) && to_wide(b, &y) && wide_binary(op, x, y, &r))
        return from_wide(s, r);
    return large_binary(s, op, a, b);
}
