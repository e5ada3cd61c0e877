#include <inttypes.h>
#include <math.h>

#include "lib.h"

/* Built-in functions on numbers, and on characters as numbers. */

value sl_lib_abs(struct star *s, const struct sl_call *c)
{
    if (!sl_want_args(s, c, 1, 1))
        return 0;
    value x = c->args[0];
    if (sl_type(x) == T_FLOAT)
        return sl_float(s, fabs(sl_float_of(x)));
    if (sl_type(x) == T_INT)
        return sl_int_sign(x) < 0 ? sl_int_negate(s, x) : x;
    return sl_fail(s, "got %s, want int or float", sl_type_name(x));
}

/* --- characters ----------------------------------------------------------------- */

value sl_lib_chr(struct star *s, const struct sl_call *c)
{
    char bytes[4];
    int64_t n;

    if (!sl_want_one(s, c, "1"))
        return 0;
    if (!sl_want_int(s, c->args[0], 32, &n))
        return sl_failed_in(s, c);
    if (n < 0)
        return sl_fail(
            s, "chr: Unicode code point %" PRId64 " out of range (<0)", n);
    if (n > 0x10ffff)
        return sl_fail(
            s, "chr: Unicode code point U+%" PRIX64 " out of range (>0x10FFFF)",
            (uint64_t)n);
    if (n < 0x80)
        return sl_string_char(s, (unsigned char)n);
    if (n >= 0xd800 && n < 0xe000) /* surrogates are not characters */
        n = 0xfffd;
    return sl_string_new(s, bytes, sl_rune_encode((uint32_t)n, bytes));
}

value sl_lib_ord(struct star *s, const struct sl_call *c)
{
    size_t count = 0, paid = 0;
    unsigned width = 0;

    if (!sl_want_one(s, c, "1"))
        return 0;
    const struct sl_string *text = sl_string(c->args[0]);
    if (sl_is(c->args[0], T_BYTES)) {
        if (text->length == 1)
            return sl_word((unsigned char)text->p[0]);
        return sl_fail(s, "ord: bytes has length %u, want 1", text->length);
    }
    if (!sl_is(c->args[0], T_STRING))
        return sl_fail(s, "ord: got %s, want string or bytes",
                       sl_type_name(c->args[0]));
    uint32_t rune = text->length ? sl_rune(text->p, text->length, &width) : 0;
    if (width && width == text->length)
        return sl_word(rune);
    for (size_t i = 0; i < text->length; i += width, count++) {
        if (!sl_pay_bytes(s, i, &paid))
            return 0;
        sl_rune(text->p + i, text->length - i, &width);
    }
    return sl_fail(s, "ord: string encodes %zu Unicode code points, want 1",
                   count);
}

/* Hashes strings like java.lang.String.hashCode over their UTF-16 form, and
 * bytes by FNV-1a. */
value sl_lib_hash(struct star *s, const struct sl_call *c)
{
    size_t paid = 0;
    unsigned width = 1;

    if (!sl_want_args(s, c, 1, 1))
        return 0;
    bool is_bytes = sl_is(c->args[0], T_BYTES);
    if (!is_bytes && !sl_is(c->args[0], T_STRING))
        return sl_fail(s, "hash: got %s, want string or bytes",
                       sl_type_name(c->args[0]));
    const struct sl_string *text = sl_string(c->args[0]);
    uint32_t h = is_bytes ? 2166136261u : 0;
    for (size_t i = 0; i < text->length; i += width) {
        if (!sl_pay_bytes(s, i, &paid))
            return 0;
        if (is_bytes) {
            h = (h ^ (unsigned char)text->p[i]) * 16777619u;
            continue;
        }
        uint32_t rune = sl_rune(text->p + i, text->length - i, &width);
        if (rune >= 0x10000) {
            rune -= 0x10000;
            h = 31 * h + (0xd800 | rune >> 10);
            rune = 0xdc00 | (rune & 0x3ff);
        }
        h = 31 * h + rune;
    }
    return sl_word(is_bytes ? (int64_t)h : (int32_t)h);
}

/* --- float ----------------------------------------------------------------------- */

static value float_from_text(struct star *s, value x)
{
    const struct sl_string *text = sl_string(x);
    double d;

    if (text->length == 0)
        return sl_fail(s, "float: empty string");
    if (!sl_charge(s, text->length / 8))
        return 0;
    if (!sl_float_parse(text->p, text->length, &d))
        return sl_fail(s, "invalid float literal: %.*s", SL_SHOWN(x));
    char last = (char)(text->p[text->length - 1] | 0x20);
    if (isinf(d) && last != 'f' && last != 'y') /* 1e999, as opposed to inf
                                                 * and infinity */
        return sl_fail(s, "floating-point number too large");
    return sl_float(s, d);
}

