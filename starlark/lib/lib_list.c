#include "lib.h"

static value list_append(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 1, 1) || !sl_self_may_change(s, c, "append to") ||
        !sl_list_append(s, c->self, c->args[0]))
        return 0;
    return V_NONE;
}

static value list_clear(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 0, 0) || !sl_self_may_change(s, c, "clear"))
        return 0;
    sl_list(c->self)->count = 0;
    return V_NONE;
}

static value list_extend(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 1, 1) || !sl_arg_iterable(s, c, 0) ||
        !sl_self_may_change(s, c, "extend") ||
        !sl_list_extend(s, c->self, c->args[0]))
        return 0;
    return V_NONE;
}

/* Returns the index of `wanted` in [i, end), -1 if missing, or -2 if comparing
 * failed. */
static int64_t find_item(struct star *s, const struct sl_call *c, int64_t i,
                         int64_t end)
{
    value wanted = c->args[0];
    bool equal;

    for (; i < end; i++) {
        value item = sl_list(c->self)->items[i];
        if (!sl_charge(s, 1))
            return -2;
        if (item == wanted)
            return i;
        if (sl_is_int_word(item) && sl_is_int_word(wanted))
            continue;
        if (!sl_equal(s, item, wanted, &equal)) {
            sl_failed_in(s, c);
            return -2;
        }
        if (equal)
            return i;
    }
    return -1;
}

static value list_index(struct star *s, const struct sl_call *c)
{
    int64_t begin, end;

    if (!sl_want_args(s, c, 1, 3))
        return 0;
    if (!sl_bounds(s, c->count > 1 ? c->args[1] : 0,
                   c->count > 2 ? c->args[2] : 0, sl_list(c->self)->count,
                   &begin, &end))
        return sl_failed_in(s, c);
    int64_t i = find_item(s, c, begin, end);
    if (i >= 0)
        return sl_word(i);
    return i == -1 ? sl_fail(s, "index: value not in list") : 0;
}

static value list_insert(struct star *s, const struct sl_call *c)
{
    struct sl_list *l = sl_list(c->self);
    int64_t i;

    if (!sl_want_args(s, c, 2, 2) || !sl_arg_int(s, c, 0, &i) ||
        !sl_self_may_change(s, c, "insert into"))
        return 0;
    i = i < 0 ? i + l->count : i;
    i = i < 0 ? 0 : i > l->count ? l->count : i;
    size_t behind = l->count - (size_t)i;
    if (!sl_charge(s, 1 + behind / 8) ||
        !sl_list_append(s, c->self, c->args[1]))
        return 0;
    memmove(l->items + i + 1, l->items + i, behind * sizeof(value));
    l->items[i] = c->args[1];
    return V_NONE;
}

static value take_out(struct star *s, struct sl_list *l, int64_t i)
{
    value item = l->items[i];
    size_t behind = l->count - (size_t)i - 1;

    if (!sl_charge(s, 1 + (behind + 1) / 8))
        return 0;
    memmove(l->items + i, l->items + i + 1, behind * sizeof(value));
    l->count--;
    return item;
}

static value list_pop(struct star *s, const struct sl_call *c)
{
    struct sl_list *l = sl_list(c->self);
    long long n = l->count;
    int64_t i = -1;

    if (!sl_want_args(s, c, 0, 1) ||
        (c->count == 1 && !sl_arg_int(s, c, 0, &i)))
        return 0;
    int64_t at = i < 0 ? i + n : i;
    if (n == 0)
        return sl_fail(s, "pop: index %lld out of range: empty list",
                       (long long)i);
    if (at < 0 || at >= n)
        return sl_fail(s, "pop: list index %lld out of range [%lld:%lld]",
                       (long long)i, -n, n - 1);
    return sl_self_may_change(s, c, "pop from") ? take_out(s, l, at) : 0;
}

static value list_remove(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 1, 1) || !sl_self_may_change(s, c, "remove from"))
        return 0;
    int64_t i = find_item(s, c, 0, sl_list(c->self)->count);
    if (i == -1)
        return sl_fail(s, "remove: element not found");
    return i >= 0 && take_out(s, sl_list(c->self), i) ? V_NONE : 0;
}

/* clang-format off */
sl_native *const sl_list_methods[METHOD_COUNT] = {
#define M(name) [METHOD_##name] = list_##name
    M(append), M(clear), M(extend), M(index), M(insert), M(pop), M(remove),
#undef M
};
/* clang-format on */
