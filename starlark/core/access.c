#include <inttypes.h>
#include <stdio.h>

#include "error.h"
#include "table.h"
#include "text.h"

/* Indexing and slicing: x[i], x[i] = y, x[a:b:c]. */

void sl_hint_none(struct star *s, value v)
{
    if (v == V_NONE)
        sl_hint(s, "the value is None: what gave it? d.get(key) gives None for "
                   "a key that is not there");
}

bool sl_want_int(struct star *s, value v, unsigned bits, int64_t *out)
{
    int64_t n;

    if (sl_type(v) != T_INT) {
        sl_fail(s, "got %s, want int", sl_type_name(v));
        return false;
    }
    if (sl_int_to_i64(v, &n) && (bits == 64 || n == (int32_t)n) &&
        (bits != 8 || n == (uint8_t)n)) {
        *out = n;
        return true;
    }
    value text = sl_repr_value(s, v);
    if (text)
        sl_fail(s, "%.*s out of range%s", SL_SHOWN(text),
                bits == 64  ? " (want value in signed 64-bit range)"
                : bits == 8 ? " (want value in unsigned 8-bit range)"
                            : "");
    return false;
}

/* --- index ------------------------------------------------------------------------ */

/* Indices have 32 bits, as in the reference implementation, except for ranges,
 * which may be longer. */
static unsigned index_bits(uint64_t n)
{
    return n > INT32_MAX ? 64 : 32;
}

/* Converts an index that may be negative to one below `n`. */
static bool place(struct star *s, value object, int64_t i, uint64_t n,
                  uint64_t *out)
{
    const char *type = sl_type_name(object);

    *out = i < 0 ? (uint64_t)i + n : (uint64_t)i;
    if (i < 0 ? 0 - (uint64_t)i <= n : *out < n)
        return true;
    if (n == 0)
        sl_fail(s, "index %" PRId64 " out of range: empty %s", i, type);
    else
        sl_fail(s,
                "%s index %" PRId64 " out of range [-%" PRIu64 ":%" PRIu64 "]",
                type, i, n, n - 1);
    return false;
}

/* Sets `*n` to the number of elements that can be indexed. Returns false if the
 * value cannot be indexed. */
static bool indexable(value v, uint64_t *n)
{
    int64_t length = sl_is(v, T_DICT) || sl_is(v, T_SET) ? -1 : sl_len(v);

    *n = sl_is(v, T_RANGE) ? sl_range(v)->count : (uint64_t)length;
    return length >= 0;
}

static value index_dict(struct star *s, value dict, value key)
{
    value found;

    if (!sl_table_find(s, dict, key, &found))
        return 0;
    if (found)
        return found;
    value text = sl_repr_value(s, key);
    if (!text)
        return 0;
    return sl_fail(s, "key %.*s not in dict", SL_SHOWN(text));
}

value sl_index(struct star *s, value object, value key)
{
    uint64_t n, at;
    int64_t i;

    if (sl_is(object, T_DICT))
        return index_dict(s, object, key);
    if (!indexable(object, &n)) {
        sl_fail(s, "unhandled index operation %s[%s]", sl_type_name(object),
                sl_type_name(key));
        sl_hint_none(s, object);
        return 0;
    }
    if (!sl_want_int(s, key, index_bits(n), &i)) {
        char who[40];
        snprintf(who, sizeof who, "%s index", sl_type_name(object));
        sl_fail_prefix(s, who);
        return 0;
    }
    return place(s, object, i, n, &at) ? sl_item(s, object, at) : 0;
}

bool sl_set_index(struct star *s, value object, value key, value v)
{
    uint64_t at;
    int64_t i;

    if (sl_is(object, T_DICT))
        return sl_may_change(s, object, "insert into") &&
               sl_table_set(s, object, key, v);
    if (!sl_is(object, T_LIST)) {
        sl_fail(s, "%s value does not support item assignment",
                sl_type_name(object));
        if (sl_is(object, T_TUPLE))
            sl_hint(s, "a tuple cannot change: use a list");
        if (sl_is(object, T_STRING))
            sl_hint(s, "a string cannot change: build a new one");
        sl_hint_none(s, object);
        return false;
    }
    if (!sl_want_int(s, key, 32, &i) ||
        !place(s, object, i, sl_list(object)->count, &at) ||
        !sl_may_change(s, object, "assign to element of"))
        return false;
    sl_list(object)->items[at] = v;
    return true;
}

/* --- slice ----------------------------------------------------------------------- */

/* Sets *at to `v` if it is given; a negative `v` counts from the end. */
static bool bound(struct star *s, value v, int64_t n, const char *which,
                  int64_t *at)
{
    int64_t i;

    if (!v || v == V_NONE)
        return true;
    if (!sl_want_int(s, v, index_bits((uint64_t)n), &i)) {
        sl_fail_prefix(s, which);
        return false;
    }
    *at = i < 0 ? i + n : i;
    return true;
}

static int64_t clamp(int64_t i, int64_t low, int64_t high)
{
    return i < low ? low : i > high ? high : i;
}

