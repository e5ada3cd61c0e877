#ifndef STARLARK_LIB_H
#define STARLARK_LIB_H

#include "ops.h"

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
const char *sl_method_name(enum sl_method m);

/* The method of that number of `v`'s type, or NULL. */
sl_native *sl_method(value v, enum sl_method m);

/* Tables by number, one a type; NULL where the type has none of that name. */
extern sl_native *const sl_string_methods[METHOD_COUNT]; /* lib_string.c */
extern sl_native *const sl_bytes_methods[METHOD_COUNT];
extern sl_native *const sl_list_methods[METHOD_COUNT]; /* lib_list.c */
extern sl_native *const sl_dict_methods[METHOD_COUNT]; /* lib_dict.c */
extern sl_native *const sl_set_methods[METHOD_COUNT];  /* lib_set.c */

/* json.c */
value sl_json_module(struct star *s);

#endif
