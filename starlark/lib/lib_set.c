#include "../core/table.h"
#include "lib.h"

static bool want_iterables(struct star *s, const struct sl_call *c,
                           uint32_t min, uint32_t max)
{
    if (!sl_want_args(s, c, min, max))
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (!sl_arg_iterable(s, c, i))
            return false;
    return true;
}

static bool want_one_iterable(struct star *s, const struct sl_call *c)
{
    return want_iterables(s, c, c->count ? 0 : 1, 1);
}

/* --- operations --------------------------------------------------------------------- */

static bool is_table(value v)
{
    return sl_is(v, T_SET) || sl_is(v, T_DICT);
}

static bool add_all(struct star *s, value set, value iterable)
{
    struct sl_iter it;
    value v;

    if (is_table(iterable))
        return sl_table_combine(s, OP_OR, set, iterable);
    if (!sl_iter_begin(s, iterable, &it))
        return false;
    size_t held = s->heap.held_count;
    while ((v = sl_iter_next(s, &it)) && sl_table_set(s, set, v, V_NONE))
        SL_RELEASE(s, held);
    sl_iter_end(&it);
    return !sl_failed(s);
}

static value set_of(struct star *s, value iterable)
{
    value set =
        sl_set_new(s, is_table(iterable) ? sl_table(iterable)->count : 0);

    return set && add_all(s, set, iterable) ? set : 0;
}

/* Returns a set with the items of `v`: `v` itself if it is a set, or a dict if
 * only its keys are looked up. */
static value as_table(struct star *s, value v)
{
    return is_table(v) ? v : set_of(s, v);
}

static value as_tables(struct star *s, const struct sl_call *c)
{
    value tables = sl_tuple_new(s, c->count);

    for (uint32_t i = 0; tables && i < c->count; i++) {
        value table = as_table(s, c->args[i]);
        if (!table)
            return sl_failed_in(s, c);
        sl_tuple(tables)->items[i] = table;
    }
    return tables;
}

static bool want_operands(struct star *s, const struct sl_call *c,
                          enum sl_operator op)
{
    if (op == OP_XOR)
        return want_one_iterable(s, c);
    if (op != OP_OR)
        return want_iterables(s, c, 0, UINT32_MAX);
    if (c->named)
        sl_fail(s, "%s: does not accept keyword arguments", c->name);
    return !c->named;
}

static bool add_operand(struct star *s, const struct sl_call *c, uint32_t i,
                        value set)
{
    if (sl_is_iterable(c->args[i]))
        return add_all(s, set, c->args[i]);
    sl_fail(s, "argument #%u is not iterable: %s", i + 1,
            sl_type_name(c->args[i]));
    return false;
}

/* Applies an operation to the set or to a copy. Arguments that are removed or
 * looked up are converted to tables first, so that a failed conversion leaves
 * the set unchanged. */
static value operate(struct star *s, const struct sl_call *c,
                     enum sl_operator op, bool in_place)
{
    bool adds = op == OP_OR || op == OP_XOR;
    value set = c->self, tables = 0;

    if (!want_operands(s, c, op))
        return 0;
    if (!in_place)
        set = set_of(s, c->self);
    else if ((op != OP_OR || c->count) &&
             !sl_self_may_change(s, c, adds ? "insert into" : "delete from"))
        return 0;
    if (!set || (op != OP_OR && !(tables = as_tables(s, c))))
        return 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (op == OP_OR
                ? !add_operand(s, c, i, set)
                : !sl_table_combine(s, op, set, sl_tuple(tables)->items[i]))
            return sl_failed_in(s, c);
    return in_place ? V_NONE : set;
}

#define OPERATION(name, op, in_place)                                          \
    static value set_##name(struct star *s, const struct sl_call *c)           \
    {                                                                          \
        return operate(s, c, op, in_place);                                    \
    }
OPERATION(union, OP_OR, false)
OPERATION(update, OP_OR, true)
OPERATION(difference, OP_SUB, false)
OPERATION(difference_update, OP_SUB, true)
OPERATION(intersection, OP_AND, false)
OPERATION(intersection_update, OP_AND, true)
OPERATION(symmetric_difference, OP_XOR, false)
OPERATION(symmetric_difference_update, OP_XOR, true)

