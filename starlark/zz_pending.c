#include "vm.h"

/* Stands in for parts that are not there yet; each goes when its part comes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define PENDING __attribute__((weak))

PENDING void sl_vm_mark_roots(struct star *s,
                              void (*mark)(struct star *s, value v))
{
}
PENDING void sl_vm_sweep_programs(struct star *s)
{
}
PENDING void sl_vm_close(struct star *s)
{
}
PENDING void sl_int_close(struct star *s)
{
}
PENDING value sl_json_module(struct star *s)
{
    return 0;
}
PENDING const struct sl_builtin_entry sl_core_builtins[] = {{NULL, NULL}};
PENDING bool sl_equal(struct star *s, value a, value b, bool *out)
{
    *out = a == b ||
           (sl_is(a, T_STRING) && sl_is(b, T_STRING) && sl_text_equal(a, b));
    return true;
}
PENDING bool sl_hash(struct star *s, value v, uint32_t *out)
{
    *out = sl_is(v, T_STRING) ? sl_text_hash(s, v) : (uint32_t)(v >> 4);
    return true;
}
PENDING value sl_int(struct star *s, int64_t n)
{
    return sl_word(n);
}
PENDING value sl_int_parse(struct star *s, const char *digits, size_t length,
                           unsigned base, bool negative)
{
    int64_t n = 0;

    while (length--)
        n = n * base + (*digits++ - '0');
    return sl_word(negative ? -n : n);
}
PENDING bool sl_int_to_i64(value v, int64_t *out)
{
    *out = sl_int_word(v);
    return true;
}
PENDING bool sl_truth(value v)
{
    return v != V_FALSE && v != V_NONE;
}
PENDING bool sl_unpack(struct star *s, const struct sl_call *c,
                       const char *pattern, value *out)
{
    return false;
}
PENDING bool sl_iter_begin(struct star *s, value iterable, struct sl_iter *it)
{
    return false;
}
PENDING value sl_iter_next(struct star *s, struct sl_iter *it)
{
    return 0;
}
PENDING void sl_iter_end(struct sl_iter *it)
{
}
PENDING void sl_float_repr(struct sl_text *t, double d)
{
    sl_text_printf(t, "%.17g", d);
}
PENDING bool sl_int_format(struct sl_text *t, value v, unsigned base,
                           bool upper)
{
    sl_text_printf(t, "%lld", (long long)sl_int_word(v));
    return true;
}
