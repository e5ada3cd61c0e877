#include "text.h"

/* Sums and repeats of sequences. Copies are long, so each can be interrupted;
 * what was being filled then is empty, and garbage. */

static bool copy_items(struct star *s, value *to, const value *from,
                       size_t count)
{
    const size_t size = sizeof *to;

    return sl_charge(s, count / 8) &&
           (!count || sl_copy(s, (char *)to, (const char *)from, count * size));
}

static struct sl_tuple *tuple_room(struct star *s, size_t count)
{
    struct sl_tuple *t;

    return sl_alloc_part(s, T_TUPLE, sizeof *t + count * sizeof *t->items,
                         sizeof *t);
}

static value concat_lists(struct star *s, const struct sl_list *a,
                          const struct sl_list *b)
{
    size_t count = (size_t)a->count + b->count;
    value v = sl_list_new(s, count);
    struct sl_list *l = sl_list(v);

    if (!v || !count)
        return v;
    if (!copy_items(s, l->items, a->items, a->count) ||
        !copy_items(s, l->items + a->count, b->items, b->count))
        return 0;
    l->count = (uint32_t)count;
    return v;
}

static value concat_tuples(struct star *s, const struct sl_tuple *a,
                           const struct sl_tuple *b)
{
    size_t count = (size_t)a->count + b->count;

    if (!a->count || !b->count)
        return sl_value(a->count ? a : b);
    struct sl_tuple *t = tuple_room(s, count);
    if (!t || !copy_items(s, t->items, a->items, a->count) ||
        !copy_items(s, t->items + a->count, b->items, b->count))
        return 0;
    t->count = (uint32_t)count;
    return sl_value(t);
}

value sl_concat(struct star *s, value a, value b)
{
    return sl_is(a, T_LIST) ? concat_lists(s, sl_list(a), sl_list(b))
                            : concat_tuples(s, sl_tuple(a), sl_tuple(b));
}

/* Fills `size` bytes with the `unit` bytes at `from`, again and again. */
static bool fill(struct star *s, char *p, const void *from, size_t unit,
                 size_t size)
{
    size_t most = unit < SL_COPY_PIECE ? SL_COPY_PIECE / unit * unit : unit;

    if (!sl_copy(s, p, from, unit))
        return false;
    if (unit == 1 && size <= SL_COPY_PIECE) { /* "-" * 80 */
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

    if (times == 1)
        return text;
    value v = sl_text_room(s, sl_type(text), length, &p);
    if (!v || !length)
        return v;
    if (!fill(s, p, t->p, t->length, length))
        return 0;
    sl_object(v)->flags |= t->o.flags & STRING_ASCII;
    return v;
}

static value repeat_list(struct star *s, const struct sl_list *from,
                         size_t times)
{
    size_t unit = from->count * sizeof(value);
    value v = sl_list_new(s, from->count * times);

    if (!v || !unit || !times)
        return v;
    if (!fill(s, (char *)sl_list(v)->items, from->items, unit, unit * times))
        return 0;
    sl_list(v)->count = (uint32_t)(from->count * times);
    return v;
}

static value repeat_tuple(struct star *s, const struct sl_tuple *from,
                          size_t times)
{
    size_t unit = from->count * sizeof(value);
    struct sl_tuple *t;

    if (!unit || !times)
        return sl_tuple_new(s, 0);
    if (times == 1)
        return sl_value(from);
    if (!(t = tuple_room(s, from->count * times)) ||
        !fill(s, (char *)t->items, from->items, unit, unit * times))
        return 0;
    t->count = (uint32_t)(from->count * times);
    return sl_value(t);
}

value sl_repeat(struct star *s, value from, size_t times)
{
    if (sl_is(from, T_LIST))
        return repeat_list(s, sl_list(from), times);
    if (sl_is(from, T_TUPLE))
        return repeat_tuple(s, sl_tuple(from), times);
    return repeat_text(s, from, times);
}
