#include "../core/text.h"
#include "lib.h"

/* Built-in functions on values of any type, and the table of all built-in
 * functions. */

static value lib_bool(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 0, 1))
        return 0;
    return sl_bool(c->count && sl_truth(c->args[0]));
}

static value lib_type(struct star *s, const struct sl_call *c)
{
    if (!sl_want_one(s, c, "exactly 1"))
        return 0;
    const enum sl_type type = sl_type(c->args[0]);
    if (s->type_names[type])
        return s->type_names[type];
    const char *name = sl_type_name(c->args[0]);
    value v = sl_intern(s, name, strlen(name));
    /* these types have several names */
    if (type != T_STRING_ELEMS && type != T_OBJECT)
        s->type_names[type] = v;
    return v;
}

/* --- text ------------------------------------------------------------------------ */

static value lib_repr(struct star *s, const struct sl_call *c)
{
    return sl_want_args(s, c, 1, 1) ? sl_repr_value(s, c->args[0]) : 0;
}

static value lib_str(struct star *s, const struct sl_call *c)
{
    return sl_want_one(s, c, "exactly 1") ? sl_str_value(s, c->args[0]) : 0;
}

/* Returns any bytes as valid UTF-8. */
static value bytes_from_string(struct star *s, value string)
{
    const struct sl_string *from = sl_string(string);
    struct sl_text t = {.s = s};
    value bytes = 0;

    if (from->o.flags & STRING_ASCII)
        return sl_bytes_new(s, from->p, from->length);
    if (sl_text_put_valid(&t, from->p, from->length))
        bytes = sl_bytes_new(s, t.p ? t.p : "", t.length);
    sl_text_free(&t);
    return bytes;
}

static bool append_byte(struct star *s, struct sl_text *t, value v, uint64_t i)
{
    int64_t byte;

    if (sl_want_int(s, v, 8, &byte)) {
        sl_text_char(t, (char)byte);
        return !t->failed;
    }
    sl_fail(s, "bytes: at index %llu, %s", (unsigned long long)i,
            star_error_message(s));
    return false;
}

static value bytes_from_ints(struct star *s, value iterable)
{
    struct sl_text t = {.s = s};
    struct sl_iter it;
    uint64_t i = 0;
    value v, bytes = 0;

    if (!sl_iter_begin(s, iterable, &it))
        return 0;
    while ((v = sl_iter_next(s, &it)) && append_byte(s, &t, v, i))
        i++;
    sl_iter_end(&it);
    if (!sl_failed(s))
        bytes = sl_bytes_new(s, t.p ? t.p : "", t.length);
    sl_text_free(&t);
    return bytes;
}

static value lib_bytes(struct star *s, const struct sl_call *c)
{
    if (!sl_want_one(s, c, "exactly 1"))
        return 0;
    value x = c->args[0];
    if (sl_is(x, T_BYTES))
        return x;
    if (sl_is(x, T_STRING))
        return bytes_from_string(s, x);
    if (sl_is_iterable(x))
        return bytes_from_ints(s, x);
    return sl_fail(s, "bytes: got %s, want string, bytes, or iterable of ints",
                   sl_type_name(x));
}

/* --- print and fail --------------------------------------------------------------- */

/* Joins the arguments, strings unquoted, separated by the named argument
 * "sep". */
static bool join_args(struct star *s, const struct sl_call *c,
                      struct sl_text *t, bool raw_bytes)
{
    static const struct sl_param params[] = {{"sep", "string", 1 << T_STRING}};
    struct sl_call named = sl_only_named(c);
    value sep;

    if (!sl_check_args(s, &named, params, 1))
        return false;
    if (!sl_unpack(s, &named, "sep?", &sep)) {
        if (sl_names(c, "end"))
            sl_hint(s, "print always ends the line: collect the parts, and "
                       "print them joined");
        return false;
    }
    for (uint32_t i = 0; i < c->count; i++) {
        value v = c->args[i];
        bool raw = sl_is(v, T_STRING) || (raw_bytes && sl_is(v, T_BYTES));
        if (i > 0 && sep)
            sl_text_append(t, sl_string(sep)->p, sl_string(sep)->length);
        else if (i > 0)
            sl_text_char(t, ' ');
        if (!sl_charge(s, 1 + (raw ? sl_string(v)->length / 64 : 0)))
            return false;
        if (raw)
            sl_text_append(t, sl_string(v)->p, sl_string(v)->length);
        else if (!sl_repr(t, v))
            return false;
    }
    return !t->failed;
}

static value give(struct star *s, const struct sl_text *t)
{
    size_t limit = s->limits.output_bytes;

    if (limit &&
        (s->output_bytes >= limit || t->length > limit - s->output_bytes))
        return sl_fail_as(s, STAR_ERROR_OUTPUT, "printed more than %zu bytes",
                          limit);
    s->output_bytes += t->length;
    if (s->options.print && !s->options.print(s->options.ctx, t->p, t->length))
        return sl_fail_as(s, STAR_ERROR_OUTPUT,
                          "print: the output was not accepted");
    return V_NONE;
}