value sl_lib_set(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 0, 1) || (c->count && !sl_arg_iterable(s, c, 0)))
        return 0;
    value set = c->count ? set_of(s, c->args[0]) : sl_set_new(s, 0);
    return set ? set : sl_failed_in(s, c);
}

/* --- one element -------------------------------------------------------------------- */

static value set_add(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 1, 1) || !sl_self_may_change(s, c, "insert into"))
        return 0;
    bool ok = sl_table_set(s, c->self, c->args[0], V_NONE);
    return ok ? V_NONE : sl_failed_in(s, c);
}

static value set_clear(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 0, 0) ||
        (sl_table(c->self)->count && !sl_self_may_change(s, c, "clear")))
        return 0;
    sl_table_clear(s, c->self);
    return V_NONE;
}

static value set_discard(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 1, 1) || !sl_self_may_change(s, c, "delete from"))
        return 0;
    bool ok = sl_table_remove(s, c->self, c->args[0], NULL);
    return ok ? V_NONE : sl_failed_in(s, c);
}

static value set_pop(struct star *s, const struct sl_call *c)
{
    uint32_t i = 0;

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    const struct sl_entry *e = sl_table_next(c->self, &i);
    if (!e)
        return sl_fail(s, "pop: empty set");
    value first = e->key;
    if (!sl_self_may_change(s, c, "delete from") || !sl_hold(s, first) ||
        !sl_table_remove(s, c->self, first, NULL))
        return 0;
    return first;
}

static value set_remove(struct star *s, const struct sl_call *c)
{
    value removed;

    if (!sl_want_args(s, c, 1, 1) || !sl_self_may_change(s, c, "delete from"))
        return 0;
    if (!sl_table_remove(s, c->self, c->args[0], &removed))
        return sl_failed_in(s, c);
    return removed ? V_NONE : sl_fail(s, "remove: missing key");
}

/* --- questions ------------------------------------------------------------------------ */

/* Whether no element of the argument is (or is not) in the set. All elements
 * are checked, so that unhashable ones are reported. */
static value none_where(struct star *s, const struct sl_call *c, bool in)
{
    struct sl_iter it;
    bool hit = false;
    value v, found;

    if (!want_one_iterable(s, c) || !sl_iter_begin(s, c->args[0], &it))
        return 0;
    size_t held = s->heap.held_count;
    while ((v = sl_iter_next(s, &it)) && sl_table_find(s, c->self, v, &found)) {
        hit |= (found != 0) == in;
        SL_RELEASE(s, held);
    }
    sl_iter_end(&it);
    return sl_failed(s) ? sl_failed_in(s, c) : sl_bool(!hit);
}

static value set_isdisjoint(struct star *s, const struct sl_call *c)
{
    return none_where(s, c, true);
}

static value set_issuperset(struct star *s, const struct sl_call *c)
{
    return none_where(s, c, false);
}

static value set_issubset(struct star *s, const struct sl_call *c)
{
    const struct sl_entry *e;
    bool there;

    if (!want_one_iterable(s, c))
        return 0;
    if (!sl_table(c->self)->count) /* unhashable items are then allowed */
        return V_TRUE;
    value table = as_table(s, c->args[0]);
    if (!table)
        return sl_failed_in(s, c);
    for (uint32_t i = 0; (e = sl_table_next(c->self, &i)); i++) {
        if (!sl_charge(s, 1) || !sl_table_has(s, table, e, &there))
            return 0;
        if (!there)
            return V_FALSE;
    }
    return V_TRUE;
}

/* clang-format off */
sl_native *const sl_set_methods[METHOD_COUNT] = {
#define M(name) [METHOD_##name] = set_##name
    M(add), M(clear), M(difference), M(difference_update), M(discard),
    M(intersection), M(intersection_update), M(isdisjoint), M(issubset),
    M(issuperset), M(pop), M(remove), M(symmetric_difference),
    M(symmetric_difference_update), M(union), M(update),
#undef M
};
/* clang-format on */
