#include <math.h>

#include "core/table.h"
#include "lib/lib.h"

/* The host's API for values: constructors and accessors. */

const char *star_version(void)
{
    return STAR_VERSION;
}

/* --- types ------------------------------------------------------------------------- */

enum star_type star_type(star_value v)
{
    static const uint8_t types[T_COUNT] = {
        [T_NONE] = STAR_NONE,         [T_BOOL] = STAR_BOOL,
        [T_INT] = STAR_INT,           [T_FLOAT] = STAR_FLOAT,
        [T_STRING] = STAR_STRING,     [T_BYTES] = STAR_BYTES,
        [T_TUPLE] = STAR_TUPLE,       [T_LIST] = STAR_LIST,
        [T_DICT] = STAR_DICT,         [T_SET] = STAR_SET,
        [T_RANGE] = STAR_OTHER,       [T_FUNCTION] = STAR_FUNCTION,
        [T_BUILTIN] = STAR_BUILTIN,   [T_STRING_ELEMS] = STAR_OTHER,
        [T_BYTES_ELEMS] = STAR_OTHER, [T_MODULE] = STAR_OTHER,
        [T_OBJECT] = STAR_OBJECT,     [T_CELL] = STAR_OTHER,
        [T_CODE] = STAR_OTHER,        [T_GLOBALS] = STAR_OTHER,
        [T_BUFFER] = STAR_OTHER};

    return v ? (enum star_type)types[sl_type(v)] : STAR_OTHER;
}

const char *star_type_name(star_value v)
{
    return sl_type_name(v);
}

/* --- making values ------------------------------------------------------------------- */

star_value star_none(void)
{
    return V_NONE;
}

star_value star_bool(bool b)
{
    return sl_bool(b);
}

/* Runs a host call that creates one value, after clearing the error of an
 * earlier call. */
#define HOST_VALUE(s, expression)                                              \
    do {                                                                       \
        star_value made_;                                                      \
                                                                               \
        sl_host_enter(s);                                                      \
        made_ = (expression);                                                  \
        sl_host_leave(s);                                                      \
        return made_;                                                          \
    } while (0)

star_value star_int(struct star *s, int64_t n)
{
    HOST_VALUE(s, sl_int(s, n));
}

star_value star_float(struct star *s, double d)
{
    HOST_VALUE(s, sl_float(s, d));
}

star_value star_string(struct star *s, const char *text, size_t length)
{
    HOST_VALUE(s, sl_string_new(s, text, length));
}

star_value star_bytes(struct star *s, const void *data, size_t length)
{
    HOST_VALUE(s, sl_bytes_new(s, data, length));
}

star_value star_list(struct star *s)
{
    HOST_VALUE(s, sl_list_new(s, 0));
}

static value tuple_of(struct star *s, const value *items, size_t count)
{
    value v = sl_tuple_new(s, count);

    if (v && count)
        memcpy(sl_tuple(v)->items, items, count * sizeof *items);
    return v;
}

star_value star_tuple(struct star *s, const star_value *items, size_t count)
{
    HOST_VALUE(s, tuple_of(s, items, count));
}

star_value star_dict(struct star *s)
{
    HOST_VALUE(s, sl_dict_new(s, 0));
}

star_value star_str(struct star *s, star_value v)
{
    if (!v)
        return sl_no_value(s);
    HOST_VALUE(s, sl_str_value(s, v));
}

star_value star_repr(struct star *s, star_value v)
{
    if (!v)
        return sl_no_value(s);
    HOST_VALUE(s, sl_repr_value(s, v));
}

/* --- looking at values ---------------------------------------------------------------- */

bool star_truth(star_value v)
{
    return v && sl_truth(v);
}

bool star_equal(struct star *s, star_value a, star_value b, bool *equal)
{
    bool ok;

    sl_host_enter(s);
    ok = sl_equal(s, a, b, equal);
    sl_host_leave(s);
    return ok;
}

bool star_as_int(star_value v, int64_t *out)
{
    return v && sl_type(v) == T_INT && sl_int_to_i64(v, out);
}

/* Returns the nearest double. The lowest bit of the converted part is set if
 * any lower digit is nonzero: its weight is far below the precision of a
 * double, so it only affects rounding. */