static value lib_print(struct star *s, const struct sl_call *c)
{
    struct sl_text t = {.s = s};
    value result = 0;

    if (join_args(s, c, &t, true)) {
        sl_text_char(&t, '\n');
        result = t.failed ? 0 : give(s, &t);
    }
    sl_text_free(&t);
    return result;
}

/* Not formatted, since the message may contain NUL. */
static value lib_fail(struct star *s, const struct sl_call *c)
{
    struct sl_text t = {.s = s}, shown = {.s = s};
    size_t from = 0;

    if (!join_args(s, c, &t, false))
        goto done;
    if (t.length > SL_SHOWN_BYTES)
        t.length = SL_SHOWN_BYTES;
    for (size_t i = 0; t.p && i <= t.length; i++)
        if (i == t.length || !t.p[i]) {
            sl_text_append(&shown, t.p + from, i - from);
            sl_text_append(&shown, "\\x00", i < t.length ? 4 : 0);
            from = i + 1;
        }
    if (!shown.failed)
        sl_fail(s, "fail: %.*s", (int)shown.length, shown.p ? shown.p : "");
done:
    sl_text_free(&shown);
    sl_text_free(&t);
    return 0;
}

/* --- attributes ------------------------------------------------------------------- */

/* Shared by getattr() and hasattr(). Returns 0 without an error if the
 * attribute is missing. */
static value find_attr(struct star *s, const struct sl_call *c, uint32_t max)
{
    if (!sl_want_args(s, c, 2, max))
        return 0;
    if (sl_is(c->args[1], T_STRING))
        return sl_attr_find(s, c->args[0], c->args[1]);
    return sl_fail(s, "%s: for parameter 2: got %s, want string", c->name,
                   sl_type_name(c->args[1]));
}

static value lib_getattr(struct star *s, const struct sl_call *c)
{
    value found = find_attr(s, c, 3);

    if (found || sl_failed(s))
        return found;
    if (c->count == 3)
        return c->args[2];
    return sl_fail(s, "getattr: %s has no .%.*s field or method",
                   sl_type_name(c->args[0]), SL_SHOWN(c->args[1]));
}

static value lib_hasattr(struct star *s, const struct sl_call *c)
{
    value found = find_attr(s, c, 2);

    return found || !sl_failed(s) ? sl_bool(found) : 0;
}

/* Adds the names of a host object's members, sorted. */
static value host_names(struct star *s, value object, value list)
{
    const struct star_member *m = sl_host_members(object);
    struct sl_list *l = sl_list(list);

    for (; m->name; m++) {
        value v = sl_intern(s, m->name, strlen(m->name));
        if (!v || !sl_list_append(s, list, v))
            return 0;
    }
    return sl_sort(s, l->items, l->items, l->count, false) ? list : 0;
}

static value lib_dir(struct star *s, const struct sl_call *c)
{
    if (!sl_want_one(s, c, "1"))
        return 0;
    value list = sl_list_new(s, 0);
    if (list && sl_is(c->args[0], T_MODULE)) {
        bool ok = sl_list_extend(s, list, sl_module(c->args[0])->members) &&
                  sl_sort(s, sl_list(list)->items, sl_list(list)->items,
                          sl_list(list)->count, false);
        return ok ? list : 0;
    }
    if (list && sl_is(c->args[0], T_OBJECT))
        return host_names(s, c->args[0], list);
    for (int m = 1; list && m < METHOD_COUNT;
         m++) { /* methods are numbered in alphabetical order */
        const char *name = sl_method_names[m];
        if (!sl_method(c->args[0], (enum sl_method)m))
            continue;
        value v = sl_intern(s, name, strlen(name));
        if (!v || !sl_list_append(s, list, v))
            return 0;
    }
    return list;
}

/* clang-format off */
const struct sl_builtin_entry sl_core_builtins[] = {
    {"abs", sl_lib_abs},             {"all", sl_lib_all},
    {"any", sl_lib_any},             {"bool", lib_bool},
    {"bytes", lib_bytes},            {"chr", sl_lib_chr},
    {"dict", sl_lib_dict},           {"dir", lib_dir},
    {"enumerate", sl_lib_enumerate}, {"fail", lib_fail},
    {"float", sl_lib_float},         {"getattr", lib_getattr},
    {"hasattr", lib_hasattr},        {"hash", sl_lib_hash},
    {"int", sl_lib_int},             {"len", sl_lib_len},
    {"list", sl_lib_list},           {"max", sl_lib_max},
    {"min", sl_lib_min},             {"ord", sl_lib_ord},
    {"print", lib_print},            {"range", sl_lib_range},
    {"repr", lib_repr},              {"reversed", sl_lib_reversed},
    {"set", sl_lib_set},             {"sorted", sl_lib_sorted},
    {"str", lib_str},                {"tuple", sl_lib_tuple},
    {"type", lib_type},              {"zip", sl_lib_zip},
    {NULL, NULL},
};
/* clang-format on */
