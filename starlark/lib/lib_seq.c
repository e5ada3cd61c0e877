#include "../core/error.h"
#include "../core/text.h"
#include "lib.h"

/* Built-in functions on sequences. Objects that a loop stores in its own
 * container are rooted there, so the others are released in each round. */

/* Like sl_iter_next, with a fast path for the most common types. */
static inline value next_item(struct star *s, struct sl_iter *it)
{
    if (sl_is(it->of, T_LIST) && it->i < sl_list(it->of)->count)
        return sl_charge(s, 1) ? sl_list(it->of)->items[it->i++] : 0;
    return sl_iter_next(s, it);
}

/* Returns an empty list with room for the items of an iterable. */
static value list_for(struct star *s, value iterable)
{
    int64_t n = sl_len(iterable);

    return sl_list_new(s, n > 0 && n < UINT32_MAX ? (size_t)n : 0);
}

static value to_list(struct star *s, value iterable)
{
    value list = list_for(s, iterable);

    return list && sl_list_extend(s, list, iterable) ? list : 0;
}

value sl_lib_list(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 0, 1) || (c->count && !sl_arg_iterable(s, c, 0)))
        return 0;
    return c->count ? to_list(s, c->args[0]) : sl_list_new(s, 0);
}

value sl_lib_tuple(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 0, 1) || (c->count && !sl_arg_iterable(s, c, 0)))
        return 0;
    if (c->count == 0)
        return sl_tuple_new(s, 0);
    value list = c->args[0];
    if (sl_is(list, T_TUPLE))
        return list;
    if (!sl_is(list, T_LIST))
        list = to_list(s, list);
    value tuple = list ? sl_tuple_new(s, sl_list(list)->count) : 0;
    if (!tuple || !sl_copy(s, (char *)sl_tuple(tuple)->items,
                           (const char *)sl_list(list)->items,
                           sl_list(list)->count * sizeof(value)))
        return 0;
    return tuple;
}

value sl_lib_reversed(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 1, 1) || !sl_arg_iterable(s, c, 0))
        return 0;
    value list = to_list(s, c->args[0]);
    if (!list)
        return 0;

    value *items = sl_list(list)->items;
    for (size_t i = 0, j = sl_list(list)->count; i + 1 < j; i++) {
        if (!sl_charge_loop(s, i, j))
            return 0;
        value v = items[i];
        items[i] = items[--j];
        items[j] = v;
    }
    return list;
}

/* Whether the iterable has an item of that truth value. */
static value find_truth(struct star *s, const struct sl_call *c, bool truth)
{
    struct sl_iter it;
    bool found = false;
    value v;

    if (!sl_want_args(s, c, 1, 1) || !sl_arg_iterable(s, c, 0) ||
        !sl_iter_begin(s, c->args[0], &it))
        return 0;
    size_t held = s->heap.held_count;
    while (!found && (v = next_item(s, &it))) {
        found = sl_truth(v) == truth;
        SL_RELEASE(s, held);
    }
    sl_iter_end(&it);
    return sl_failed(s) ? 0 : sl_bool(found == truth);
}

value sl_lib_any(struct star *s, const struct sl_call *c)
{
    return find_truth(s, c, true);
}

value sl_lib_all(struct star *s, const struct sl_call *c)
{
    return find_truth(s, c, false);
}

/* --- lists of tuples --------------------------------------------------------------- */

value sl_lib_enumerate(struct star *s, const struct sl_call *c)
{
    int64_t start = 0;
    uint64_t i = 0;
    struct sl_iter it;
    value v;

    if (!sl_want_args(s, c, 1, 2)) {
        if (sl_names(c, "start"))
            sl_hint(s, "write enumerate(x, 1), without a name");
        return 0;
    }
    if (!sl_arg_iterable(s, c, 0) ||
        (c->count == 2 && !sl_arg_int(s, c, 1, &start)))
        return 0;
    value rows = list_for(s, c->args[0]);
    if (!rows || !sl_iter_begin(s, c->args[0], &it))
        return 0;
    size_t held = s->heap.held_count;
    while ((v = next_item(s, &it))) {
        uint64_t n = (uint64_t)start + i++; /* may exceed 63 bits */
        bool small = start < 0 || n <= SL_INT_WORD_MAX;
        value number = small ? sl_int(s, (int64_t)n) : sl_int_u64(s, n);
        value row = number ? sl_pair(s, number, v) : 0;
        if (!row || !sl_list_append(s, rows, row))
            break;
        SL_RELEASE(s, held);
    }
    sl_iter_end(&it);
    return sl_failed(s) ? 0 : rows;
}

/* Builds one row from the iterators; returns false at the end of the
 * shortest. */
static bool zip_row(struct star *s, value rows, struct sl_iter *its,
                    uint32_t width)
{
    value row = 0;

    for (uint32_t i = 0; i < width; i++) {
        value v = next_item(s, &its[i]);
        if (!v || (i == 0 && !(row = sl_tuple_new(s, width))))
            return false;
        sl_tuple(row)->items[i] = v;
    }
    return sl_list_append(s, rows, row);
}