value sl_lib_float(struct star *s, const struct sl_call *c)
{
    double d;

    if (c->named)
        return sl_fail(s, "float does not accept keyword arguments");
    if (c->count == 0)
        return sl_float(s, 0);
    if (c->count != 1)
        return sl_fail(s, "float got %u arguments, wants 1", c->count);
    value x = c->args[0];
    switch (sl_type(x)) {
    case T_BOOL:
        return sl_float(s, x == V_TRUE);
    case T_INT:
        return sl_int_to_double(s, x, &d) ? sl_float(s, d) : 0;
    case T_FLOAT:
        return x;
    case T_STRING:
        return float_from_text(s, x);
    default:
        return sl_fail(s, "float got %s, want number or string",
                       sl_type_name(x));
    }
}

/* --- int ------------------------------------------------------------------------- */

/* Returns 2, 8 or 16 for "0b", "0o", "0x" before at least one more
 * character. */
static unsigned prefix_base(const char *p, size_t length)
{
    char letter = length < 3 || p[0] != '0' ? '\0' : (char)(p[1] | 0x20);

    return letter == 'b' ? 2 : letter == 'o' ? 8 : letter == 'x' ? 16 : 0;
}

static bool all_zeros(const char *p, size_t length)
{
    while (length > 0 && p[length - 1] == '0')
        length--;
    return length == 0;
}

/* Returns 0 without an error if the text is not a number of that base. */
static value parse_int(struct star *s, const char *p, size_t length,
                       unsigned base)
{
    bool negative = length > 0 && *p == '-';

    if (length > 0 && (*p == '-' || *p == '+'))
        p++, length--;
    unsigned prefix = prefix_base(p, length);
    if (prefix && (base == 0 || base == prefix)) {
        base = prefix;
        p += 2, length -= 2;
    } else if (base == 0 && !prefix && length > 1 && p[0] == '0') {
        /* As in a program, 010 is not a number but 00 is. */
        return all_zeros(p, length) ? sl_word(0) : 0;
    }
    return sl_int_parse(s, p, length, base ? base : 10, negative);
}

static value int_from_text(struct star *s, value x, value base)
{
    int64_t b = 10;

    if (base) {
        if (sl_type(base) != T_INT || !sl_int_to_i64(base, &b))
            return sl_fail(s, "int: for base, got %s, want int",
                           sl_type_name(base));
        if (b != 0 && (b < 2 || b > 36))
            return sl_fail(s, "int: base must be an integer >= 2 && <= 36");
    }
    value n = parse_int(s, sl_string(x)->p, sl_string(x)->length, (unsigned)b);
    if (n || sl_failed(s))
        return n;
    return sl_fail(s, "int: invalid literal with base %d: %.*s", (int)b,
                   SL_SHOWN(x));
}

value sl_lib_int(struct star *s, const struct sl_call *c)
{
    value v[2];

    if (!sl_unpack(s, c, "x, base?", v))
        return 0;
    if (sl_type(v[0]) == T_STRING)
        return int_from_text(s, v[0], v[1]);
    if (v[1])
        return sl_fail(s, "int: can't convert non-string with explicit base");
    switch (sl_type(v[0])) {
    case T_BOOL:
        return sl_word(v[0] == V_TRUE);
    case T_INT:
        return v[0];
    case T_FLOAT:
        if (isfinite(sl_float_of(v[0])))
            return sl_int_from_double(s, sl_float_of(v[0]));
        return sl_fail(s, "int: cannot convert float %s to integer",
                       isnan(sl_float_of(v[0])) ? "NaN" : "infinity");
    default:
        return sl_fail(s, "int: cannot convert %s to int", sl_type_name(v[0]));
    }
}

/* --- range ----------------------------------------------------------------------- */

value sl_lib_range(struct star *s, const struct sl_call *c)
{
    int64_t n[3] = {0, 0, 1};

    if (!sl_want_args(s, c, 1, 3))
        return 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (!sl_arg_int(s, c, i, &n[i]))
            return 0;
    if (c->count == 1)
        return sl_range_new(s, 0, n[0], 1);
    if (n[2] == 0)
        return sl_fail(s, "range: step argument must not be zero");
    return sl_range_new(s, n[0], n[1], n[2]);
}
