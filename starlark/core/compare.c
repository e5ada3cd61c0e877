#include "table.h"
#include "text.h"

/*
 * Equality, order, and consistent hashes. Recursion depth on the C stack
 * follows the nesting of values, bounded by limits.value_depth. A structure
 * with shared parts costs as many steps as a copy without sharing.
 */

static bool too_deep(struct star *s)
{
    sl_fail_as(s, STAR_ERROR_DEPTH,
               "comparison exceeded maximum recursion depth");
    return false;
}

static bool equal(struct star *s, value a, value b, unsigned depth, bool *out);

static bool items_equal(struct star *s, struct sl_items a, struct sl_items b,
                        unsigned depth, bool *out)
{
    *out = a.count == b.count;
    for (uint32_t i = 0; *out && i < a.count; i++) {
        uint32_t left = a.count - i;
        if (i % 256 == 0 && !sl_charge(s, left < 256 ? left : 256))
            return false;
        if (a.p[i] == b.p[i] && !sl_is_object(a.p[i]))
            continue;
        if (!equal(s, a.p[i], b.p[i], depth + 1, out))
            return false;
    }
    return true;
}

static bool tables_equal(struct star *s, value a, value b, unsigned depth,
                         bool *out)
{
    uint32_t i = 0;

    *out = sl_table(a)->count == sl_table(b)->count;
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

/* Compares two objects of the same type that compares by content. */
static bool objects_equal(struct star *s, value a, value b, unsigned depth,
                          bool *out)
{
    if (depth > s->limits.value_depth)
        return too_deep(s);
    switch (sl_object(a)->type) {
    case T_TUPLE:
    case T_LIST:
        return items_equal(s, sl_items(a), sl_items(b), depth, out);
    case T_DICT:
    case T_SET:
        return tables_equal(s, a, b, depth, out);
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

/* Returns the sign of a - b. Comparing large ints is charged by size. */
static int number_order(struct star *s, value a, value b)
{
    if (sl_is(a, T_INT) && sl_is(b, T_INT))
        sl_owe(s, sl_bigint(a)->used / 8);
    return sl_number_compare(a, b);
}

static bool equal(struct star *s, value a, value b, unsigned depth, bool *out)
{
    /* Lists are walked even if identical, so that cycles are detected. */
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

/* Compares two scalars; the result is negative, 0 or positive. */
static bool scalar_order(struct star *s, enum sl_operator op, value a, value b,
                         int *sign)
{
    enum sl_type x = sl_type(a), y = sl_type(b);

    if ((x == T_INT || x == T_FLOAT) && (y == T_INT || y == T_FLOAT)) {
        *sign = number_order(s, a, b);
        return true;
    }
    if (x == T_BOOL && y == T_BOOL) {
        *sign = (a == V_TRUE) - (b == V_TRUE);
        return true;
    }
    if (x != y || (x != T_STRING && x != T_BYTES)) {
        sl_fail(s, "%s %s %s not implemented", sl_type_name(a),
                sl_operator_text(op), sl_type_name(b));
        return false;
    }
    uint32_t n = sl_string(a)->length, m = sl_string(b)->length;
    if (!sl_charge(s, (n < m ? n : m) / 64))
        return false;
    *sign = sl_text_compare(a, b);
    return true;
}

/* Finds the first position at which the items differ. */
static bool first_difference(struct star *s, struct sl_items x,
                             struct sl_items y, unsigned depth, uint32_t *at)
{
    bool same = true;

    for (*at = 0; *at < x.count && *at < y.count; ++*at) {
        if (!sl_charge(s, 1) || !equal(s, x.p[*at], y.p[*at], depth + 1, &same))
            return false;
        if (!same)
            break;
    }
    return true;
}

/* Like scalar_order for values of any type: the first differing items decide,
 * which may themselves be sequences. */
static bool order(struct star *s, enum sl_operator op, value a, value b,
                  int *sign)
{
    for (unsigned depth = 1;
         sl_type(a) == sl_type(b) && (sl_is(a, T_LIST) || sl_is(a, T_TUPLE));
         depth++) {
        const struct sl_items x = sl_items(a), y = sl_items(b);
        uint32_t at;
        if (depth > s->limits.value_depth)
            return too_deep(s);
        if (!first_difference(s, x, y, depth, &at))
            return false;
        if (at == x.count || at == y.count) {
            *sign = (x.count > y.count) - (x.count < y.count);
            return true;
        }
        a = x.p[at];
        b = y.p[at];
    }
    return scalar_order(s, op, a, b, sign);
}

bool sl_compare(struct star *s, enum sl_operator op, value a, value b,
                bool *out)
{
    bool same;
    int sign;

    if (op == OP_EQ || op == OP_NE) {
        if (!equal(s, a, b, 1, &same))
            return false;
        *out = same == (op == OP_EQ);
        return true;
    }
    if (!order(s, op, a, b, &sign))
        return false;
    *out = op == OP_LT   ? sign < 0
           : op == OP_LE ? sign <= 0
           : op == OP_GT ? sign > 0
                         : sign >= 0;
    return true;
}

/* --- hashes -------------------------------------------------------------------------- */

static bool hash(struct star *s, value v, unsigned depth, uint32_t *out);

/* Hashes a tuple. The hash is cached in it, so that a shared tuple is hashed
 * once. */
static bool hash_tuple(struct star *s, value v, unsigned depth, uint32_t *out)
{
    struct sl_tuple *t = sl_tuple(v);
    uint64_t sum = 0x7475706c65; /* ASCII "tuple" */

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
        if (sl_is_int_word(item)) /* fast path for small ints */
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
    case T_OBJECT:
        *out = sl_mix(~s->hash_seed, sl_host_object(v)->number);
        return true;
    default:
        return unhashable(s, v);
    }
}

bool sl_hash(struct star *s, value v, uint32_t *out)
{
    return hash(s, v, 1, out);
}