/* Error texts for the bounds of slices and of find(). */
#define START "invalid start index"
#define END   "invalid end index"

bool sl_bounds(struct star *s, value start, value end, int64_t n,
               int64_t *begin_out, int64_t *end_out)
{
    int64_t a = 0, b = n;

    if (!bound(s, start, n, START, &a) || !bound(s, end, n, END, &b))
        return false;
    *begin_out = clamp(a, 0, n);
    *end_out = clamp(b, 0, n);
    return true;
}

/* A slice: `count` elements, starting at `first`, with distance `step`. */
struct cut {
    int64_t first, step, end;
    uint64_t count;
};

static bool cut_out(struct star *s, value start, value stop, value step,
                    int64_t n, struct cut *c)
{
    c->step = 1;
    if (step && step != V_NONE && !sl_want_int(s, step, 32, &c->step)) {
        sl_fail_prefix(s, "invalid slice step");
        return false;
    }
    if (c->step == 0)
        sl_fail(s, "zero is not a valid slice step");
    bool back = c->step < 0;
    c->first = back ? n - 1 : 0;
    c->end = back ? -1 : n;
    if (c->step == 0 || !bound(s, start, n, START, &c->first) ||
        !bound(s, stop, n, END, &c->end))
        return false;
    if (back) {
        c->end = c->end < -1 ? -1 : c->end;
        c->first = clamp(c->first, c->end, n > c->end ? n - 1 : c->end);
    } else {
        c->first = clamp(c->first, 0, n);
        c->end = clamp(c->end, c->first, n);
    }
    uint64_t distance =
        (uint64_t)(back ? c->first - c->end : c->end - c->first);
    uint64_t width = (uint64_t)(back ? -c->step : c->step);
    c->count = (distance + width - 1) / width;
    return true;
}

static value slice_text(struct star *s, value object, const struct cut *c)
{
    const struct sl_string *from = sl_string(object);
    bool is_string = sl_is(object, T_STRING);
    const char *p = from->p + c->first;
    char *to;

    if (c->step == 1 || c->count <= 1) {
        size_t at = c->count ? (size_t)c->first : 0;
        return sl_substring(s, object, at, at + c->count);
    }
    value out = sl_text_room(s, sl_type(object), c->count, &to);
    if (!out)
        return 0;
    for (uint64_t i = 0; i < c->count; i++) {
        if (!sl_charge_loop(s, i, c->count))
            return 0;
        to[i] = p[(int64_t)i * c->step];
    }
    if (is_string)
        sl_string_filled(out);
    return out;
}

static value slice_items(struct star *s, value object, const struct cut *c)
{
    bool is_list = sl_is(object, T_LIST);

    if (!is_list && c->step == 1 && c->count == sl_tuple(object)->count)
        return object;
    value out = is_list ? sl_list_new(s, c->count) : sl_tuple_new(s, c->count);
    if (!out || c->count == 0)
        return out;

    value *to = is_list ? sl_list(out)->items : sl_tuple(out)->items;
    const value *from =
        (is_list ? sl_list(object)->items : sl_tuple(object)->items) + c->first;
    if (c->step == 1 &&
        !sl_copy(s, (char *)to, (const char *)from, c->count * sizeof *to))
        return 0;
    for (uint64_t i = 0; c->step != 1 && i < c->count; i++) {
        if (!sl_charge(s, 1))
            return 0;
        to[i] = from[(int64_t)i * c->step];
    }
    if (is_list)
        sl_list(out)->count = (uint32_t)c->count;
    return out;
}

/* `start + step * i` may overflow 64 bits by less than one step, at a position
 * that has no element. The result is then clamped to the nearest int64_t. */
static int64_t range_edge(const struct sl_range *r, int64_t i)
{
    int64_t product, sum;

    if (__builtin_mul_overflow(r->step, i, &product) ||
        __builtin_add_overflow(r->start, product, &sum))
        return (r->step < 0) == (i < 0) ? INT64_MAX : INT64_MIN;
    return sum;
}

static value slice_range(struct star *s, value object, const struct cut *c)
{
    const struct sl_range *r = sl_range(object);
    int64_t step;

    if (__builtin_mul_overflow(r->step, c->step, &step))
        return sl_fail(s, "slice of range: step out of range");
    return sl_range_new(s, range_edge(r, c->first), range_edge(r, c->end),
                        step);
}

value sl_slice(struct star *s, value object, value start, value stop,
               value step)
{
    enum sl_type type = sl_type(object);
    struct cut c;
    uint64_t n;

    if (!indexable(object, &n) || type == T_STRING_ELEMS) {
        sl_fail(s, "invalid slice operand %s", sl_type_name(object));
        sl_hint_none(s, object);
        return 0;
    }
    if (n > INT64_MAX)
        return sl_fail(s, "range is too long to be sliced");
    if (!cut_out(s, start, stop, step, (int64_t)n, &c))
        return 0;
    if (type == T_STRING || type == T_BYTES)
        return slice_text(s, object, &c);
    if (type == T_RANGE)
        return slice_range(s, object, &c);
    return slice_items(s, object, &c);
}
