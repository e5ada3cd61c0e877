#include "text.h"

/* Growing of lists, concatenation and repetition of lists, tuples and text.
 * Copying may take long, so each function can be interrupted; the container
 * being filled is then empty, and garbage. */

#define LIST_MAX_ITEMS 0x40000000u

/* --- lists ----------------------------------------------------------------------- */

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

/* Grows by half, so that appending has amortized constant cost. */
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
    SL_ASSERT(item && l->count < l->capacity);
    l->items[l->count++] = item;
    return true;
}

static bool copy_items(struct star *s, value *to, struct sl_items from)
{
    return sl_copy(s, (char *)to, (const char *)from.p,
                   from.count * sizeof *to);
}

bool sl_list_extend(struct star *s, value list, value iterable)
{
    struct sl_list *l = sl_list(list);
    struct sl_iter it;

    if (sl_is(iterable, T_LIST) || sl_is(iterable, T_TUPLE)) {
        uint32_t count = sl_items(iterable).count;
        if (!grow(s, list, count) || /* `iterable` may be the list itself */
            (count && !copy_items(s, l->items + l->count, sl_items(iterable))))
            return false;
        l->count += count;
        return true;
    }
    if (!sl_iter_begin(s, iterable, &it))
        return false;
    /* The iterator may have created the item, which nothing else roots while
     * the list grows. */
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

/* --- sums and repeats --------------------------------------------------------------- */

/* Returns an empty list or tuple with room for `count` items, which may be
 * filled through sl_items() before `resize` sets the length. */
static value room(struct star *s, enum sl_type type, size_t count)
{
    struct sl_tuple *t;

    if (type == T_LIST)
        return sl_list_new(s, count);
    return sl_value(sl_alloc_part(
        s, T_TUPLE, sizeof *t + count * sizeof *t->items, sizeof *t));
}

static value resize(value v, size_t count)
{
    if (sl_is(v, T_LIST))
        sl_list(v)->count = (uint32_t)count;
    else
        sl_tuple(v)->count = (uint32_t)count;
    return v;
}

value sl_concat(struct star *s, value a, value b)
{
    const struct sl_items x = sl_items(a), y = sl_items(b);
    size_t count = (size_t)x.count + y.count;

    if (sl_is(a, T_TUPLE) && (!x.count || !y.count))
        return x.count ? a : b;
    value v = room(s, sl_type(a), count);
    if (!v || !sl_charge(s, count / 8) || !copy_items(s, sl_items(v).p, x) ||
        (y.count && !copy_items(s, sl_items(v).p + x.count, y)))
        return 0;
    return resize(v, count);
}

/* Fills `size` bytes with repetitions of the `unit` bytes at `from`. */
static bool fill(struct star *s, void *to, const void *from, size_t unit,
                 size_t size)
{
    size_t most = unit < SL_COPY_PIECE ? SL_COPY_PIECE / unit * unit : unit;
    char *p = to;

    if (!sl_copy(s, p, from, unit))
        return false;
    if (unit == 1 && size <= SL_COPY_PIECE) { /* common case such as "-" * 80 */
        memset(p, *p, size);
        return sl_charge(s, size / 64);
    }
    for (size_t done = unit; done < size;) {
        size_t n = done < most ? done : most;
        if (n > size - done)
            n = size - done;
        if (!sl_charge(s, n / 64) || !sl_copy(s, p + done, p, n))
            return false;
        done += n;
    }
    return true;
}

static value repeat_text(struct star *s, value text, size_t times)
{
    const struct sl_string *t = sl_string(text);
    size_t length = t->length * times;
    char *p;

    value v = sl_text_room(s, sl_type(text), length, &p);
    if (!v || !length)
        return v;
    if (!fill(s, p, t->p, t->length, length))
        return 0;
    sl_object(v)->flags |= t->o.flags & STRING_ASCII;
    return v;
}

value sl_repeat(struct star *s, value from, size_t times)
{
    if (times == 1 && !sl_is(from, T_LIST))
        return from;
    if (!sl_is(from, T_LIST) && !sl_is(from, T_TUPLE))
        return repeat_text(s, from, times);
    const struct sl_items x = sl_items(from);
    const size_t count = x.count * times, unit = x.count * sizeof *x.p;
    if (!count && sl_is(from, T_TUPLE))
        return sl_tuple_new(s, 0);
    value v = room(s, sl_type(from), count);
    if (!v || !count)
        return v;
    return fill(s, sl_items(v).p, x.p, unit, unit * times) ? resize(v, count)
                                                           : 0;
}
