#include "lib.h"
#include "table.h"

static value dict_clear(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 0, 0) || !sl_may_change(s, c->self, "clear"))
        return 0;
    sl_table_clear(s, c->self);
    return V_NONE;
}

static value dict_get(struct star *s, const struct sl_call *c)
{
    value found;

    if (!sl_want_args(s, c, 1, 2))
        return 0;
    if (!sl_table_find(s, c->self, c->args[0], &found))
        return sl_failed_in(s, c);
    if (found)
        return found;
    return c->count == 2 ? c->args[1] : V_NONE;
}

static value dict_pop(struct star *s, const struct sl_call *c)
{
    value removed;

    if (!sl_want_args(s, c, 1, 2))
        return 0;
    if (!sl_may_change(s, c->self, "delete from") ||
        !sl_table_remove(s, c->self, c->args[0], &removed))
        return sl_failed_in(s, c);
    if (removed)
        return removed;
    return c->count == 2 ? c->args[1] : sl_fail(s, "pop: missing key");
}

static value dict_popitem(struct star *s, const struct sl_call *c)
{
    uint32_t i = 0;

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    const struct sl_entry *e = sl_table_next(c->self, &i);
    if (!e)
        return sl_fail(s, "popitem: empty dict");
    if (!sl_may_change(s, c->self, "delete from"))
        return sl_failed_in(s, c);
    value pair = sl_tuple_new(s, 2);
    if (!pair)
        return 0;
    sl_tuple(pair)->items[0] = e->key;
    sl_tuple(pair)->items[1] = e->value;
    return sl_table_remove(s, c->self, sl_tuple(pair)->items[0], NULL) ? pair
                                                                       : 0;
}

static value dict_setdefault(struct star *s, const struct sl_call *c)
{
    value found;

    if (!sl_want_args(s, c, 1, 2))
        return 0;
    if (!sl_table_find(s, c->self, c->args[0], &found))
        return sl_failed_in(s, c);
    if (found)
        return found;
    found = c->count == 2 ? c->args[1] : V_NONE;
    if (!sl_may_change(s, c->self, "insert into") ||
        !sl_table_set(s, c->self, c->args[0], found))
        return sl_failed_in(s, c);
    return found;
}

/* --- keys, values, items ---------------------------------------------------------- */

static value key_of(struct star *s, const struct sl_entry *e)
{
    (void)s;
    return e->key;
}

static value value_of(struct star *s, const struct sl_entry *e)
{
    (void)s;
    return e->value;
}

static value pair_of(struct star *s, const struct sl_entry *e)
{
    value pair = sl_tuple_new(s, 2);

    if (pair) {
        sl_tuple(pair)->items[0] = e->key;
        sl_tuple(pair)->items[1] = e->value;
    }
    return pair;
}

static value listed(struct star *s, const struct sl_call *c,
                    value (*item)(struct star *, const struct sl_entry *))
{
    const struct sl_entry *e;

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    value list = sl_list_new(s, sl_table(c->self)->count);
    if (!list)
        return 0;
    size_t held = s->heap.held_count;
    for (uint32_t i = 0; (e = sl_table_next(c->self, &i)); i++) {
        value v = sl_charge(s, 1) ? item(s, e) : 0;
        if (!v || !sl_list_append(s, list, v))
            return 0;
        SL_RELEASE(s, held);
    }
    return list;
}

static value dict_items(struct star *s, const struct sl_call *c)
{
    return listed(s, c, pair_of);
}

static value dict_keys(struct star *s, const struct sl_call *c)
{
    return listed(s, c, key_of);
}

static value dict_values(struct star *s, const struct sl_call *c)
{
    return listed(s, c, value_of);
}

/* --- update and dict() -------------------------------------------------------------- */

static bool put(struct star *s, value dict, value key, value v)
{
    return sl_charge(s, 1) && sl_may_change(s, dict, "insert into") &&
           sl_table_set(s, dict, key, v);
}

static bool put_dict(struct star *s, value dict, value from)
{
    bool empty = sl_table(dict)->count == 0;
    const struct sl_entry *e;

    if (empty && !sl_table_reserve(s, dict, sl_table(from)->count))
        return false;
    for (uint32_t i = 0; (e = sl_table_next(from, &i)); i++)
        if (empty ? !sl_charge(s, 1) ||
                        !sl_table_add(s, dict, e->key, e->hash, e->value)
                  : !put(s, dict, e->key, e->value))
            return false;
    return true;
}

