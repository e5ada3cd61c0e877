#ifndef STARLARK_LIB_H
#define STARLARK_LIB_H

#include "../core/ops.h"

/*
 * The built-in functions, and the methods of the types.
 *
 * A built-in gets its arguments as struct sl_call and returns a value, or 0
 * after sl_fail. It is called within sl_native_enter, so objects that it
 * creates live until it returns. It charges for its work in pieces, before
 * doing it.
 */

struct sl_builtin_entry {
    const char *name;
    sl_native *function;
};

/* lib_core.c: abs ... zip; terminated by a NULL name. */
extern const struct sl_builtin_entry sl_core_builtins[];

/* All method names. The compiler translates a name into its number, so that a
 * call needs no lookup by text. 0 if no type has a method of that name. */
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

/* Returns the method of `v`'s type with that number, or NULL. */
sl_native *sl_method(value v, enum sl_method m);

/* One table per type, indexed by method number; NULL where the type lacks the
 * method. */
extern sl_native *const sl_string_methods[METHOD_COUNT]; /* lib_string.c */
extern sl_native *const sl_bytes_methods[METHOD_COUNT];
extern sl_native *const sl_list_methods[METHOD_COUNT]; /* lib_list.c */
extern sl_native *const sl_dict_methods[METHOD_COUNT]; /* lib_dict.c */
extern sl_native *const sl_set_methods[METHOD_COUNT];  /* lib_set.c */

/* --- what built-ins share -------------------------------------------------- */

/* Checks that argument `i`, from 0, has that kind; fails with "for parameter 1:
 * got ...". */
bool sl_arg_iterable(struct star *s, const struct sl_call *c, uint32_t i);
bool sl_arg_int(struct star *s, const struct sl_call *c, uint32_t i,
                int64_t *out);
/* Checks for one positional argument and none by name; fails with "got 2
 * arguments, want <want>". */
bool sl_want_one(struct star *s, const struct sl_call *c, const char *want);

/* A parameter of one type. Check it before sl_unpack, which reports unknown,
 * repeated or missing arguments. */
struct sl_param {
    const char *name, *want; /* "key", "callable" */
    uint32_t types;          /* accepted types, as bits 1 << T_STRING */
};
#define SL_CALLABLE (1u << T_FUNCTION | 1u << T_BUILTIN)
bool sl_check_args(struct star *s, const struct sl_call *c,
                   const struct sl_param *params, uint32_t count);
/* Returns the call with its named arguments only. */
struct sl_call sl_only_named(const struct sl_call *c);
/* Whether `name` is among the named arguments, for hints. */
bool sl_names(const struct sl_call *c, const char *name);

/* Prepends the name of the built-in to the error just set and returns 0. */
value sl_failed_in(struct star *s, const struct sl_call *c);
/* Checks that the list, dict or set whose method is called may be changed; the
 * error contains the method's name. */
bool sl_self_may_change(struct star *s, const struct sl_call *c,
                        const char *verb);

/* For loops over bytes: charges for the next 32 KiB when `i` reaches them. */
static inline bool sl_pay_bytes(struct star *s, size_t i, size_t *paid)
{
    if (i < *paid)
        return true;
    *paid = i + 32768;
    return sl_charge(s, 32768 / 64);
}

/* attr.c: returns an attribute of any value, or 0; sets an error only if memory
 * is exhausted. */
value sl_attr_find(struct star *s, value object, value name);

/*
 * sort.c: sorts `items` by `keys` (which may be `items`), in place and stably;
 * `reverse` also keeps the order of equal ones. On failure, when keys cannot be
 * compared, the items are unchanged.
 */
bool sl_sort(struct star *s, value *items, const value *keys, size_t n,
             bool reverse);

sl_native sl_lib_all, sl_lib_any, sl_lib_enumerate, sl_lib_list, sl_lib_max,
    sl_lib_min, sl_lib_reversed, sl_lib_sorted, sl_lib_tuple, sl_lib_zip;

/* lib_number.c */
sl_native sl_lib_abs, sl_lib_chr, sl_lib_float, sl_lib_hash, sl_lib_int,
    sl_lib_ord, sl_lib_range;

/* method.c; also called by the VM. */
sl_native sl_lib_len;

/* lib_dict.c, lib_set.c: the functions dict and set. */
sl_native sl_lib_dict, sl_lib_set;

/* json.c */
value sl_json_module(struct star *s);

#endif
