#include "../core/table.h"
#include "lib.h"

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
    return found ? found : c->count == 2 ? c->args[1] : V_NONE;
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
    if (!sl_self_may_change(s, c, "delete from"))
        return 0;
    value pair = sl_pair(s, e->key, e->value);
    if (!pair || !sl_table_remove(s, c->self, sl_tuple(pair)->items[0], NULL))
        return 0;
    return pair;
}

/* --- keys, values, items ---------------------------------------------------------- */

enum part { KEY, VALUE, ITEM };

static value listed(struct star *s, const struct sl_call *c, enum part part)
{
    const struct sl_entry *e;

    if (!sl_want_args(s, c, 0, 0))
        return 0;
    value list = sl_list_new(s, sl_table(c->self)->count);
    if (!list)
        return 0;
    size_t held = s->heap.held_count;
    for (uint32_t i = 0; (e = sl_table_next(c->self, &i)); i++) {
        value v = part == KEY     ? e->key
                  : part == VALUE ? e->value
                                  : sl_pair(s, e->key, e->value);
        if (!sl_charge(s, 1) || !v || !sl_list_append(s, list, v))
            return 0;
        SL_RELEASE(s, held);
    }
    return list;
}

static value dict_items(struct star *s, const struct sl_call *c)
{
    return listed(s, c, ITEM);
}

static value dict_keys(struct star *s, const struct sl_call *c)
{
    return listed(s, c, KEY);
}

static value dict_values(struct star *s, const struct sl_call *c)
{
    return listed(s, c, VALUE);
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
        if (!sl_charge(s, 1) ||
            !(empty ? sl_table_add(s, dict, e->key, e->hash, e->value)
                    : sl_table_set(s, dict, e->key, e->value)))
            return false;
    return true;
}

static bool put_pair(struct star *s, value dict, value pair, uint64_t i)
{
    static const char *const where = "dictionary update sequence element";
    const unsigned long long n = i;
    const char *type = sl_type_name(pair);
    int64_t length = sl_is_iterable(pair) ? sl_len(pair) : -1;
    struct sl_iter it;

    if (!sl_is_iterable(pair))
        sl_fail(s, "%s #%llu is not iterable (%s)", where, n, type);
    else if (length < 0)
        sl_fail(s, "%s #%llu has unknown length (%s)", where, n, type);
    else if (length != 2)
        sl_fail(s, "%s #%llu has length %lld, want 2", where, n,
                (long long)length);
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

    if (!sl_is_iterable(pairs))
        sl_fail(s, "got %s, want iterable", sl_type_name(pairs));
    else if (sl_iter_begin(s, pairs, &it)) {
        size_t held = s->heap.held_count;
        while ((pair = sl_iter_next(s, &it)) && put_pair(s, dict, pair, i++))
            SL_RELEASE(s, held);
        sl_iter_end(&it);
    }
    return !sl_failed(s);
}

/* Reports a name that is given both by name and by **kwargs. */
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

/* Shared by dict() and update(): at most one positional argument, then the
 * named ones. */
static bool put_args(struct star *s, const struct sl_call *c, value dict)
{
    value from = c->count ? c->args[0] : V_NONE;

    if (sl_is(from, T_DICT)) {
        if (sl_table(from)->count &&
            (!sl_may_change(s, dict, "insert into") ||
             (from != dict && !put_dict(s, dict, from))))
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

static bool want_at_most_one(struct star *s, const struct sl_call *c)
{
    if (c->count > 1)
        sl_fail(s, "%s: got %u arguments, want at most 1", c->name, c->count);
    return c->count <= 1;
}

static value dict_update(struct star *s, const struct sl_call *c)
{
    if (!want_at_most_one(s, c))
        return 0;
    return put_args(s, c, c->self) ? V_NONE : sl_failed_in(s, c);
}

value sl_lib_dict(struct star *s, const struct sl_call *c)
{
    bool copies = c->count && sl_is(c->args[0], T_DICT);

    if (!want_at_most_one(s, c))
        return 0;
    value dict =
        sl_dict_new(s, c->named + (copies ? sl_table(c->args[0])->count : 0));
    return dict && put_args(s, c, dict) ? dict : sl_failed_in(s, c);
}

/* clang-format off */
sl_native *const sl_dict_methods[METHOD_COUNT] = {
#define M(name) [METHOD_##name] = dict_##name
    M(clear), M(get), M(items), M(keys), M(pop), M(popitem), M(setdefault),
    M(update), M(values),
#undef M
};
/* clang-format on */
