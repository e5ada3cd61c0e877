#include "text.h"

enum { SHOWN_MAX = 200 /* maximum bytes of a quoted text in errors */ };

/* A slice of a format string. */
struct part {
    const char *p;
    size_t length;
};
/* Expands to the arguments of "%.*s" in error messages. */
#define SHOWN(part)                                                            \
    (int)((part).length < SHOWN_MAX ? (part).length : SHOWN_MAX), (part).p

/* State of one evaluation of % or format(). */
struct format {
    struct sl_text t;
    const char *p, *end; /* the rest of the format */
    const value *args;
    uint32_t count, used;
    value operand;              /* right operand of % */
    const struct sl_call *call; /* arguments of format() */
    bool automatic, manual;     /* kinds of field numbering used so far */
};

/* Copies the text up to the next `a` or `b`, in bounded pieces. */
static inline bool put_literal(struct format *f, char a, char b)
{
    const char *p = f->p, *stop = p;

    while (p == stop && p < f->end && !f->t.failed) {
        stop =
            f->end - p > (ptrdiff_t)SL_COPY_PIECE ? p + SL_COPY_PIECE : f->end;
        while (p < stop && *p != a && *p != b)
            p++;
        if (!sl_charge(f->t.s, (size_t)(p - f->p) / 64))
            f->t.failed = true;
        sl_text_put(&f->t, f->p, (size_t)(p - f->p));
        f->p = p;
    }
    return !f->t.failed;
}

/* Appends str(v), except that bytes are shown as by repr(). */
static bool put_str(struct sl_text *t, value v)
{
    return sl_is(v, T_BYTES) ? sl_repr(t, v) : sl_str(t, v);
}

static value format(struct format *f, struct star *s, value text,
                    bool (*put)(struct format *))
{
    char few[SL_TEXT_LOCAL_BYTES];

    f->t = (struct sl_text)SL_TEXT_IN(s, few);
    f->p = sl_string(text)->p;
    f->end = f->p + sl_string(text)->length;
    if (put(f))
        return sl_text_string(&f->t);
    sl_text_free(&f->t);
    return 0;
}

/* --- the % operator ------------------------------------------------------------- */

/* Parses %(key)s and returns the value of the key. */
static value take_key(struct format *f)
{
    struct star *s = f->t.s;
    struct part key = {f->p + 1, (size_t)(f->end - f->p) - 1};
    const char *close = memchr(key.p, ')', key.length);
    value v;

    if (!close)
        return sl_fail(s, "incomplete format key");
    if (!sl_is(f->operand, T_DICT))
        return sl_fail(s, "format requires a mapping");
    key.length = (size_t)(close - key.p);
    f->p = close + 1;
    if (!(v = sl_table_get_text(s, f->operand, key.p, key.length)))
        sl_fail(s, "key not found: %.*s", SHOWN(key));
    return v;
}

static bool put_int(struct sl_text *t, char how, value v)
{
    struct star *s = t->s;
    unsigned base = how == 'o' ? 8 : (how | 32) == 'x' ? 16 : 10;

    if (sl_type(v) == T_INT)
        return sl_int_format(t, v, base, how == 'X');
    if (sl_type(v) != T_FLOAT)
        return sl_fail(s,
                       "%%%c format requires integer: cannot convert %s to int",
                       how, sl_type_name(v));
    double d = sl_float_of(v);
    if (d - d != 0)
        return sl_fail(s,
                       "%%%c format requires integer: cannot convert float %s "
                       "to integer",
                       how, d != d ? "NaN" : "infinity");
    struct sl_scope scope = sl_native_enter(s); /* keeps the converted int
                                                 * reachable */
    value n = sl_int_from_double(s, d);
    bool ok = n && sl_int_format(t, n, base, how == 'X');
    sl_native_leave(s, scope);
    return ok;
}

static bool put_float(struct sl_text *t, char how, value v)
{
    double d;

    if (sl_type(v) == T_FLOAT)
        d = sl_float_of(v);
    else if (sl_type(v) != T_INT)
        return sl_fail(t->s, "%%%c format requires float, not %s", how,
                       sl_type_name(v));
    else if (!sl_int_to_double(t->s, v, &d))
        return false;
    sl_float_format(t, d, how);
    return !t->failed;
}

