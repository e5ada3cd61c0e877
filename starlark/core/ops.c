#include <math.h>
#include <stdio.h>

#include "table.h"

/* Operators by type: truth, length, arithmetic, membership. Comparison and
 * hashing are in compare.c, arithmetic on ints in int.c, concatenation and
 * repetition of sequences in sequence.c. */

#define REPEAT_MAX_ITEMS ((uint64_t)1 << 30)

bool sl_truth(value v)
{
    switch (sl_type(v)) {
    case T_NONE:
        return false;
    case T_BOOL:
        return v == V_TRUE;
    case T_INT: /* 0 is a word, not an object */
        return v != sl_word(0);
    case T_FLOAT:
        return sl_float_of(v) != 0;
    default:
        return sl_type(v) > T_RANGE || sl_len(v) > 0;
    }
}

int64_t sl_len(value v)
{
    switch (sl_type(v)) {
    case T_STRING:
    case T_BYTES:
        return sl_string(v)->length;
    case T_TUPLE:
        return sl_tuple(v)->count;
    case T_LIST:
        return sl_list(v)->count;
    case T_DICT:
    case T_SET:
        return sl_table(v)->count;
    case T_RANGE:
        return sl_range(v)->count <= INT64_MAX ? (int64_t)sl_range(v)->count
                                               : INT64_MAX;
    case T_STRING_ELEMS:
        if (sl_elems(v)->kind == ELEMS_CHARS || sl_elems(v)->kind == ELEMS_ORDS)
            return sl_string(sl_elems(v)->string)->length;
        return -1;
    default:
        return -1;
    }
}

/* --- errors ------------------------------------------------------------------ */

/* Whether a hint should suggest str(v). */
static bool no_text(value v)
{
    enum sl_type type = sl_type(v);

    return type <= T_FLOAT || (type >= T_TUPLE && type <= T_SET);
}

static value unknown_op(struct star *s, enum sl_operator op, value a, value b)
{
    sl_fail(s, "unknown binary op: %s %s %s", sl_type_name(a),
            sl_operator_text(op), sl_type_name(b));
    if (op == OP_ADD && (no_text(a) || no_text(b)) &&
        (sl_is(a, T_STRING) || sl_is(b, T_STRING)))
        sl_hint(s, "write str(x) for what is not a string");
    return 0;
}

/* --- membership ----------------------------------------------------------------- */

static bool in_items(struct star *s, value needle, struct sl_items all,
                     bool *out)
{
    bool found = false;

    for (uint32_t i = 0; i < all.count && !found; i++) {
        uint32_t left = all.count - i;
        if (i % 256 == 0 && !sl_charge(s, left < 256 ? left : 256))
            return false;
        if (!sl_equal(s, all.p[i], needle, &found))
            return false;
    }
    *out = found;
    return true;
}

static bool in_text(struct star *s, const struct sl_string *hay, const char *p,
                    size_t length, bool *out)
{
    int64_t at = sl_text_find(s, hay->p, hay->length, p, length);

    if (at == -2)
        return false;
    *out = at >= 0;
    return true;
}

static bool in_bytes(struct star *s, value needle, value bytes, bool *out)
{
    int64_t n;
    char byte;

    if (sl_is(needle, T_BYTES))
        return in_text(s, sl_string(bytes), sl_string(needle)->p,
                       sl_string(needle)->length, out);
    if (sl_type(needle) != T_INT) {
        sl_fail(s, "'in bytes' requires bytes or int as left operand, not %s",
                sl_type_name(needle));
        return false;
    }
    if (!sl_int_to_i64(needle, &n) || n < 0 || n > 255) {
        sl_int_fail(s, "int in bytes: ", needle,
                    " out of range (want value in unsigned 8-bit range)");
        return false;
    }
    byte = (char)n;
    return in_text(s, sl_string(bytes), &byte, 1, out);
}

