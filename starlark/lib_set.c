#include "lib.h"
#include "table.h"

/* Those arguments are all iterable; between `min` and any number of them. */
static bool want_iterables(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 0, UINT32_MAX))
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (!sl_arg_iterable(s, c, i))
            return false;
    return true;
}

static bool want_one_iterable(struct star *s, const struct sl_call *c)
{
    return sl_want_args(s, c, c->count ? 0 : 1, 1) && sl_arg_iterable(s, c, 0);
}

/* --- sets from iterables ------------------------------------------------------------ */

static bool is_table(value v)
{
    return sl_is(v, T_SET) || sl_is(v, T_DICT);
}

static bool add_table(struct star *s, value set, value table)
{
    const struct sl_entry *e;
    bool there;

    for (uint32_t i = 0; (e = sl_table_next(table, &i)); i++)
        if (!sl_charge(s, 1) || !sl_table_has(s, set, e, &there) ||
            (!there && !sl_table_add(s, set, e->key, e->hash, V_NONE)))
            return false;
    return true;
}

static bool add_all(struct star *s, value set, value iterable)
{
    struct sl_iter it;
    value v;

    if (iterable == set)
        return true;
    if (is_table(iterable))
        return add_table(s, set, iterable);
    if (!sl_iter_begin(s, iterable, &it))
        return false;
    size_t held = s->heap.held_count;
    while ((v = sl_iter_next(s, &it)) && sl_table_set(s, set, v, V_NONE))
        SL_RELEASE(s, held);
    sl_iter_end(&it);
    return !sl_failed(s);
}

/* A set with what `v` has: itself, when it is one. A dict is as good, where only
 * its keys are looked for. */
static value as_table(struct star *s, value v)
{
    if (is_table(v))
        return v;
    value set = sl_set_new(s, 0);
    return set && add_all(s, set, v) ? set : 0;
}

/* The arguments as tables. */
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

/* A copy with room for some `more`. */
static value copy(struct star *s, value set, size_t more)
{
    value out = sl_set_new(s, sl_table(set)->count + more);
    const struct sl_entry *e;

    for (uint32_t i = 0; out && (e = sl_table_next(set, &i)); i++)
        if (!sl_charge(s, 1) || !sl_table_add(s, out, e->key, e->hash, V_NONE))
            return 0;
    return out;
}

/* Whether all of the tables have the entry, or none has. */
static bool in_tables(struct star *s, value tables, const struct sl_entry *e,
                      bool all, bool *yes)
{
    const struct sl_tuple *t = sl_tuple(tables);
    bool there;

    *yes = true;
    for (uint32_t i = 0; *yes && i < t->count; i++) {
        if (!sl_charge(s, 1) || !sl_table_has(s, t->items[i], e, &there))
            return false;
        *yes = there == all;
    }
    return true;
}

/* A new set of the elements that all arguments have, or none. */
static value filtered(struct star *s, const struct sl_call *c, bool all)
{
    value tables = as_tables(s, c);
    value out = tables ? sl_set_new(s, 0) : 0;
    const struct sl_entry *e;
    bool yes;

    for (uint32_t i = 0; out && (e = sl_table_next(c->self, &i)); i++)
        if (!in_tables(s, tables, e, all, &yes) ||
            (yes && !sl_table_add(s, out, e->key, e->hash, V_NONE)))
            return 0;
    return out;
}

/* Removes the elements that are (or are not) in `table`. */
static bool remove_where(struct star *s, value set, value table, bool in)
{
    const struct sl_entry *e;
    bool there;

    if (set == table) {
        if (in)
            sl_table_clear(s, set);
        return true;
    }
    for (uint32_t i = 0; (e = sl_table_next(set, &i)); i++) {
        if (!sl_charge(s, 1) || !sl_table_has(s, table, e, &there))
            return false;
        if (there == in && !sl_table_remove(s, set, e->key, NULL))
            return false;
    }
    return true;
}

/* `set` gets what is in one of both alone, in the order of a, then b. */
static bool put_difference(struct star *s, value set, value table)
{
    value extra = sl_set_new(s, 0);
    const struct sl_entry *e;
    bool there;

    if (!extra)
        return false;
    if (set == table) {
        sl_table_clear(s, set);
        return true;
    }
    for (uint32_t i = 0; (e = sl_table_next(table, &i)); i++)
        if (!sl_charge(s, 1) || !sl_table_has(s, set, e, &there) ||
            (!there && !sl_table_add(s, extra, e->key, e->hash, V_NONE)))
            return false;
    return remove_where(s, set, table, true) && add_table(s, set, extra);
}

value sl_lib_set(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 0, 1) || (c->count && !sl_arg_iterable(s, c, 0)))
        return 0;
    if (c->count && is_table(c->args[0]))
        return copy(s, c->args[0], 0);
    value set = sl_set_new(s, 0);
    if (!set)
        return 0;
    if (c->count && !add_all(s, set, c->args[0]))
        return sl_failed_in(s, c);
    return set;
}

/* --- one element -------------------------------------------------------------------- */

static value set_add(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 1, 1) || !sl_self_may_change(s, c, "insert into"))
        return 0;
    if (!sl_table_set(s, c->self, c->args[0], V_NONE))
        return sl_failed_in(s, c);
    return V_NONE;
}

