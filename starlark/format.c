#include "text.h"

enum { SHOWN_MAX = 200 }; /* bytes of texts in errors */

static bool put_literal(struct sl_text *t, const char *p, size_t length)
{
    for (; length > SL_COPY_PIECE; length -= SL_COPY_PIECE) {
        if (!sl_charge(t->s, SL_COPY_PIECE / 64))
            return false;
        sl_text_put(t, p, SL_COPY_PIECE);
        p += SL_COPY_PIECE;
    }
    sl_text_put(t, p, length);
    return !t->failed;
}

/* As str(), but bytes as repr() shows them. */
static bool put_str(struct sl_text *t, value v)
{
    const struct sl_string *x = sl_string(v);

    return sl_is(v, T_STRING) ? put_literal(t, x->p, x->length) : sl_repr(t, v);
}

/* --- the % operator ------------------------------------------------------------- */

struct percent {
    struct sl_text t;
    const char *p, *end; /* of the format, what is left */
    value operand;
    const value *args; /* the operand, or its items when it is a tuple */
    uint32_t count, used;
};

static bool fail(struct star *s, const char *message)
{
    sl_fail(s, "%s", message);
    return false;
}

/* For errors: a text with %. */
static int shown(const char *p, const char *end)
{
    return (int)(end - p < SHOWN_MAX ? end - p : SHOWN_MAX);
}

/* %(key)s */
static bool take_key(struct percent *f, value *out)
{
    struct star *s = f->t.s;
    const char *key = f->p + 1;
    const char *close = memchr(key, ')', (size_t)(f->end - key));

    if (!close)
        return fail(s, "incomplete format key");
    if (!sl_is(f->operand, T_DICT))
        return fail(s, "format requires a mapping");
    *out = sl_table_get_text(s, f->operand, key, (size_t)(close - key));
    if (!*out) {
        sl_fail(s, "key not found: %.*s", shown(key, close), key);
        return false;
    }
    f->p = close + 1;
    return true;
}

static bool take_argument(struct percent *f, value *out)
{
    if (f->p < f->end && *f->p == '(')
        return take_key(f, out);
    if (f->used >= f->count)
        return fail(f->t.s, "not enough arguments for format string");
    *out = f->args[f->used];
    return true;
}

/* The argument of %d, %i, %o, %x, %X; in native scope, as it may make an int. */
static value as_int(struct star *s, char how, value v)
{
    const char *what = "float infinity to integer";

    if (sl_type(v) == T_INT)
        return v;
    if (sl_type(v) == T_FLOAT) {
        double d = sl_float_of(v);
        if (d - d == 0)
            return sl_int_from_double(s, d);
        if (d != d)
            what = "float NaN to integer";
        return sl_fail(s, "%%%c format requires integer: cannot convert %s",
                       how, what);
    }
    return sl_fail(s, "%%%c format requires integer: cannot convert %s to int",
                   how, sl_type_name(v));
}

static bool put_int(struct sl_text *t, char how, value v)
{
    struct star *s = t->s;
    unsigned base = how == 'o' ? 8 : (how | 32) == 'x' ? 16 : 10;

    if (base == 10 && sl_is_int_word(v)) {
        sl_text_put_int(t, sl_int_word(v));
        return true;
    }
    struct sl_scope scope = sl_native_enter(s);
    value n = as_int(s, how, v);
    bool ok = n && sl_int_format(t, n, base, how == 'X');
    sl_native_leave(s, scope);
    return ok;
}

static bool put_float(struct sl_text *t, char how, value v)
{
    double d;

    if (sl_type(v) == T_FLOAT) {
        d = sl_float_of(v);
    } else if (sl_type(v) == T_INT) {
        if (!sl_int_to_double(t->s, v, &d))
            return false;
    } else {
        sl_fail(t->s, "%%%c format requires float, not %s", how,
                sl_type_name(v));
        return false;
    }
    sl_float_format(t, d, how);
    return !t->failed;
}

