#include "table.h"
#include "text.h"

/*
 * What is equal, what comes first, and hashes that agree with it. The C stack
 * grows with the nesting of values, which limits.value_depth bounds; structures
 * that share parts cost as many steps as they would have without sharing.
 */

static bool too_deep(struct star *s)
{
    sl_fail_as(s, STAR_ERROR_DEPTH,
               "comparison exceeded maximum recursion depth");
    return false;
}

static bool equal(struct star *s, value a, value b, unsigned depth, bool *out);

static bool items_equal(struct star *s, const value *a, const value *b,
                        uint32_t count, unsigned depth, bool *out)
{
    *out = true;
    for (uint32_t i = 0; i < count && *out; i++) {
        if (i % 256 == 0 && !sl_charge(s, count - i < 256 ? count - i : 256))
            return false;
        if (a[i] == b[i] && !sl_is_object(a[i]))
            continue;
        if (!equal(s, a[i], b[i], depth + 1, out))
            return false;
    }
    return true;
}

static bool tables_equal(struct star *s, value a, value b, unsigned depth,
                         bool *out)
{
    uint32_t i = 0;

    *out = true;
    for (struct sl_entry *e; *out && (e = sl_table_next(a, &i)); i++) {
        value other;
        if (!sl_charge(s, 1) || !sl_table_find(s, b, e->key, &other))
            return false;
        if (!other)
            *out = false;
        else if (!equal(s, e->value, other, depth + 1, out))
            return false;
    }
    return true;
}

static bool ranges_equal(const struct sl_range *a, const struct sl_range *b)
{
    return a->count == b->count &&
           (!a->count ||
            (a->start == b->start && (a->count == 1 || a->step == b->step)));
}

/* Both are objects of the same type that compares by content. */
static bool objects_equal(struct star *s, value a, value b, unsigned depth,
                          bool *out)
{
    if (depth > s->limits.value_depth)
        return too_deep(s);
    switch (sl_object(a)->type) {
    case T_TUPLE:
        *out = sl_tuple(a)->count == sl_tuple(b)->count;
        return !*out || items_equal(s, sl_tuple(a)->items, sl_tuple(b)->items,
                                    sl_tuple(a)->count, depth, out);
    case T_LIST:
        *out = sl_list(a)->count == sl_list(b)->count;
        return !*out || items_equal(s, sl_list(a)->items, sl_list(b)->items,
                                    sl_list(a)->count, depth, out);
    case T_DICT:
    case T_SET:
        *out = sl_table(a)->count == sl_table(b)->count;
        return !*out || tables_equal(s, a, b, depth, out);
    case T_RANGE:
        *out = ranges_equal(sl_range(a), sl_range(b));
        return true;
    case T_STRING_ELEMS:
    case T_BYTES_ELEMS:
        *out = sl_elems(a)->kind == sl_elems(b)->kind;
        return !*out ||
               equal(s, sl_elems(a)->string, sl_elems(b)->string, depth, out);
    default:
        *out = false;
        return true;
    }
}

/* The sign of a - b. Ints of a million bits take longer than a step. */
static int number_order(struct star *s, value a, value b)
{
    if (sl_is(a, T_INT) && sl_is(b, T_INT))
        sl_owe(s, sl_bigint(a)->used / 8);
    return sl_number_compare(a, b);
}

static bool equal(struct star *s, value a, value b, unsigned depth, bool *out)
{
    /* Lists are walked even if they are the same: cycles must show. */
    if (a == b &&
        !(sl_is(a, T_LIST) || sl_is(a, T_DICT) || sl_is(a, T_TUPLE))) {
        *out = true;
        return true;
    }
    enum sl_type x = sl_type(a), y = sl_type(b);
    if (x <= T_FLOAT || x != y) {
        bool numbers = (x == T_INT || x == T_FLOAT) &&
                       (y == T_INT || y == T_FLOAT) &&
                       !(sl_is_int_word(a) && sl_is_int_word(b));
        *out = numbers && number_order(s, a, b) == 0;
        return true;
    }
    if (x <= T_BYTES) {
        *out = sl_string(a)->length == sl_string(b)->length;
        if (!*out)
            return true;
        if (!sl_charge(s, sl_string(a)->length / 64))
            return false;
        *out = sl_text_equal(a, b);
        return true;
    }
    return objects_equal(s, a, b, depth, out);
}

bool sl_equal(struct star *s, value a, value b, bool *out)
{
    bool result;

    if (!equal(s, a, b, 1, &result))
        return false;
    *out = result;
    return true;
}

/* --- order --------------------------------------------------------------------- */

static bool by_sign(enum sl_operator op, int sign)
{
    switch (op) {
    case OP_EQ:
        return sign == 0;
    case OP_NE:
        return sign != 0;
    case OP_LT:
        return sign < 0;
    case OP_LE:
        return sign <= 0;
    case OP_GT:
        return sign > 0;
    default:
        return sign >= 0;
    }
}