static value set_clear(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 0, 0))
        return 0;
    if (sl_table(c->self)->count) {
        if (!sl_self_may_change(s, c, "clear"))
            return 0;
        sl_table_clear(s, c->self);
    }
    return V_NONE;
}

static value set_discard(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 1, 1) || !sl_self_may_change(s, c, "delete from"))
        return 0;
    if (!sl_table_remove(s, c->self, c->args[0], NULL))
        return sl_failed_in(s, c);
    return V_NONE;
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

/* --- new sets ------------------------------------------------------------------------- */

static value set_difference(struct star *s, const struct sl_call *c)
{
    return want_iterables(s, c) ? filtered(s, c, false) : 0;
}

static value set_intersection(struct star *s, const struct sl_call *c)
{
    return want_iterables(s, c) ? filtered(s, c, true) : 0;
}

static value set_symmetric_difference(struct star *s, const struct sl_call *c)
{
    if (!want_one_iterable(s, c))
        return 0;
    value table = as_table(s, c->args[0]);
    value out = table ? copy(s, c->self, 0) : 0;
    return out && put_difference(s, out, table) ? out : sl_failed_in(s, c);
}

/* Of union() and update(): which argument is no iterable, in their own words. */
static bool want_others(struct star *s, const struct sl_call *c)
{
    if (c->named) {
        sl_fail(s, "%s: does not accept keyword arguments", c->name);
        return false;
    }
    return true;
}

static bool add_others(struct star *s, const struct sl_call *c, value set)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (!sl_is_iterable(c->args[i])) {
            sl_fail(s, "argument #%u is not iterable: %s", i + 1,
                    sl_type_name(c->args[i]));
            return false;
        }
        if (!add_all(s, set, c->args[i]))
            return false;
    }
    return true;
}

static value set_union(struct star *s, const struct sl_call *c)
{
    size_t more =
        c->count && is_table(c->args[0]) ? sl_table(c->args[0])->count : 0;
    value out = want_others(s, c) ? copy(s, c->self, more) : 0;

    if (!out)
        return 0;
    return add_others(s, c, out) ? out : sl_failed_in(s, c);
}

/* --- in place ------------------------------------------------------------------------- */

static value set_update(struct star *s, const struct sl_call *c)
{
    if (!want_others(s, c) ||
        (c->count && !sl_self_may_change(s, c, "insert into")))
        return 0;
    return add_others(s, c, c->self) ? V_NONE : sl_failed_in(s, c);
}

/* All arguments are made tables first: one that cannot be leaves the set as it
 * was. */
static value change(struct star *s, const struct sl_call *c, bool keep_common)
{
    if (!want_iterables(s, c) || !sl_self_may_change(s, c, "delete from"))
        return 0;
    value tables = as_tables(s, c);
    for (uint32_t i = 0; tables && i < c->count; i++)
        if (!remove_where(s, c->self, sl_tuple(tables)->items[i], !keep_common))
            return sl_failed_in(s, c);
    return tables ? V_NONE : 0;
}

static value set_difference_update(struct star *s, const struct sl_call *c)
{
    return change(s, c, false);
}

static value set_intersection_update(struct star *s, const struct sl_call *c)
{
    return change(s, c, true);
}

static value set_symmetric_difference_update(struct star *s,
                                             const struct sl_call *c)
{
    if (!want_one_iterable(s, c) || !sl_self_may_change(s, c, "insert into"))
        return 0;
    value table = as_table(s, c->args[0]);
    return table && put_difference(s, c->self, table) ? V_NONE
                                                      : sl_failed_in(s, c);
}

/* --- questions ------------------------------------------------------------------------ */

/* Whether an element of `iterable` is (or is not) in the set: its truth, or 0. */
static value any_where(struct star *s, const struct sl_call *c, bool in)
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
    return sl_failed(s) ? sl_failed_in(s, c) : sl_bool(hit);
}

static value set_isdisjoint(struct star *s, const struct sl_call *c)
{
    value common = any_where(s, c, true);

    return common ? sl_bool(common == V_FALSE) : 0;
}

static value set_issuperset(struct star *s, const struct sl_call *c)
{
    value others = any_where(s, c, false);

    return others ? sl_bool(others == V_FALSE) : 0;
}

static value set_issubset(struct star *s, const struct sl_call *c)
{
    const struct sl_entry *e;
    bool there;

    if (!want_one_iterable(s, c))
        return 0;
    if (!sl_table(c->self)->count) /* whatever is in the other, even a list */
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
    [METHOD_add] = set_add,
    [METHOD_clear] = set_clear,
    [METHOD_difference] = set_difference,
    [METHOD_difference_update] = set_difference_update,
    [METHOD_discard] = set_discard,
    [METHOD_intersection] = set_intersection,
    [METHOD_intersection_update] = set_intersection_update,
    [METHOD_isdisjoint] = set_isdisjoint,
    [METHOD_issubset] = set_issubset,
    [METHOD_issuperset] = set_issuperset,
    [METHOD_pop] = set_pop,
    [METHOD_remove] = set_remove,
    [METHOD_symmetric_difference] = set_symmetric_difference,
    [METHOD_symmetric_difference_update] = set_symmetric_difference_update,
    [METHOD_union] = set_union,
    [METHOD_update] = set_update,
};
/* clang-format on */
