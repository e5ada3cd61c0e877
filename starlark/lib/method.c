#include "lib.h"

/* Functions that the VM calls without a lookup by name: methods, and len. */

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

value sl_lib_len(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 1, 1))
        return 0;
    if (sl_is(c->args[0], T_RANGE)) /* its length may exceed the result of
                                     * sl_len */
        return sl_int_u64(s, sl_range(c->args[0])->count);
    int64_t n = sl_len(c->args[0]);
    if (n < 0)
        return sl_fail(s, "len: value of type %s has no len",
                       sl_type_name(c->args[0]));
    return sl_word(n);
}
