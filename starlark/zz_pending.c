#include "vm.h"

/* Stands in for parts that are not there yet; each goes when its part comes. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define PENDING __attribute__((weak))
#define ABSENT  return sl_fail(s, "not there yet")

PENDING void sl_int_close(struct star *s)
{
}
PENDING const char *sl_nearest(const char *name, const char *const *names,
                               size_t count)
{
    return NULL;
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
PENDING void sl_float_repr(struct sl_text *t, double d)
{
    sl_text_printf(t, "%.17g", d);
}
PENDING void sl_float_format(struct sl_text *t, double d, char how)
{
    sl_text_printf(t, "%.17g", d);
}
PENDING bool sl_float_parse(const char *p, size_t length, double *out)
{
    return false;
}
PENDING bool sl_int_format(struct sl_text *t, value v, unsigned base,
                           bool upper)
{
    sl_text_printf(t, "%lld", (long long)sl_int_word(v));
    return true;
}
PENDING value sl_int_from_double(struct star *s, double d)
{
    return sl_word((int64_t)d);
}
PENDING bool sl_int_to_double(struct star *s, value v, double *out)
{
    *out = (double)sl_int_word(v);
    return true;
}
PENDING value sl_int_binary(struct star *s, enum sl_operator op, value a,
                            value b)
{
    ABSENT;
}
PENDING value sl_int_negate(struct star *s, value v)
{
    return sl_word(-sl_int_word(v));
}
PENDING int sl_number_compare(value a, value b)
{
    return (a > b) - (a < b);
}
PENDING uint32_t sl_int_hash(struct star *s, value v)
{
    return (uint32_t)v;
}
PENDING uint32_t sl_float_hash(struct star *s, double d)
{
    return (uint32_t)d;
}
PENDING int sl_int_sign(value v)
{
    return (sl_int_word(v) > 0) - (sl_int_word(v) < 0);
}
PENDING value sl_int_u64(struct star *s, uint64_t n)
{
    return sl_word((int64_t)n);
}
PENDING struct sl_pos sl_code_place(const struct sl_code *code, uint32_t pc)
{
    return (struct sl_pos){1, 1};
}
PENDING bool sl_parse(struct star *s, struct sl_arena *a, struct sl_file *file)
{
    ABSENT;
}
PENDING bool sl_resolve(struct star *s, struct sl_arena *a,
                        struct sl_file *file)
{
    ABSENT;
}
PENDING struct sl_code *sl_compile(struct star *s, struct star_program *p,
                                   const struct sl_file *file)
{
    sl_fail(s, "not there yet");
    return NULL;
}