/* Of lists or tuples: where the first items are that differ. */
static bool first_difference(struct star *s, value a, value b, unsigned depth,
                             uint32_t *at, uint32_t *an, uint32_t *bn)
{
    bool list = sl_is(a, T_LIST), same = true;
    const value *x = list ? sl_list(a)->items : sl_tuple(a)->items;
    const value *y = list ? sl_list(b)->items : sl_tuple(b)->items;
    uint32_t i = 0;

    *an = list ? sl_list(a)->count : sl_tuple(a)->count;
    *bn = list ? sl_list(b)->count : sl_tuple(b)->count;
    for (; i < *an && i < *bn; i++) {
        if (!sl_charge(s, 1) || !equal(s, x[i], y[i], depth + 1, &same))
            return false;
        if (!same)
            break;
    }
    *at = i;
    return true;
}

static value item(value v, uint32_t i)
{
    return sl_is(v, T_LIST) ? sl_list(v)->items[i] : sl_tuple(v)->items[i];
}

/* Of scalars: false when they have no order. */
static bool scalar_order(struct star *s, value a, value b, bool *ok, int *sign)
{
    enum sl_type x = sl_type(a), y = sl_type(b);

    *ok = true;
    if ((x == T_INT || x == T_FLOAT) && (y == T_INT || y == T_FLOAT)) {
        *sign = number_order(s, a, b);
        return true;
    }
    if (x != y)
        return false;
    if (x == T_BOOL) {
        *sign = (a == V_TRUE) - (b == V_TRUE);
        return true;
    }
    if (x != T_STRING && x != T_BYTES)
        return false;
    uint32_t n = sl_string(a)->length < sl_string(b)->length
                     ? sl_string(a)->length
                     : sl_string(b)->length;
    *ok = sl_charge(s, n / 64);
    *sign = *ok ? sl_text_compare(a, b) : 0;
    return true;
}

bool sl_compare(struct star *s, enum sl_operator op, value a, value b,
                bool *out)
{
    bool ok;
    int sign;

    if (op == OP_EQ || op == OP_NE) {
        bool same;
        if (!equal(s, a, b, 1, &same))
            return false;
        *out = same == (op == OP_EQ);
        return true;
    }
    /* The first items that differ decide; they may be lists themselves. */
    for (unsigned depth = 1;
         sl_type(a) == sl_type(b) && (sl_is(a, T_LIST) || sl_is(a, T_TUPLE));
         depth++) {
        uint32_t at, an, bn;
        if (depth > s->limits.value_depth)
            return too_deep(s);
        if (!first_difference(s, a, b, depth, &at, &an, &bn))
            return false;
        if (at == an || at == bn) {
            *out = by_sign(op, (an > bn) - (an < bn));
            return true;
        }
        a = item(a, at);
        b = item(b, at);
    }
    if (!scalar_order(s, a, b, &ok, &sign)) {
        sl_fail(s, "%s %s %s not implemented", sl_type_name(a),
                sl_operator_text(op), sl_type_name(b));
        return false;
    }
    if (!ok)
        return false;
    *out = by_sign(op, sign);
    return true;
}

/* --- hashes -------------------------------------------------------------------------- */

static bool hash(struct star *s, value v, unsigned depth, uint32_t *out);

/* Kept in the tuple, so that one which is reached in many ways counts once. */
static bool hash_tuple(struct star *s, value v, unsigned depth, uint32_t *out)
{
    struct sl_tuple *t = sl_tuple(v);
    uint64_t sum = 0x7475706c65; /* "tuple" */

    if (t->o.hash) {
        *out = t->o.hash;
        return true;
    }
    if (!sl_depth_ok(s, depth))
        return false;
    for (uint32_t i = 0; i < t->count; i++) {
        value item = t->items[i];
        uint32_t h;
        if (!sl_charge(s, 1))
            return false;
        if (sl_is_int_word(item)) /* the commonest need no call */
            h = sl_mix(s->hash_seed, item);
        else if (!hash(s, item, depth + 1, &h))
            return false;
        sum = (uint64_t)sl_mix(s->hash_seed, sum) << 32 | h;
    }
    t->o.hash = sl_mix(s->hash_seed, sum);
    if (!t->o.hash)
        t->o.hash = 1;
    *out = t->o.hash;
    return true;
}

static bool unhashable(struct star *s, value v)
{
    bool plain = sl_is(v, T_LIST) || sl_is(v, T_DICT) || sl_is(v, T_SET);

    sl_fail(s, plain ? "unhashable type: %s" : "unhashable: %s",
            sl_type_name(v));
    return false;
}

static bool hash(struct star *s, value v, unsigned depth, uint32_t *out)
{
    switch (sl_type(v)) {
    case T_NONE:
    case T_BOOL:
        *out = sl_mix(s->hash_seed, v);
        return true;
    case T_INT:
        *out = sl_int_hash(s, v);
        return true;
    case T_FLOAT:
        *out = sl_float_hash(s, sl_float_of(v));
        return true;
    case T_STRING:
    case T_BYTES:
        if (!sl_object(v)->hash && !sl_charge(s, sl_string(v)->length / 64))
            return false;
        *out = sl_text_hash(s, v);
        return true;
    case T_TUPLE:
        return hash_tuple(s, v, depth, out);
    case T_FUNCTION:
        *out = sl_mix(~s->hash_seed, sl_function(v)->number);
        return true;
    case T_BUILTIN:
        *out = sl_mix(~s->hash_seed, sl_builtin(v)->number);
        return true;
    default:
        return unhashable(s, v);
    }
}

bool sl_hash(struct star *s, value v, uint32_t *out)
{
    return hash(s, v, 1, out);
}