static double big_to_double(const struct sl_bigint *b)
{
    unsigned __int128 top = b->digits[b->used - 1];
    uint32_t taken = 1;
    double d;

    if (b->used > 1) {
        top = top << 60 | b->digits[b->used - 2];
        taken = 2;
    }
    for (uint32_t i = 0; i < b->used - taken; i++)
        if (b->digits[i]) {
            top |= 1;
            break;
        }
    d = b->used > 32 ? INFINITY
                     : ldexp((double)top, 60 * (int)(b->used - taken));
    return b->negative ? -d : d;
}

bool star_as_float(star_value v, double *out)
{
    double d;

    if (!v || (sl_type(v) != T_FLOAT && sl_type(v) != T_INT))
        return false;
    if (sl_type(v) == T_FLOAT) {
        *out = sl_float_of(v);
        return true;
    }
    d = sl_is_int_word(v) ? (double)sl_int_word(v)
                          : big_to_double(sl_bigint(v));
    if (isinf(d))
        return false;
    *out = d;
    return true;
}

bool star_as_text(star_value v, const char **text, size_t *length)
{
    if (!sl_is(v, T_STRING) && !sl_is(v, T_BYTES))
        return false;
    *text = sl_string(v)->p;
    *length = sl_string(v)->length;
    return true;
}

size_t star_length(star_value v)
{
    if (sl_is(v, T_STRING) || sl_is(v, T_BYTES))
        return sl_string(v)->length;
    if (sl_is(v, T_LIST))
        return sl_list(v)->count;
    if (sl_is(v, T_TUPLE))
        return sl_tuple(v)->count;
    if (sl_is(v, T_DICT) || sl_is(v, T_SET))
        return sl_table(v)->count;
    return 0;
}

bool star_item(star_value v, size_t i, star_value *out)
{
    if (sl_is(v, T_LIST) && i < sl_list(v)->count)
        *out = sl_list(v)->items[i];
    else if (sl_is(v, T_TUPLE) && i < sl_tuple(v)->count)
        *out = sl_tuple(v)->items[i];
    else
        return false;
    return true;
}

/* If all holes are at the front, entry `i` has a fixed position. Otherwise
 * (a loop over the table prevents compaction) entries are counted from the
 * front. */
bool star_entry(star_value v, size_t i, star_value *key, star_value *value_out)
{
    const struct sl_table *t = sl_table(v);
    const struct sl_entry *e;

    if ((!sl_is(v, T_DICT) && !sl_is(v, T_SET)) || i >= t->count)
        return false;
    if (t->locks == 0 && t->used - t->first > t->count)
        sl_table_pack(v);
    if (t->used - t->first == t->count) {
        e = &t->entries[t->first + i];
    } else {
        uint32_t at = t->first;

        e = sl_table_next(v, &at);
        while (e && i--) {
            at++;
            e = sl_table_next(v, &at);
        }
    }
    if (key)
        *key = e->key;
    if (value_out)
        *value_out = e->value;
    return true;
}

star_value star_dict_get(struct star *s, star_value dict, const char *key)
{
    if (!sl_is(dict, T_DICT))
        return STAR_INVALID;
    return sl_table_get_text(s, dict, key, strlen(key));
}

/* --- changing them ------------------------------------------------------------------- */

bool star_append(struct star *s, star_value list, star_value item)
{
    bool ok;

    sl_host_enter(s);
    if (!sl_is(list, T_LIST))
        ok = sl_fail_as(s, STAR_ERROR_VALUE, "star_append: got %s, want list",
                        sl_type_name(list)) != 0;
    else
        ok = item && sl_may_change(s, list, "append to") &&
             sl_list_append(s, list, item);
    sl_host_leave(s);
    return ok;
}

bool star_dict_set(struct star *s, star_value dict, star_value key,
                   star_value v)
{
    bool ok;

    sl_host_enter(s);
    if (!sl_is(dict, T_DICT))
        ok = sl_fail_as(s, STAR_ERROR_VALUE, "star_dict_set: got %s, want dict",
                        sl_type_name(dict)) != 0;
    else
        ok = key && v && sl_may_change(s, dict, "insert into") &&
             sl_table_set(s, dict, key, v);
    sl_host_leave(s);
    return ok;
}
