#include <stddef.h>

#include "table.h"

/* Creation of objects, names of types, and locks. */

/* --- numbers ------------------------------------------------------------------------ */

value sl_float_boxed(struct star *s, double d)
{
    struct sl_boxed_float *f = sl_alloc_small(s, T_FLOAT, sizeof *f, sizeof *f);

    if (!f)
        return 0;
    f->d = d;
    return sl_value(f);
}

value sl_range_new(struct star *s, int64_t start, int64_t stop, int64_t step)
{
    struct sl_range *r = sl_alloc_small(s, T_RANGE, sizeof *r, sizeof *r);
    uint64_t span = 0, stride = 1;

    if (!r)
        return 0;
    if (step > 0) {
        span = start < stop ? (uint64_t)stop - (uint64_t)start : 0;
        stride = (uint64_t)step;
    } else if (step < 0) {
        span = start > stop ? (uint64_t)start - (uint64_t)stop : 0;
        stride = 0 - (uint64_t)step;
    }
    r->start = start;
    r->stop = stop;
    r->step = step;
    r->count = span ? (span - 1) / stride + 1 : 0;
    return sl_value(r);
}

/* --- strings and bytes --------------------------------------------------------------- */

value sl_text_room(struct star *s, enum sl_type type, size_t length, char **p)
{
    size_t header = offsetof(struct sl_string, bytes);
    size_t size = header + length;
    struct sl_string *string;

    if (length > SL_TEXT_MAX_BYTES)
        return sl_fail_memory(s, length);
    if (size < sizeof *string)
        size = sizeof *string;
    string = size <= SL_SMALL_BYTES
                 ? sl_alloc_small(s, type, size, sizeof *string)
                 : sl_alloc_part(s, type, size, sizeof *string);
    if (!string)
        return 0;
    string->length = (uint32_t)length;
    string->p = string->bytes;
    *p = string->bytes;
    return sl_value(string);
}

void sl_string_filled(value string)
{
    struct sl_string *x = sl_string(string);
    const char *p = x->p, *end = p + x->length;
    uint64_t all = 0, eight;

    for (; end - p >= 8; p += 8) {
        memcpy(&eight, p, sizeof eight);
        all |= eight;
    }
    for (; p < end; p++)
        all |= (unsigned char)*p;
    if (!(all & 0x8080808080808080u))
        x->o.flags |= STRING_ASCII;
}

static value text_new(struct star *s, enum sl_type type, const char *from,
                      size_t length)
{
    char *p = NULL;
    value v = sl_text_room(s, type, length, &p);

    if (!v)
        return 0;
    sl_owe(s, length / 64);
    if (length)
        memcpy(p, from, length);
    sl_string_filled(v);
    return v;
}

value sl_string_new(struct star *s, const char *p, size_t length)
{
    if (length == 0 && s->empty_string)
        return s->empty_string;
    if (length == 1)
        return sl_string_char(s, (unsigned char)*p);
    return text_new(s, T_STRING, p, length);
}

value sl_string_char(struct star *s, unsigned char c)
{
    char text = (char)c;
    value v;

    if (c >= 0x80)
        return text_new(s, T_STRING, &text, 1);
    if (!s->chars[c] && (v = text_new(s, T_STRING, &text, 1)))
        s->chars[c] = v;
    return s->chars[c];
}

value sl_bytes_new(struct star *s, const void *p, size_t length)
{
    return text_new(s, T_BYTES, p, length);
}

/* --- containers ------------------------------------------------------------------------ */

value sl_tuple_new(struct star *s, size_t count)
{
    struct sl_tuple *t;
    size_t size;

    if (count == 0 && s->empty_tuple)
        return s->empty_tuple;
    if (count > UINT32_MAX)
        return sl_fail_memory(s, count);
    size = sizeof *t + count * sizeof *t->items;
    t = size <= SL_SMALL_BYTES ? sl_alloc_small(s, T_TUPLE, size, sizeof *t)
                               : sl_alloc_part(s, T_TUPLE, size, sizeof *t);
    if (!t)
        return 0;
    t->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        t->items[i] = V_NONE;
    return sl_value(t);
}

value sl_pair(struct star *s, value a, value b)
{
    value pair = sl_tuple_new(s, 2);

    if (pair) {
        sl_tuple(pair)->items[0] = a;
        sl_tuple(pair)->items[1] = b;
    }
    return pair;
}

value sl_list_new(struct star *s, size_t capacity)
{
    struct sl_list *l = sl_alloc_small(s, T_LIST, sizeof *l, sizeof *l);
    struct sl_heap *h = &s->heap;

    if (!l || !capacity)
        return sl_value(l);
    if (capacity > UINT32_MAX)
        return sl_fail_memory(s, capacity);
    h->pinned = sl_value(l);
    l->items = sl_storage(s, capacity * sizeof *l->items);
    h->pinned = 0;
    if (!l->items)
        return 0;
    l->capacity = (uint32_t)capacity;
    return sl_value(l);
}

value sl_builtin_new(struct star *s, const char *name, sl_native *function,
                     value self)
{
    struct sl_builtin *b = sl_alloc(s, T_BUILTIN, sizeof *b);

    if (!b)
        return 0;
    b->number = s->next_number++;
    b->function = function;
    b->name = name;
    b->self = self;
    return sl_value(b);
}

/* --- types ------------------------------------------------------------------------------ */

const char *sl_type_name(value v)
{
    static const char *const names[T_COUNT] = {
        [T_NONE] = "NoneType",
        [T_BOOL] = "bool",
        [T_INT] = "int",
        [T_FLOAT] = "float",
        [T_STRING] = "string",
        [T_BYTES] = "bytes",
        [T_TUPLE] = "tuple",
        [T_LIST] = "list",
        [T_DICT] = "dict",
        [T_SET] = "set",
        [T_RANGE] = "range",
        [T_FUNCTION] = "function",
        [T_BUILTIN] = "builtin_function_or_method",
        [T_BYTES_ELEMS] = "bytes.elems",
        [T_MODULE] = "module",
    };

    if (sl_is(v, T_STRING_ELEMS))
        return sl_elems(v)->kind >= CODEPOINTS ? "string.codepoints"
                                               : "string.elems";
    if (sl_is(v, T_OBJECT))
        return sl_host_object(v)->type->name;
    return v && names[sl_type(v)] ? names[sl_type(v)] : "internal";
}

/* --- locks ------------------------------------------------------------------------------- */

static uint32_t *locks_of(value v)
{
    if (sl_is(v, T_LIST))
        return &sl_list(v)->locks;
    if (sl_is(v, T_DICT) || sl_is(v, T_SET))
        return &sl_table(v)->locks;
    return NULL;
}

void sl_lock(value v)
{
    uint32_t *locks = locks_of(v);

    if (locks && !(*locks & SL_FROZEN))
        ++*locks;
}

void sl_unlock(value v)
{
    uint32_t *locks = locks_of(v);

    if (locks && !(*locks & SL_FROZEN) && *locks)
        --*locks;
}

bool sl_may_change(struct star *s, value v, const char *verb)
{
    const uint32_t *locks = locks_of(v);
    const char *type = sl_is(v, T_LIST) ? "list" : "hash table";

    if (!locks || *locks == 0)
        return true;
    if (*locks & SL_FROZEN)
        sl_fail(s, "cannot %s frozen %s", verb, type);
    else
        sl_fail(s, "cannot %s %s during iteration", verb, type);
    return false;
}
