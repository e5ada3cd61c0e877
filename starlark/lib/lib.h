#ifndef STARLARK_LIB_H
#define STARLARK_LIB_H

#include "../core/ops.h"

/*
 * lib: the built-in functions and the methods of the types.
 *
 * A built-in gets its arguments as struct sl_call and returns a value, or 0
 * after sl_fail. It is called within sl_native_enter: objects it makes live
 * until it returns. It charges for its work, in pieces, before it does it.
 */

struct sl_builtin_entry {
    const char *name;
    sl_native *function;
};

/* lib_core.c: abs ... zip; ended by a NULL name. */
extern const struct sl_builtin_entry sl_core_builtins[];

/* Every method name there is. The compiler turns a name into its number, so that
 * a call finds its method without looking up a text. 0: no method of that name. */
/* clang-format off */
#define SL_METHODS(M) \
    M(add) M(append) M(capitalize) M(clear) M(codepoint_ords) M(codepoints) \
    M(count) M(difference) M(difference_update) M(discard) M(elem_ords) \
    M(elems) M(endswith) M(extend) M(find) M(format) M(get) M(index) M(insert) \
    M(intersection) M(intersection_update) M(isalnum) M(isalpha) M(isdigit) \
    M(isdisjoint) M(islower) M(isspace) M(issubset) M(issuperset) M(istitle) \
    M(isupper) M(items) M(join) M(keys) M(lower) M(lstrip) M(partition) M(pop) \
    M(popitem) M(remove) M(removeprefix) M(removesuffix) M(replace) M(rfind) \
    M(rindex) M(rpartition) M(rsplit) M(rstrip) M(setdefault) M(split) \
    M(splitlines) M(startswith) M(strip) M(symmetric_difference) \
    M(symmetric_difference_update) M(title) M(union) M(update) M(upper) \
    M(values)
/* clang-format on */
enum sl_method {
    METHOD_NONE,
#define M(name) METHOD_##name,
    SL_METHODS(M)
#undef M
        METHOD_COUNT
};
enum sl_method sl_method_number(const char *name, size_t length);
extern const char *const sl_method_names[METHOD_COUNT];

/* The method of that number of `v`'s type, or NULL. */
sl_native *sl_method(value v, enum sl_method m);

/* Tables by number, one a type; NULL where the type has none of that name. */
extern sl_native *const sl_string_methods[METHOD_COUNT]; /* lib_string.c */
extern sl_native *const sl_bytes_methods[METHOD_COUNT];
extern sl_native *const sl_list_methods[METHOD_COUNT]; /* lib_list.c */
extern sl_native *const sl_dict_methods[METHOD_COUNT]; /* lib_dict.c */
extern sl_native *const sl_set_methods[METHOD_COUNT];  /* lib_set.c */

/* --- what built-ins share -------------------------------------------------- */

/* Argument `i`, from 0, is of that kind; else "for parameter 1: got ...". */
bool sl_arg_iterable(struct star *s, const struct sl_call *c, uint32_t i);
bool sl_arg_int(struct star *s, const struct sl_call *c, uint32_t i,
                int64_t *out);
/* One argument, none by name; else "got 2 arguments, want <want>". */
bool sl_want_one(struct star *s, const struct sl_call *c, const char *want);

/* A parameter that takes one type. To be checked before sl_unpack, which finds
 * unknown, repeated or missing arguments. */
struct sl_param {
    const char *name, *want; /* "key", "callable" */
    uint32_t types;          /* 1 << T_STRING: what it takes */
};
#define SL_CALLABLE (1u << T_FUNCTION | 1u << T_BUILTIN)
bool sl_check_args(struct star *s, const struct sl_call *c,
                   const struct sl_param *params, uint32_t count);
/* The named arguments of a call alone. */
struct sl_call sl_only_named(const struct sl_call *c);
/* Whether `name` is among the named arguments: for hints. */
bool sl_names(const struct sl_call *c, const char *name);

/* Puts the name of the built-in before the error just set; 0. */
value sl_failed_in(struct star *s, const struct sl_call *c);
/* Of the list, dict or set whose method is called: with its name, too. */
bool sl_self_may_change(struct star *s, const struct sl_call *c,
                        const char *verb);

/* For loops over bytes: pays for the next 32 KiB when `i` gets there. */
static inline bool sl_pay_bytes(struct star *s, size_t i, size_t *paid)
{
    if (i < *paid)
        return true;
    *paid = i + 32768;
    return sl_charge(s, 32768 / 64);
}

/* attr.c: an attribute of any value, or 0; no error unless memory ends. */
value sl_attr_find(struct star *s, value object, value name);

/*
 * sort.c: sorts `items` by `keys` (items itself, when they are their own), in
 * place and stably; `reverse` keeps equal ones in their order, too. Fails where
 * keys cannot be compared; the items are then as they were.
 */
bool sl_sort(struct star *s, value *items, const value *keys, size_t n,
             bool reverse);

sl_native sl_lib_all, sl_lib_any, sl_lib_enumerate, sl_lib_list, sl_lib_max,
    sl_lib_min, sl_lib_reversed, sl_lib_sorted, sl_lib_tuple, sl_lib_zip;

/* lib_number.c */
sl_native sl_lib_abs, sl_lib_chr, sl_lib_float, sl_lib_hash, sl_lib_int,
    sl_lib_ord, sl_lib_range;

/* method.c: the VM knows it, too. */
sl_native sl_lib_len;

/* lib_dict.c, lib_set.c: the functions dict and set. */
sl_native sl_lib_dict, sl_lib_set;

/* json.c */
value sl_json_module(struct star *s);

#endif