static bool put_pair(struct star *s, value dict, value pair, uint64_t i)
{
    const unsigned long long n = i;
    struct sl_iter it;

    if (!sl_is_iterable(pair)) {
        sl_fail(s,
                "dictionary update sequence element #%llu is not iterable (%s)",
                n, sl_type_name(pair));
        return false;
    }
    int64_t length = sl_len(pair);
    if (length < 0)
        sl_fail(s,
                "dictionary update sequence element #%llu has unknown length "
                "(%s)",
                n, sl_type_name(pair));
    else if (length != 2)
        sl_fail(s,
                "dictionary update sequence element #%llu has length %lld, "
                "want 2",
                n, (long long)length);
    if (length != 2 || !sl_iter_begin(s, pair, &it))
        return false;
    value key = sl_iter_next(s, &it);
    value v = key ? sl_iter_next(s, &it) : 0;
    bool ok = v && put(s, dict, key, v);
    sl_iter_end(&it);
    return ok;
}

static bool put_pairs(struct star *s, value dict, value pairs)
{
    struct sl_iter it;
    uint64_t i = 0;
    value pair;

    if (!sl_is_iterable(pairs)) {
        sl_fail(s, "got %s, want iterable", sl_type_name(pairs));
        return false;
    }
    if (!sl_iter_begin(s, pairs, &it))
        return false;
    size_t held = s->heap.held_count;
    while ((pair = sl_iter_next(s, &it)) && put_pair(s, dict, pair, i++))
        SL_RELEASE(s, held);
    sl_iter_end(&it);
    return !sl_failed(s);
}

/* A name that is given twice: by name and by **kwargs. */
static bool names_differ(struct star *s, const struct sl_call *c)
{
    value seen = sl_set_new(s, c->named), found;

    for (uint32_t i = 0; seen && i < c->named; i++) {
        if (!sl_table_find(s, seen, c->names[i], &found))
            return false;
        if (found) {
            value shown = sl_repr_value(s, c->names[i]);
            if (shown)
                sl_fail(s, "duplicate keyword arg: %.*s", SL_SHOWN(shown));
            return false;
        }
        if (!sl_table_set(s, seen, c->names[i], V_NONE))
            return false;
    }
    return seen;
}

/* What dict() and update() share: at most one argument, then those by name. */
static bool put_args(struct star *s, const struct sl_call *c, value dict)
{
    value from = c->count ? c->args[0] : V_NONE;

    if (from == dict) {
        if (sl_table(dict)->count && !sl_may_change(s, dict, "insert into"))
            return false;
    } else if (sl_is(from, T_DICT)) {
        if (sl_table(from)->count && (!sl_may_change(s, dict, "insert into") ||
                                      !put_dict(s, dict, from)))
            return false;
    } else if (c->count && !put_pairs(s, dict, from)) {
        return false;
    }
    uint32_t before = sl_table(dict)->count;
    for (uint32_t i = 0; i < c->named; i++)
        if (!put(s, dict, c->names[i], c->args[c->count + i]))
            return false;
    return sl_table(dict)->count == before + c->named || names_differ(s, c);
}

static value dict_update(struct star *s, const struct sl_call *c)
{
    if (c->count > 1)
        return sl_fail(s, "update: got %u arguments, want at most 1", c->count);
    return put_args(s, c, c->self) ? V_NONE : sl_failed_in(s, c);
}

value sl_lib_dict(struct star *s, const struct sl_call *c)
{
    size_t room = c->named;

    if (c->count > 1)
        return sl_fail(s, "dict: got %u arguments, want at most 1", c->count);
    if (c->count && sl_is(c->args[0], T_DICT))
        room += sl_table(c->args[0])->count;
    value dict = sl_dict_new(s, room);
    if (!dict)
        return 0;
    return put_args(s, c, dict) ? dict : sl_failed_in(s, c);
}

/* clang-format off */
sl_native *const sl_dict_methods[METHOD_COUNT] = {
    [METHOD_clear] = dict_clear,
    [METHOD_get] = dict_get,
    [METHOD_items] = dict_items,
    [METHOD_keys] = dict_keys,
    [METHOD_pop] = dict_pop,
    [METHOD_popitem] = dict_popitem,
    [METHOD_setdefault] = dict_setdefault,
    [METHOD_update] = dict_update,
    [METHOD_values] = dict_values,
};
/* clang-format on */