static bool put_char(struct sl_text *t, value v)
{
    struct star *s = t->s;
    uint32_t r = 0;
    unsigned width;
    char out[4];

    if (sl_is(v, T_STRING)) {
        const struct sl_string *x = sl_string(v);
        if (x->length)
            r = sl_rune(x->p, x->length, &width);
        if (!x->length || width != x->length)
            return fail(s, "%c format requires a single-character string");
    } else if (sl_type(v) == T_INT) {
        int64_t n;
        if (!sl_int_to_i64(v, &n) || n < 0 || n > 0x10ffff) {
            struct sl_text digits = {.s = s};
            if (sl_int_format(&digits, v, 10, false))
                sl_fail(s,
                        "%%c format requires a valid Unicode code point, "
                        "got %.*s",
                        shown(digits.p, digits.p + digits.length), digits.p);
            sl_text_free(&digits);
            return false;
        }
        r = (uint32_t)n;
    } else {
        sl_fail(s, "%%c format requires int or single-character string, not %s",
                sl_type_name(v));
        return false;
    }
    sl_text_put(t, out, sl_rune_encode(r, out));
    return true;
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

static bool convert(struct percent *f, char how, value v)
{
    switch (how) {
    case 's':
        return put_str(&f->t, v);
    case 'r':
        return sl_repr(&f->t, v);
    case 'd':
    case 'i':
    case 'o':
    case 'x':
    case 'X':
        return put_int(&f->t, how, v);
    case 'e':
    case 'f':
    case 'g':
    case 'E':
    case 'F':
    case 'G':
        return put_float(&f->t, how, v);
    case 'c':
        return put_char(&f->t, v);
    case '%':
        sl_text_put(&f->t, "%", 1);
        return true;
    default:
        return unknown_conversion(f->t.s, (unsigned char)how);
    }
}

/* What follows a "%", which is taken. */
static bool put_conversion(struct percent *f)
{
    value v;

    if (f->p < f->end && *f->p == '%') {
        sl_text_put(&f->t, f->p++, 1);
        return true;
    }
    if (!take_argument(f, &v))
        return false;
    if (f->p == f->end)
        return fail(f->t.s, "incomplete format");
    f->used++;
    return convert(f, *f->p++, v) && sl_charge(f->t.s, 1);
}

static bool put_percent(struct percent *f)
{
    while (f->p < f->end && !f->t.failed) {
        size_t left = (size_t)(f->end - f->p);
        const char *mark = memchr(f->p, '%', left);
        size_t literal = mark ? (size_t)(mark - f->p) : left;

        if (literal && !put_literal(&f->t, f->p, literal))
            return false;
        if (!mark)
            break;
        f->p = mark + 1;
        if (!put_conversion(f))
            return false;
    }
    if (f->used < f->count && !sl_is(f->operand, T_DICT))
        return fail(f->t.s, "too many arguments for format string");
    return true;
}

value sl_format_percent(struct star *s, value format, value args)
{
    const struct sl_string *x = sl_string(format);
    char few[SL_TEXT_LOCAL_BYTES];
    struct percent f = {.t = SL_TEXT_IN(s, few),
                        .p = x->p,
                        .end = x->p + x->length,
                        .operand = args,
                        .args = &args,
                        .count = 1};

    if (sl_is(args, T_TUPLE)) {
        f.args = sl_tuple(args)->items;
        f.count = sl_tuple(args)->count;
    }
    if (!put_percent(&f)) {
        sl_text_free(&f.t);
        return 0;
    }
    return sl_text_string(&f.t);
}

/* --- str.format ------------------------------------------------------------------- */

struct fields {
    struct sl_text t;
    const struct sl_call *call;
    const char *p, *end;
    bool automatic, manual; /* kinds of numbering seen */
    uint32_t next;
};

/* A replacement field, cut up: {name!conversion:spec}. */
struct part {
    const char *p;
    size_t length;
};
struct field {
    struct part name, conversion, spec;
};

/* Text up to `mark`, which is taken as well; all of it when there is none. */
static struct part cut(struct part *from, char mark, bool *found)
{
    const char *m = from->length ? memchr(from->p, mark, from->length) : NULL;
    struct part head = *from;

    *found = m != NULL;
    if (m) {
        head.length = (size_t)(m - from->p);
        from->p = m + 1;
        from->length -= head.length + 1;
    } else {
        from->p += from->length;
        from->length = 0;
    }
    return head;
}

static struct field cut_field(struct part text)
{
    struct field f = {.conversion = {"s", 1}};
    struct part rest = text;
    bool found;

    f.name = cut(&rest, '!', &found);
    if (found) {
        f.conversion = cut(&rest, ':', &found);
    } else {
        rest = text;
        f.name = cut(&rest, ':', &found);
    }
    f.spec = rest;
    return f;
}

/* Digits only. False, too, for a number that no argument can have. */
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
    int length = shown(name.p, name.p + name.length);

    if (memchr(name.p, '.', name.length)) {
        sl_fail(s,
                "format: attribute syntax x.y is not supported in replacement "
                "fields: %.*s",
                length, name.p);
        sl_hint(s, "write {} and give the value: format(x.y)");
    } else if (memchr(name.p, '[', name.length)) {
        sl_fail(s,
                "format: element syntax a[i] is not supported in replacement "
                "fields: %.*s",
                length, name.p);
        sl_hint(s, "write {} and give the value: format(a[i])");
    } else if (memchr(name.p, '{', name.length)) {
        sl_fail(s, "format: nested replacement fields not supported");
        sl_hint(s, "a literal brace is written twice: {{ or }}");
    } else {
        sl_fail(s, "format: keyword %.*s not found", length, name.p);
    }
    return 0;
}

