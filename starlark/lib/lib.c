#include "lib.h"

#include <stdio.h>

#include "../core/error.h"

/* clang-format off */
const char *const sl_method_names[METHOD_COUNT] = {
    "",
#define M(name) #name,
    SL_METHODS(M)
#undef M
};

/* clang-format on */

/* The list is in alphabetical order: six comparisons find one or none. */
enum sl_method sl_method_number(const char *name, size_t length)
{
    int low = 1, high = METHOD_COUNT - 1;

    while (low <= high) {
        int middle = (low + high) / 2;
        size_t n = strlen(sl_method_names[middle]);
        int order =
            memcmp(name, sl_method_names[middle], n < length ? n : length);
        if (order == 0)
            order = (length > n) - (length < n);
        if (order == 0)
            return (enum sl_method)middle;
        if (order < 0)
            high = middle - 1;
        else
            low = middle + 1;
    }
    return METHOD_NONE;
}

sl_native *sl_method(value v, enum sl_method m)
{
    static sl_native *const *const tables[T_COUNT] = {
        [T_STRING] = sl_string_methods, [T_BYTES] = sl_bytes_methods,
        [T_LIST] = sl_list_methods,     [T_DICT] = sl_dict_methods,
        [T_SET] = sl_set_methods,
    };
    sl_native *const *table = tables[sl_type(v)];

    return table ? table[m] : NULL;
}

/* --- arguments --------------------------------------------------------------- */

value sl_failed_in(struct star *s, const struct sl_call *c)
{
    sl_fail_prefix(s, c->name);
    return 0;
}

bool sl_self_may_change(struct star *s, const struct sl_call *c,
                        const char *verb)
{
    return sl_may_change(s, c->self, verb) || sl_failed_in(s, c);
}

bool sl_text_is(value string, const char *text)
{
    return sl_string(string)->length == strlen(text) &&
           memcmp(sl_string(string)->p, text, strlen(text)) == 0;
}

bool sl_names(const struct sl_call *c, const char *name)
{
    for (uint32_t i = 0; i < c->named; i++)
        if (sl_text_is(c->names[i], name))
            return true;
    return false;
}

struct sl_call sl_only_named(const struct sl_call *c)
{
    struct sl_call named = *c;

    named.args += c->count;
    named.count = 0;
    return named;
}

/* In the order in which they are given; a name is quoted where it was: so does
 * the reference implementation. */
bool sl_check_args(struct star *s, const struct sl_call *c,
                   const struct sl_param *params, uint32_t count)
{
    for (uint32_t i = 0; c->count <= count && i < c->count + c->named; i++) {
        bool named = i >= c->count;
        uint32_t p = named ? 0 : i;
        while (named && p < count &&
               !sl_text_is(c->names[i - c->count], params[p].name))
            p++;
        if (p >= count || (named && p < c->count))
            return true;
        if (params[p].types >> sl_type(c->args[i]) & 1)
            continue;
        const char *quote = named ? "\"" : "";
        sl_fail(s, "%s: for parameter %s%s%s: got %s, want %s", c->name, quote,
                params[p].name, quote, sl_type_name(c->args[i]),
                params[p].want);
        return false;
    }
    return true;
}

bool sl_want_one(struct star *s, const struct sl_call *c, const char *want)
{
    if (c->named)
        sl_fail(s, "%s does not accept keyword arguments", c->name);
    else if (c->count != 1)
        sl_fail(s, "%s: got %u arguments, want %s", c->name, c->count, want);
    else
        return true;
    return false;
}

bool sl_arg_iterable(struct star *s, const struct sl_call *c, uint32_t i)
{
    if (sl_is_iterable(c->args[i]))
        return true;
    sl_fail(s, "%s: for parameter %u: got %s, want iterable", c->name, i + 1,
            sl_type_name(c->args[i]));
    if (sl_is(c->args[i], T_STRING))
        sl_hint(s, "a string is not iterable: use its elems() or codepoints()");
    return false;
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

bool sl_arg_int(struct star *s, const struct sl_call *c, uint32_t i,
                int64_t *out)
{
    char where[80];

    if (sl_want_int(s, c->args[i], 64, out))
        return true;
    snprintf(where, sizeof where, "%s: for parameter %u", c->name, i + 1);
    sl_fail_prefix(s, where);
    return false;
}