/* A float is truncated to an int. */
static bool in_range(struct star *s, value needle, const struct sl_range *r,
                     bool *out)
{
    int64_t n;

    if (sl_type(needle) == T_FLOAT && isfinite(sl_float_of(needle))) {
        needle = sl_int_from_double(s, sl_float_of(needle));
        if (!needle)
            return false;
    }
    if (sl_type(needle) != T_INT) {
        sl_fail(s, "'in <range>' requires integer as left operand, not %s",
                sl_type_name(needle));
        return false;
    }
    *out = false;
    if (!r->count || !sl_int_to_i64(needle, &n))
        return true;
    /* Computed as unsigned number of steps from the start, without overflow. */
    uint64_t distance = r->step > 0 ? (uint64_t)n - (uint64_t)r->start
                                    : (uint64_t)r->start - (uint64_t)n;
    uint64_t step = r->step > 0 ? (uint64_t)r->step : -(uint64_t)r->step;
    bool ahead = r->step > 0 ? n >= r->start : n <= r->start;
    *out = ahead && distance % step == 0 && distance / step < r->count;
    return true;
}

bool sl_in(struct star *s, value needle, value haystack, bool *out)
{
    value found;

    switch (sl_type(haystack)) {
    case T_STRING:
        if (!sl_is(needle, T_STRING)) {
            sl_fail(s, "'in <string>' requires string as left operand, not %s",
                    sl_type_name(needle));
            return false;
        }
        return in_text(s, sl_string(haystack), sl_string(needle)->p,
                       sl_string(needle)->length, out);
    case T_BYTES:
        return in_bytes(s, needle, haystack, out);
    case T_LIST:
    case T_TUPLE:
        return in_items(s, needle, sl_items(haystack), out);
    case T_DICT:
    case T_SET:
        if (!sl_table_find(s, haystack, needle, &found))
            return false;
        *out = found != 0;
        return true;
    case T_RANGE:
        return in_range(s, needle, sl_range(haystack), out);
    default:
        unknown_op(s, OP_IN, needle, haystack);
        return false;
    }
}

/* --- sequences --------------------------------------------------------------------- */

static bool is_sequence(value v)
{
    return sl_type(v) >= T_STRING && sl_type(v) <= T_LIST;
}

static value add(struct star *s, value a, value b, bool in_place)
{
    if (in_place && sl_is(a, T_LIST) && sl_is_iterable(b)) {
        bool ok = sl_may_change(s, a, "apply += to") && sl_list_extend(s, a, b);
        return ok ? a : 0;
    }
    if (!is_sequence(a) || sl_type(a) != sl_type(b))
        return unknown_op(s, OP_ADD, a, b);
    return sl_type(a) <= T_BYTES ? sl_string_concat(s, a, b)
                                 : sl_concat(s, a, b);
}

static value multiply(struct star *s, value a, value b)
{
    value from = is_sequence(a) ? a : b, times = is_sequence(a) ? b : a;
    int64_t n = 0;

    if (!is_sequence(from) || sl_type(times) != T_INT)
        return unknown_op(s, OP_MUL, a, b);
    uint64_t unit = (uint64_t)sl_len(from), count;
    if (unit) {
        if (!sl_int_to_i64(times, &n) || n > INT32_MAX || n < INT32_MIN)
            return sl_int_fail(s, "repeat count ", times, " too large");
        if (n < 0)
            n = 0;
        if (__builtin_mul_overflow(unit, (uint64_t)n, &count) ||
            count >= REPEAT_MAX_ITEMS)
            return sl_fail(s, "excessive repeat (%llu * %lld elements)",
                           (unsigned long long)unit, (long long)n);
    }
    return sl_repeat(s, from, (size_t)n);
}

/* --- dicts and sets ------------------------------------------------------------------- */

static bool can_combine(enum sl_operator op, value a, value b)
{
    if (sl_is(a, T_DICT))
        return sl_is(b, T_DICT) && op == OP_OR;
    return sl_is(a, T_SET) && sl_is(b, T_SET) &&
           (op == OP_OR || op == OP_AND || op == OP_SUB || op == OP_XOR);
}