static value named_argument(struct fields *f, struct part name)
{
    const struct sl_call *c = f->call;

    for (uint32_t i = 0; i < c->named; i++) {
        const struct sl_string *k = sl_string(c->names[i]);
        if (k->length == name.length && memcmp(k->p, name.p, name.length) == 0)
            return c->args[c->count + i];
    }
    return unknown_name(f->t.s, name);
}

static value field_argument(struct fields *f, struct part name)
{
    struct star *s = f->t.s;
    uint64_t n = f->next;

    if (name.length == 0) {
        if (f->manual)
            return sl_fail(s, "format: cannot switch from manual field "
                              "specification to automatic field numbering");
        f->automatic = true;
        f->next++;
    } else if (is_number(name, &n)) {
        if (f->automatic)
            return sl_fail(s, "format: cannot switch from automatic field "
                              "numbering to manual field specification");
        f->manual = true;
    } else {
        return named_argument(f, name);
    }
    if (n >= f->call->count)
        return sl_fail(s, "format: tuple index out of range");
    return f->call->args[n];
}

static bool spec_failed(struct star *s, struct part spec)
{
    sl_fail(s, "format spec features not supported in replacement fields: %.*s",
            shown(spec.p, spec.p + spec.length), spec.p);
    sl_hint(s, "write {} and give text that is ready: \"%%f\" %% x has six "
               "digits, \" \" * (width - len(x)) + x is padded");
    return false;
}

static bool conversion_failed(struct star *s, struct part conversion)
{
    struct sl_text t = {.s = s};

    sl_quote(&t, conversion.p, conversion.length, false);
    if (!t.failed) {
        sl_fail(s, "format: unknown conversion %.*s",
                shown(t.p, t.p + t.length), t.p);
        sl_hint(s, "{!r} gives repr(x); {} and {!s} give str(x)");
    }
    sl_text_free(&t);
    return false;
}

/* A field, from behind its "{". */
static bool put_field(struct fields *f)
{
    struct star *s = f->t.s;
    const char *close =
        f->p < f->end ? memchr(f->p, '}', (size_t)(f->end - f->p)) : NULL;

    if (!close)
        return fail(s, "format: unmatched '{' in format");
    struct field field = {.conversion = {"s", 1}};
    if (close > f->p) /* more than {} */
        field = cut_field((struct part){f->p, (size_t)(close - f->p)});
    f->p = close + 1;

    value v = field_argument(f, field.name);
    if (!v)
        return false;
    if (field.spec.length)
        return spec_failed(s, field.spec);
    if (field.conversion.length == 1 && field.conversion.p[0] == 's')
        return put_str(&f->t, v);
    if (field.conversion.length == 1 && field.conversion.p[0] == 'r')
        return sl_repr(&f->t, v);
    return conversion_failed(s, field.conversion);
}

/* Literal text up to the next "{" or the end, with "}}" for "}". */
static bool put_literals(struct fields *f)
{
    size_t left = (size_t)(f->end - f->p);
    const char *open = memchr(f->p, '{', left);
    const char *stop = open ? open : f->end;

    while (f->p < stop) {
        const char *close = memchr(f->p, '}', (size_t)(stop - f->p));
        const char *end = close ? close + 1 : stop;

        if (close && (end == stop || *end != '}'))
            return fail(f->t.s, "format: single '}' in format");
        if (!put_literal(&f->t, f->p, (size_t)(end - f->p)))
            return false;
        f->p = close ? end + 1 : end;
    }
    return true;
}

static bool put_fields(struct fields *f)
{
    while (f->p < f->end && !f->t.failed) {
        if (!put_literals(f))
            return false;
        if (f->p == f->end)
            return true;
        f->p++;
        if (f->p < f->end && *f->p == '{')
            sl_text_put(&f->t, f->p++, 1);
        else if (!put_field(f))
            return false;
        if (!sl_charge(f->t.s, 1))
            return false;
    }
    return true;
}

value sl_string_format(struct star *s, const struct sl_call *c)
{
    const struct sl_string *x = sl_string(c->self);
    char few[SL_TEXT_LOCAL_BYTES];
    struct fields f = {
        .t = SL_TEXT_IN(s, few), .call = c, .p = x->p, .end = x->p + x->length};

    if (!put_fields(&f)) {
        sl_text_free(&f.t);
        return 0;
    }
    return sl_text_string(&f.t);
}
