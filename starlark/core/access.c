#include <inttypes.h>
#include <stdio.h>

#include "../lib/lib.h"
#include "error.h"
#include "table.h"
#include "text.h"

/* x[i], x[i] = y, x[a:b:c], what a `for` loop takes, x.name. */

void sl_hint_none(struct star *s, value v)
{
    if (v == V_NONE)
        sl_hint(s, "the value is None: what gave it? d.get(key) gives None for "
                   "a key that is not there");
}

/* --- index ------------------------------------------------------------------------ */

/* Indices are of 32 bits, as in the reference implementation, except into what is
 * longer: a range. */
static unsigned index_bits(uint64_t n)
{
    return n > INT32_MAX ? 64 : 32;
}

/* From an index that may be negative to one below `n`. */
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

/* How many elements an index can name; false: it cannot be indexed. */
static bool indexable(value v, uint64_t *n)
{
    int64_t length = sl_is(v, T_DICT) || sl_is(v, T_SET) ? -1 : sl_len(v);

    *n = sl_is(v, T_RANGE) ? sl_range(v)->count : (uint64_t)length;
    return length >= 0;
}

value sl_item(struct star *s, value v, uint64_t i)
{
    value text = v;
    bool as_int = true;

    switch (sl_type(v)) {
    case T_LIST:
        return i < sl_list(v)->count ? sl_list(v)->items[i] : 0;
    case T_TUPLE:
        return i < sl_tuple(v)->count ? sl_tuple(v)->items[i] : 0;
    case T_RANGE: { /* unsigned, since the product alone may leave 64 bits */
        const struct sl_range *r = sl_range(v);
        if (i >= r->count)
            return 0;
        return sl_int(s, (int64_t)((uint64_t)r->start + i * (uint64_t)r->step));
    }
    case T_BYTES:
        break;
    case T_STRING:
        as_int = false;
        break;
    default: /* elems() or elem_ords() */
        text = sl_elems(v)->string;
        as_int = sl_elems(v)->kind == ELEMS_ORDS;
    }
    if (i >= sl_string(text)->length)
        return 0;
    unsigned char c = (unsigned char)sl_string(text)->p[i];
    return as_int ? sl_word(c) : sl_string_char(s, c);
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

/* Replaces *at when `v` is given; counted from the end when negative. */
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

/* The text of what is wrong with a bound: those of slices and of find(). */
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

/* A slice: `count` elements from `first` on, `step` apart. */
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

/* `start + step * i` may pass the end of the 64 bits by less than a step, where
 * no element is: then the last number there is serves as well. */
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

/* --- iteration ------------------------------------------------------------------- */

bool sl_iter_begin(struct star *s, value iterable, struct sl_iter *it)
{
    if (!sl_is_iterable(iterable)) {
        sl_fail(s, "%s value is not iterable", sl_type_name(iterable));
        if (sl_is(iterable, T_STRING))
            sl_hint(s,
                    "use its elems() for bytes, codepoints() for characters");
        return false;
    }
    sl_lock(iterable);
    *it = (struct sl_iter){.of = iterable};
    return true;
}

void sl_iter_end(struct sl_iter *it)
{
    sl_unlock(it->of);
}

static value next_entry(struct sl_iter *it)
{
    uint32_t i = (uint32_t)it->i;
    struct sl_entry *e = sl_table_next(it->of, &i);

    it->i = (uint64_t)i + 1;
    return e ? e->key : 0;
}

static value next_rune(struct star *s, struct sl_iter *it, bool as_int)
{
    const struct sl_string *text = sl_string(sl_elems(it->of)->string);
    unsigned width;
    char bytes[4];

    if (it->i >= text->length)
        return 0;
    uint32_t rune =
        sl_rune(text->p + it->i, text->length - (size_t)it->i, &width);
    it->i += width;
    if (as_int)
        return sl_word(rune);
    if (rune < 0x80)
        return sl_string_char(s, (unsigned char)rune);
    return sl_string_new(s, bytes, sl_rune_encode(rune, bytes));
}

value sl_iter_next(struct star *s, struct sl_iter *it)
{
    enum sl_type type = sl_type(it->of);

    if (!sl_charge(s, 1))
        return 0;
    if (type == T_DICT || type == T_SET)
        return next_entry(it);
    if (type == T_STRING_ELEMS && sl_elems(it->of)->kind >= CODEPOINTS)
        return next_rune(s, it, sl_elems(it->of)->kind == CODEPOINT_ORDS);
    return sl_item(s, it->of, it->i++);
}

/* --- attributes ------------------------------------------------------------------ */

/* What people who know Python, and models, reach for. */
/* clang-format off */
static const struct {
    enum sl_type type; /* T_COUNT: any */
    const char *name, *hint;
} habits[] = {
    {T_DICT, "copy", "a copy of d is dict(d)"},
    {T_DICT, "fromkeys", "write {key: value for key in keys}"},
    {T_DICT, "has_key", "write key in d"},
    {T_DICT, "iteritems", "use items()"},
    {T_DICT, "iterkeys", "use keys()"},
    {T_DICT, "itervalues", "use values()"},
    {T_LIST, "add", "use append(x)"},
    {T_LIST, "copy", "a copy of a list is list(x)"},
    {T_LIST, "count", "write len([y for y in x if y == value])"},
    {T_LIST, "push", "use append(x)"},
    {T_LIST, "reverse", "use reversed(x), which gives a new list"},
    {T_LIST, "sort", "use sorted(x), which gives a new list"},
    {T_LIST, "join", "write separator.join(list)"},
    {T_TUPLE, "append", "a tuple cannot change: use a list, or t + (x,)"},
    {T_TUPLE, "count", "write len([y for y in t if y == value])"},
    {T_TUPLE, "index", "use list(t).index(x)"},
    {T_STRING, "append", "a string cannot change: write s + t"},
    {T_STRING, "casefold", "use lower()"},
    {T_STRING, "contains", "write part in s"},
    {T_STRING, "decode", "strings are text already"},
    {T_STRING, "encode", "use bytes(s)"},
    {T_STRING, "format_map", "use format(**mapping)"},
    {T_STRING, "isdecimal", "use isdigit()"},
    {T_STRING, "isnumeric", "use isdigit()"},
    {T_STRING, "trim", "use strip()"},
    {T_STRING, "ljust", "write s + \" \" * (width - len(s))"},
    {T_STRING, "rjust", "write \" \" * (width - len(s)) + s"},
    {T_STRING, "center", "write \" \" * ((width - len(s)) // 2) + s"},
    {T_STRING, "zfill", "write \"0\" * (width - len(s)) + s"},
    {T_BYTES, "decode", "use str(b)"},
    {T_SET, "copy", "a copy of a set is set(x)"},
    {T_MODULE, "loads", "use json.decode(text)"},
    {T_MODULE, "parse", "use json.decode(text)"},
    {T_MODULE, "dumps", "use json.encode(x)"},
    {T_MODULE, "stringify", "use json.encode(x)"},
    {T_COUNT, "contains", "write value in x"},
    {T_COUNT, "len", "use len(x)"},
    {T_COUNT, "length", "use len(x)"},
    {T_COUNT, "size", "use len(x)"},
    {T_COUNT, "__class__", "use type(x)"},
    {T_COUNT, "__len__", "use len(x)"},
};
/* clang-format on */

static void hint_at_habit(struct star *s, value object, value name)
{
    if (object == V_NONE) {
        sl_hint_none(s, object);
        return;
    }
    if (sl_is(object, T_DICT) && sl_table_find_string(s, object, name)) {
        sl_hint(s, "write d[\"%.*s\"]: the key of a dict is no field",
                SL_SHOWN(name));
        return;
    }
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if ((habits[i].type == T_COUNT || habits[i].type == sl_type(object)) &&
            sl_text_is(name, habits[i].name)) {
            sl_hint(s, "%s", habits[i].hint);
            return;
        }
}

value sl_attr_find(struct star *s, value object, value name)
{
    const struct sl_string *n = sl_string(name);

    if (sl_is(object, T_OBJECT))
        return sl_host_attr(s, object, name);
    if (sl_is(object, T_MODULE))
        return sl_table_get_text(s, sl_module(object)->members, n->p,
                                 n->length);
    enum sl_method m = sl_method_number(n->p, n->length);
    sl_native *function = m ? sl_method(object, m) : NULL;
    return function ? sl_builtin_new(s, sl_method_names[m], function, object)
                    : 0;
}

/* The attribute that was probably meant, into `text`. */
static bool nearest(value object, value name, char *text, size_t size)
{
    struct sl_spelling sp;

    sl_spell_begin(&sp, sl_string(name)->p, sl_string(name)->length);
    for (int m = 1; m < METHOD_COUNT; m++)
        if (sl_method(object, (enum sl_method)m))
            sl_spell_try(&sp, sl_method_names[m], strlen(sl_method_names[m]));
    for (const struct star_member *m = sl_host_members(object); m->name; m++)
        sl_spell_try(&sp, m->name, strlen(m->name));
    if (sp.best)
        snprintf(text, size, " (did you mean .%.*s?)", (int)sp.best_length,
                 sp.best);
    return sp.best;
}

value sl_attr(struct star *s, value object, value name)
{
    char meant[80] = "";
    value found = sl_attr_find(s, object, name);

    if (found || sl_failed(s))
        return found;
    nearest(object, name, meant, sizeof meant);
    sl_fail(s, "%s has no .%.*s field or method%s", sl_type_name(object),
            SL_SHOWN(name), meant);
    hint_at_habit(s, object, name);
    return 0;
}