static bool put_char(struct sl_text *t, value v)
{
    struct star *s = t->s;
    const struct sl_string *x = sl_string(v);
    int64_t n = 0;
    unsigned width = 0;

    if (sl_is(v, T_STRING)) {
        if (x->length)
            n = sl_rune(x->p, x->length, &width);
        if (!x->length || width != x->length)
            return sl_fail(s, "%%c format requires a single-character string");
    } else if (sl_type(v) != T_INT) {
        return sl_fail(s,
                       "%%c format requires int or single-character string, "
                       "not %s",
                       sl_type_name(v));
    } else if (!sl_int_to_i64(v, &n) || n < 0 || n > 0x10ffff) {
        value text = sl_repr_value(s, v);
        return text &&
               sl_fail(s,
                       "%%c format requires a valid Unicode code point, got "
                       "%.*s",
                       SL_SHOWN(text));
    }
    sl_text_rune(t, (uint32_t)n);
    return !t->failed;
}

static bool unknown_conversion(struct star *s, unsigned char c)
{
    char out[4];
    unsigned n = sl_rune_encode(c, out);

    sl_fail(s, "unknown conversion %%%.*s", (int)n, out);
    if (c && strchr("#0123456789-+ .*", c))
        sl_hint(s, "Starlark's %% has no width, flags or precision: write %%d, "
                   "%%s or %%f alone, and pad with text * (width - len(x))");
    return false;
}

static bool convert(struct sl_text *t, char how, value v)
{
    /* clang-format off */
    switch (how) {
    case 's': return put_str(t, v);
    case 'r': return sl_repr(t, v);
    case 'd': case 'i': case 'o': case 'x': case 'X':
        return put_int(t, how, v);
    case 'e': case 'f': case 'g': case 'E': case 'F': case 'G':
        return put_float(t, how, v);
    case 'c': return put_char(t, v);
    case '%': sl_text_put(t, "%", 1); return true;
    default:  return unknown_conversion(t->s, (unsigned char)how);
    }
    /* clang-format on */
}

/* Formats one conversion; the "%" is already consumed. */
static bool put_conversion(struct format *f)
{
    value v;

    if (f->p < f->end && *f->p == '%') {
        sl_text_put(&f->t, f->p++, 1);
        return true;
    }
    if (f->p < f->end && *f->p == '(')
        v = take_key(f);
    else if (f->used < f->count)
        v = f->args[f->used];
    else
        v = sl_fail(f->t.s, "not enough arguments for format string");
    if (!v)
        return false;
    if (f->p == f->end)
        return sl_fail(f->t.s, "incomplete format");
    f->used++;
    return convert(&f->t, *f->p++, v) && sl_charge(f->t.s, 1);
}

static bool put_percent(struct format *f)
{

    while (put_literal(f, '%', '%') && f->p < f->end) {
        f->p++;
        if (!put_conversion(f))
            return false;
    }
    if (f->t.failed)
        return false;
    if (f->used < f->count && !sl_is(f->operand, T_DICT))
        return sl_fail(f->t.s, "too many arguments for format string");
    return true;
}

value sl_format_percent(struct star *s, value text, value args)
{
    struct format f = {.operand = args, .args = &args, .count = 1};

    if (sl_is(args, T_TUPLE)) {
        f.args = sl_tuple(args)->items;
        f.count = sl_tuple(args)->count;
    }
    return format(&f, s, text, put_percent);
}

/* --- str.format ------------------------------------------------------------------- */

/* The parts of a replacement field {name!conversion:spec}. */
struct field {
    struct part name, conversion, spec;
};

/* Splits off the part after `mark`. */
static bool cut(struct part *text, char mark, struct part *rest)
{
    const char *m = memchr(text->p, mark, text->length);

    if (!m)
        return false;
    *rest = (struct part){m + 1, text->length - (size_t)(m + 1 - text->p)};
    text->length = (size_t)(m - text->p);
    return true;
}

static struct field cut_field(struct part text)
{
    struct field f = {.name = text, .conversion = {"s", 1}};

    if (!text.length)
        return f;
    if (cut(&f.name, '!', &f.conversion))
        cut(&f.conversion, ':', &f.spec);
    else
        cut(&f.name, ':', &f.spec);
    return f;
}

/* Parses a name of digits only. Returns false also for a number that exceeds
 * every argument count. */