static value combine(struct star *s, enum sl_operator op, value a, value b,
                     bool in_place)
{
    char verb[16];

    if (in_place) {
        snprintf(verb, sizeof verb, "apply %s= to", sl_operator_text(op));
        bool ok = sl_may_change(s, a, verb) && sl_table_combine(s, op, a, b);
        return ok ? a : 0;
    }
    struct sl_scope scope = sl_native_enter(s);
    size_t count = sl_table(a)->count;
    value v = sl_is(a, T_DICT) ? sl_dict_new(s, count) : sl_set_new(s, count);
    bool ok =
        v && sl_table_combine(s, OP_OR, v, a) && sl_table_combine(s, op, v, b);
    sl_native_leave(s, scope);
    if (ok && s->native) /* caller creates more objects before it returns */
        ok = sl_hold(s, v);
    return ok ? v : 0;
}

/* --- numbers --------------------------------------------------------------------------- */

static bool is_number(value v)
{
    return sl_type(v) == T_INT || sl_type(v) == T_FLOAT;
}

static bool as_double(struct star *s, value v, double *out)
{
    if (sl_type(v) == T_INT)
        return sl_int_to_double(s, v, out);
    *out = sl_float_of(v);
    return true;
}

/* `op` is one of ADD to MOD. At least one operand is a float, or both are ints
 * and `op` is a division. */
static value float_binary(struct star *s, enum sl_operator op, value a, value b)
{
    double x, y, z;

    if (!as_double(s, a, &x) || !as_double(s, b, &y))
        return 0;
    if (y == 0 && op >= OP_DIV)
        return sl_fail(s, "%s by zero",
                       op == OP_DIV   ? "floating-point division"
                       : op == OP_MOD ? "floating-point modulo"
                                      : "floored division");
    switch (op) {
    case OP_ADD:
        return sl_float(s, x + y);
    case OP_SUB:
        return sl_float(s, x - y);
    case OP_MUL:
        return sl_float(s, x * y);
    case OP_DIV:
        return sl_float(s, x / y);
    case OP_FLOORDIV:
        return sl_float(s, floor(x / y));
    default:
        z = fmod(x, y);
        return sl_float(s, z != 0 && (x < 0) != (y < 0) ? z + y : z);
    }
}

value sl_binary(struct star *s, enum sl_operator op, value a, value b,
                bool in_place)
{
    bool int_left = sl_type(a) == T_INT;
    double ignored;

    if (int_left && sl_type(b) == T_INT && op != OP_DIV)
        return sl_int_binary(s, op, a, b);
    if (is_number(a) && is_number(b) && op <= OP_MOD)
        return float_binary(s, op, a, b);
    if (can_combine(op, a, b))
        return combine(s, op, a, b, in_place);
    if (op == OP_ADD)
        return add(s, a, b, in_place);
    if (op == OP_MUL)
        return multiply(s, a, b);
    if (op == OP_MOD && sl_is(a, T_STRING))
        return sl_format_percent(s, a, b);
    if ((op == OP_SHL || op == OP_SHR) && int_left)
        return sl_fail(s, "got %s, want int", sl_type_name(b));
    /* Division by zero is reported before an int that is too large. */
    if (op == OP_DIV && int_left && !as_double(s, a, &ignored))
        return 0;
    return unknown_op(s, op, a, b);
}

value sl_unary(struct star *s, enum sl_operator op, value v)
{
    enum sl_type type = sl_type(v);

    if (type == T_INT) {
        if (op == OP_POS)
            return v;
        if (op == OP_NEG)
            return sl_int_negate(s, v);
        return sl_int_binary(s, OP_XOR, v, sl_word(-1));
    }
    if (type == T_FLOAT && op == OP_POS)
        return v;
    if (type == T_FLOAT && op == OP_NEG)
        return sl_float(s, -sl_float_of(v));
    return sl_fail(s, "unknown unary op: %s %s", sl_operator_text(op),
                   sl_type_name(v));
}
