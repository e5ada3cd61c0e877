#include "text.h"

#define LIST_MAX_ITEMS 0x40000000u

bool sl_list_reserve(struct star *s, value list, size_t capacity)
{
    struct sl_list *l = sl_list(list);

    if (capacity <= l->capacity)
        return true;
    if (capacity > LIST_MAX_ITEMS) {
        sl_fail_memory(s, capacity * sizeof(value));
        return false;
    }
    value *items = sl_storage_resize(s, l->items, l->capacity * sizeof(value),
                                     capacity * sizeof(value));
    if (!items)
        return false;
    l->items = items;
    l->capacity = (uint32_t)capacity;
    return true;
}

/* By half, so that appending one by one costs the same for each. */
static bool grow(struct star *s, value list, size_t more)
{
    const struct sl_list *l = sl_list(list);
    size_t need = l->count + more;

    if (need <= l->capacity)
        return true;
    size_t better = l->count + (size_t)l->count / 2 + 4;
    return sl_list_reserve(s, list, need > better ? need : better);
}

bool sl_list_append(struct star *s, value list, value item)
{
    struct sl_list *l = sl_list(list);

    if (l->count == l->capacity && !grow(s, list, 1))
        return false;
    l->items[l->count++] = item;
    return true;
}

/* From a list or tuple, which may be `list` itself. */
static bool extend_by_items(struct star *s, value list, value from)
{
    struct sl_list *l = sl_list(list);
    uint32_t count =
        sl_is(from, T_LIST) ? sl_list(from)->count : sl_tuple(from)->count;

    if (!grow(s, list, count))
        return false;
    const value *items =
        sl_is(from, T_LIST) ? sl_list(from)->items : sl_tuple(from)->items;
    if (count && !sl_copy(s, (char *)(l->items + l->count), (const char *)items,
                          count * sizeof *items))
        return false;
    l->count += count;
    return true;
}

bool sl_list_extend(struct star *s, value list, value iterable)
{
    struct sl_iter it;

    if (sl_is(iterable, T_LIST) || sl_is(iterable, T_TUPLE))
        return extend_by_items(s, list, iterable);
    if (!sl_iter_begin(s, iterable, &it))
        return false;
    /* An item may have been made for us, and nobody else holds it while the
     * list grows. */
    struct sl_scope scope = sl_native_enter(s);
    size_t mark = s->heap.held_count;
    bool ok = true;
    for (value item; ok && (item = sl_iter_next(s, &it));) {
        ok = sl_charge(s, 1) && sl_list_append(s, list, item);
        SL_RELEASE(s, mark);
    }
    ok = ok && !sl_failed(s);
    sl_native_leave(s, scope);
    sl_iter_end(&it);
    return ok;
}