static bool is_number(struct part name, uint64_t *out)
{
    uint64_t n = 0;

    for (size_t i = 0; i < name.length; i++) {
        unsigned digit = (unsigned)(unsigned char)name.p[i] - '0';
        if (digit > 9 || n > (UINT64_C(0x7fffffffffffffff) - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

static value unknown_name(struct star *s, struct part name)
{
    static const struct {
        char mark;
        const char *what, *hint;
    } rows[] = {
        {'.', "attribute syntax x.y is not supported in replacement fields: ",
         "write {} and give the value: format(x.y)"},
        {'[', "element syntax a[i] is not supported in replacement fields: ",
         "write {} and give the value: format(a[i])"},
        {'{', "nested replacement fields not supported",
         "a literal brace is written twice: {{ or }}"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!memchr(name.p, rows[i].mark, name.length))
            continue;
        if (rows[i].mark == '{')
            name.length = 0;
        sl_fail(s, "format: %s%.*s", rows[i].what, SHOWN(name));
        sl_hint(s, "%s", rows[i].hint);
        return 0;
    }
    return sl_fail(s, "format: keyword %.*s not found", SHOWN(name));
}

static value named_argument(struct format *f, struct part name)
{
    const struct sl_call *c = f->call;

    for (uint32_t i = 0; i < c->named; i++) {
        const struct sl_string *k = sl_string(c->names[i]);
        if (k->length == name.length && memcmp(k->p, name.p, name.length) == 0)
            return c->args[c->count + i];
    }
    return unknown_name(f->t.s, name);
}

static value field_argument(struct format *f, struct part name)
{
    struct star *s = f->t.s;
    uint64_t n = f->used;

    if (name.length == 0) {
        if (f->manual)
            return sl_fail(s, "format: cannot switch from manual field "
                              "specification to automatic field numbering");
        f->automatic = true;
        f->used++;
    } else if (is_number(name, &n)) {
        if (f->automatic)
            return sl_fail(s, "format: cannot switch from automatic field "
                              "numbering to manual field specification");
        f->manual = true;
    } else {
        return named_argument(f, name);
    }
    if (n >= f->count)
        return sl_fail(s, "format: tuple index out of range");
    return f->args[n];
}

static bool conversion_failed(struct star *s, struct part conversion)
{
    value text = sl_string_new(s, conversion.p, conversion.length);

    if (text && (text = sl_repr_value(s, text))) {
        sl_fail(s, "format: unknown conversion %.*s", SL_SHOWN(text));
        sl_hint(s, "{!r} gives repr(x); {} and {!s} give str(x)");
    }
    return false;
}

/* Formats a replacement field; its "{" is already consumed. */
static bool put_field(struct format *f)
{
    struct star *s = f->t.s;
    struct part text = {f->p, (size_t)(f->end - f->p)}, rest;

    if (!cut(&text, '}', &rest))
        return sl_fail(s, "format: unmatched '{' in format");
    f->p = rest.p;
    struct field field = cut_field(text);
    value v = field_argument(f, field.name);
    if (!v)
        return false;
    if (field.spec.length) {
        sl_fail(s,
                "format spec features not supported in replacement fields: "
                "%.*s",
                SHOWN(field.spec));
        sl_hint(s, "write {} and give text that is ready: \"%%f\" %% x has six "
                   "digits, \" \" * (width - len(x)) + x is padded");
        return false;
    }
    char how = field.conversion.length == 1 ? *field.conversion.p : '?';
    if (how == 's' || how == 'r')
        return convert(&f->t, how, v);
    return conversion_failed(s, field.conversion);
}

static bool put_fields(struct format *f)
{

    while (put_literal(f, '{', '}') && f->p < f->end) {
        char mark = *f->p++;

        if (f->p < f->end && *f->p == mark) /* doubled mark: a literal one */
            sl_text_put(&f->t, f->p++, 1);
        else if (mark == '}')
            return sl_fail(f->t.s, "format: single '}' in format");
        else if (!put_field(f))
            return false;
        if (!sl_charge(f->t.s, 1))
            return false;
    }
    return !f->t.failed;
}

value sl_string_format(struct star *s, const struct sl_call *call)
{
    struct format f = {.call = call, .args = call->args, .count = call->count};

    return format(&f, s, call->self, put_fields);
}