value sl_lib_zip(struct star *s, const struct sl_call *c)
{
    size_t size = c->count * sizeof(struct sl_iter);
    uint32_t begun = 0;

    if (c->named)
        return sl_fail(s, "zip does not accept keyword arguments");
    value rows = sl_list_new(s, 0);
    if (!rows || c->count == 0)
        return rows;
    struct sl_iter *its = sl_storage(s, size);
    if (!its)
        return 0;
    for (; begun < c->count; begun++) {
        if (!sl_is_iterable(c->args[begun]))
            sl_fail(s, "zip: argument #%u is not iterable: %s", begun + 1,
                    sl_type_name(c->args[begun]));
        else if (sl_iter_begin(s, c->args[begun], &its[begun]))
            continue;
        break;
    }
    size_t held = s->heap.held_count;
    while (!sl_failed(s) && zip_row(s, rows, its, c->count))
        SL_RELEASE(s, held);
    while (begun > 0)
        sl_iter_end(&its[--begun]);
    sl_storage_free(s, its, size);
    return sl_failed(s) ? 0 : rows;
}

/* --- sorted ------------------------------------------------------------------------ */

static value sorted(struct star *s, value iterable, value key, bool reverse)
{
    value list = to_list(s, iterable);
    value keys = list && key ? sl_list_new(s, sl_list(list)->count) : list;

    if (!keys)
        return 0;
    size_t held = s->heap.held_count;
    sl_lock(iterable);
    for (uint32_t i = 0; key && i < sl_list(list)->count; i++) {
        value k = sl_call(s, key, &sl_list(list)->items[i], 1);
        if (!k || !sl_list_append(s, keys, k))
            break;
        SL_RELEASE(s, held);
    }
    sl_unlock(iterable);
    if (sl_failed(s) || !sl_sort(s, sl_list(list)->items, sl_list(keys)->items,
                                 sl_list(list)->count, reverse))
        return 0;
    return list;
}

value sl_lib_sorted(struct star *s, const struct sl_call *c)
{
    static const struct sl_param params[] = {
        {"iterable", "iterable", SL_ITERABLE},
        {"key", "callable", SL_CALLABLE},
        {"reverse", "bool", 1 << T_BOOL},
    };
    value v[3];

    if (c->count == 1 && c->named == 0 && sl_is_iterable(c->args[0]))
        return sorted(s, c->args[0], 0, false);
    if (!sl_check_args(s, c, params, 3))
        return 0;
    if (!sl_unpack(s, c, "iterable, key?, reverse?", v)) {
        if (sl_names(c, "cmp"))
            sl_hint(s, "use key=, a function of one item that gives what is "
                       "compared");
        return 0;
    }
    return sorted(s, v[0], v[1], v[2] == V_TRUE);
}

/* --- max and min -------------------------------------------------------------------- */

/* Returns 1 if `k` precedes `best`, 0 if not, or -1 if they cannot be
 * compared. */
static int better(struct star *s, const struct sl_call *c, enum sl_operator op,
                  value k, value best)
{
    bool yes;

    if (sl_is_int_word(k) && sl_is_int_word(best))
        return op == OP_GT ? (int64_t)k > (int64_t)best
                           : (int64_t)k < (int64_t)best;
    if (sl_compare(s, op, k, best, &yes))
        return yes;
    sl_failed_in(s, c);
    return -1;
}

/* Without a key function, no program code can change the items meanwhile. */
static value extreme_item(struct star *s, const struct sl_call *c,
                          enum sl_operator op, const value *items, size_t n)
{
    value best = items[0];

    for (size_t i = 1; i < n; i++) {
        int ahead = sl_charge(s, 1) ? better(s, c, op, items[i], best) : -1;
        if (ahead < 0)
            return 0;
        if (ahead)
            best = items[i];
    }
    return best;
}

/* The best item and its key are stored in a pair, which roots both while the
 * key function runs. */
static value extreme(struct star *s, const struct sl_call *c,
                     enum sl_operator op, value key, struct sl_iter *it)
{
    value pair = sl_pair(s, 0, 0), v;
    size_t held = s->heap.held_count;

    while (pair && (v = next_item(s, it))) {
        value *best = sl_tuple(pair)->items;
        value k = key ? sl_call(s, key, &v, 1) : v;
        int ahead = !k ? -1 : best[0] ? better(s, c, op, k, best[1]) : 1;
        if (ahead < 0)
            return 0;
        if (ahead) {
            best[0] = v;
            best[1] = k;
        }
        SL_RELEASE(s, held);
    }
    if (sl_failed(s))
        return 0;
    v = sl_tuple(pair)->items[0];
    return v ? v : sl_fail(s, "%s: argument is an empty sequence", c->name);
}

static value minmax(struct star *s, const struct sl_call *c,
                    enum sl_operator op)
{
    static const struct sl_param params[] = {{"key", "callable", SL_CALLABLE}};
    struct sl_call named = sl_only_named(c);
    struct sl_iter it;
    value key;

    if (c->count == 0)
        return sl_fail(s, "%s requires at least one positional argument",
                       c->name);
    if (!sl_check_args(s, &named, params, 1) ||
        !sl_unpack(s, &named, "key?", &key))
        return 0;
    value all = c->args[0];
    if (!key && c->count > 1)
        return extreme_item(s, c, op, c->args, c->count);
    if (!key && sl_is(all, T_LIST) && sl_list(all)->count)
        return extreme_item(s, c, op, sl_list(all)->items, sl_list(all)->count);
    if (c->count > 1) {
        all = sl_tuple_new(s, c->count);
        if (!all)
            return 0;
        memcpy(sl_tuple(all)->items, c->args, c->count * sizeof(value));
    }
    if (!sl_iter_begin(s, all, &it))
        return sl_failed_in(s, c);
    value result = extreme(s, c, op, key, &it);
    sl_iter_end(&it);
    return result;
}

value sl_lib_max(struct star *s, const struct sl_call *c)
{
    return minmax(s, c, OP_GT);
}

value sl_lib_min(struct star *s, const struct sl_call *c)
{
    return minmax(s, c, OP_LT);
}
