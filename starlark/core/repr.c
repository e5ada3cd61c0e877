#include "code.h"
#include "text.h"

/* --- quoting ------------------------------------------------------------------- */

static void put_hex(struct sl_text *t, char kind, uint32_t v, int digits)
{
    static const char hex[] = "0123456789abcdef";
    char out[10] = {'\\', kind};

    for (int i = 0; i < digits; i++)
        out[2 + i] = hex[v >> 4 * (digits - 1 - i) & 15];
    sl_text_put(t, out, (size_t)digits + 2);
}

static void put_escape(struct sl_text *t, uint32_t r)
{
    static const char letters[] = "abtnvfr"; /* escape letters of bytes 7 to
                                              * 13 */

    if (r == '"' || r == '\\')
        sl_text_put(t, (char[]){'\\', (char)r}, 2);
    else if (r >= 7 && r <= 13)
        sl_text_put(t, (char[]){'\\', letters[r - 7]}, 2);
    else if (r < 0x80)
        put_hex(t, 'x', r, 2);
    else if (r < 0x10000)
        put_hex(t, 'u', r, 4);
    else
        put_hex(t, 'U', r, 8);
}

/* Quotes the code point at p[i], which is not plain, and returns its width. */
static unsigned quote_rune(struct sl_text *t, const char *p, size_t left)
{
    unsigned width;
    uint32_t r = sl_rune(p, left, &width);

    if (r == SL_RUNE_INVALID && width == 1)
        put_hex(t, 'x', (unsigned char)*p, 2);
    else if (r >= 0x80 && sl_rune_class(r) & RUNE_PRINT)
        sl_text_put(t, p, width);
    else
        put_escape(t, r);
    return width;
}

/* Copies each run of plain characters at once. */
void sl_quote(struct sl_text *t, const char *p, size_t length, bool bytes)
{
    /* ASCII characters that are shown unescaped. */
    static const bool is_plain[256] = {
        [' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true};
    enum { PIECE = SL_RARE(32 * 1024, 64), UNIT = 64 };
    size_t i = 0, paid = 0;

    sl_text_put(t, bytes ? "b\"" : "\"", 1 + bytes);
    while (i < length && !t->failed) {
        size_t begin = i, stop = length - i > PIECE ? i + PIECE : length;

        while (i < stop && is_plain[(unsigned char)p[i]])
            i++;
        sl_text_put(t, p + begin, i - begin);
        if (i < stop)
            i += quote_rune(t, p + i, length - i);
        if (i - paid >= PIECE) {
            if (!sl_charge(t->s, (i - paid) / UNIT))
                t->failed = true;
            paid = i;
        }
    }
    sl_owe(t->s, (i - paid) / UNIT);
    sl_text_put(t, "\"", 1);
}

/* --- values ------------------------------------------------------------------------ */

/* A container that is being written, and the position in it. */
struct level {
    value of;
    uint32_t next;   /* index of the item or table entry */
    bool value_next; /* the key of the current dict entry is written */
};

struct writer {
    struct sl_text *t;
    struct sl_text levels; /* stack of struct level */
};

static size_t depth(const struct writer *w)
{
    return w->levels.length / sizeof(struct level);
}

static struct level *level(struct writer *w, size_t i)
{
    return (struct level *)(void *)w->levels.p + i;
}

static void put(struct writer *w, const char *text)
{
    sl_text_put(w->t, text, strlen(text));
}

static bool is_being_written(struct writer *w, value v)
{
    for (size_t i = depth(w); i-- > 0;) {
        if (level(w, i)->of == v)
            return true;
    }
    return false;
}

static void put_range(struct writer *w, const struct sl_range *r)
{
    long long start = r->start, stop = r->stop, step = r->step;

    if (step != 1)
        sl_text_printf(w->t, "range(%lld, %lld, %lld)", start, stop, step);
    else if (start != 0)
        sl_text_printf(w->t, "range(%lld, %lld)", start, stop);
    else
        sl_text_printf(w->t, "range(%lld)", stop);
}

static void put_text(struct writer *w, value v)
{
    const struct sl_string *x = sl_string(v);

    sl_quote(w->t, x->p, x->length, x->o.type == T_BYTES);
}

static void put_elems(struct writer *w, const struct sl_string_elems *e)
{
    static const char *const methods[] = {
        [ELEMS_CHARS] = ".elems()",
        [ELEMS_ORDS] = ".elem_ords()",
        [CODEPOINTS] = ".codepoints()",
        [CODEPOINT_ORDS] = ".codepoint_ords()",
    };

    put_text(w, e->string);
    put(w, e->o.type == T_BYTES_ELEMS ? ".elems()" : methods[e->kind]);
}

static void put_builtin(struct writer *w, const struct sl_builtin *b)
{
    if (b->self)
        sl_text_printf(w->t, "<built-in method %s of %s value>", b->name,
                       sl_type_name(b->self));
    else
        sl_text_printf(w->t, "<built-in function %s>", b->name);
}

static const char *const brackets[][2] = {
    [T_TUPLE] = {"(", ")"},
    [T_LIST] = {"[", "]"},
    [T_DICT] = {"{", "}"},
    [T_SET] = {"set([", "])"},
};

/* Opens a container, or writes all of one that is empty or already being
 * written. */
static bool open_container(struct writer *w, value v, enum sl_type type)
{
    const struct level l = {.of = v};

    if ((type == T_LIST || type == T_DICT) && is_being_written(w, v)) {
        put(w, type == T_LIST ? "[...]" : "{...}");
        return true;
    }
    if (type == T_SET && sl_table(v)->count == 0) {
        put(w, "set()");
        return true;
    }
    put(w, brackets[type][0]);
    if (!sl_depth_ok(w->t->s, (unsigned)depth(w) + 1))
        return false;
    sl_text_put(&w->levels, (const char *)&l, sizeof l);
    return !w->levels.failed;
}

static bool put_value(struct writer *w, value v)
{
    enum sl_type type = sl_type(v);

    /* clang-format off */
    switch (type) {
    case T_NONE:  put(w, "None"); break;
    case T_BOOL:  put(w, v == V_TRUE ? "True" : "False"); break;
    case T_INT:   sl_int_format(w->t, v, 10, false); break;
    case T_FLOAT: sl_float_format(w->t, sl_float_of(v), 'g'); break;
    case T_STRING:
    case T_BYTES: put_text(w, v); break;
    case T_TUPLE:
    case T_LIST:
    case T_DICT:
    case T_SET:   return open_container(w, v, type);
    case T_RANGE: put_range(w, sl_range(v)); break;
    case T_FUNCTION:
        put(w, "<function ");
        sl_str(w->t, sl_function(v)->code->name);
        put(w, ">");
        break;
    case T_BUILTIN: put_builtin(w, sl_builtin(v)); break;
    case T_STRING_ELEMS:
    case T_BYTES_ELEMS: put_elems(w, sl_elems(v)); break;
    case T_MODULE:
        put(w, "<module ");
        sl_quote(w->t, sl_module(v)->name, strlen(sl_module(v)->name), false);
        put(w, ">");
        break;
    case T_OBJECT:
        put(w, "<");
        put(w, sl_type_name(v));
        put(w, ">");
        break;
    default: put(w, "<internal>"); break;
    }
    /* clang-format on */
    return !w->t->failed;
}

/* Writes the next item, the value of a key, or the end of the container. */
static bool step(struct writer *w)
{
    struct level *l = level(w, depth(w) - 1);
    enum sl_type type = sl_type(l->of);
    bool table = type == T_DICT || type == T_SET;
    uint32_t i = l->next, count = 0;
    value next = 0;

    if (table) {
        struct sl_entry *e = sl_table_next(l->of, &l->next);
        next = !e ? 0 : l->value_next ? e->value : e->key;
    } else {
        count = type == T_LIST ? sl_list(l->of)->count : sl_tuple(l->of)->count;
        if (i < count)
            next = type == T_LIST ? sl_list(l->of)->items[i]
                                  : sl_tuple(l->of)->items[i];
    }
    if (!next) {
        w->levels.length -= sizeof *l;
        if (type == T_TUPLE && count == 1)
            put(w, ",");
        put(w, brackets[type][1]);
        return !w->t->failed;
    }
    if (l->value_next)
        put(w, ": ");
    else if (i)
        put(w, ", ");
    l->value_next = type == T_DICT && !l->value_next;
    l->next += !l->value_next;
    return put_value(w, next);
}

/* Not recursive: programs choose how deeply values nest. */
bool sl_repr(struct sl_text *t, value v)
{
    struct level few[16];
    struct writer w = {.t = t,
                       .levels = {.s = t->s,
                                  .p = (char *)few,
                                  .capacity = sizeof few,
                                  .local = true}};
    bool ok = put_value(&w, v);
    while (ok && depth(&w))
        ok = sl_charge(t->s, 1 + depth(&w) / 16) && step(&w);
    sl_text_free(&w.levels);
    return ok && !t->failed;
}

bool sl_str(struct sl_text *t, value v)
{
    const struct sl_string *x = sl_string(v);

    if (sl_is(v, T_STRING) && x->length > SL_COPY_PIECE)
        return sl_text_put_long(t, x->p, x->length);
    if (sl_is(v, T_STRING)) {
        sl_owe(t->s, x->length / 64);
        sl_text_put(t, x->p, x->length);
        return !t->failed;
    }
    if (sl_is(v, T_BYTES))
        return sl_text_put_valid(t, x->p, x->length);
    return sl_repr(t, v);
}

/* Returns the text of a small int, without a text buffer. */
static value word_text(struct star *s, value v)
{
    char digits[SL_DIGITS_BYTES], *end = digits + sizeof digits, *p;
    const char *first = sl_digits(sl_int_word(v), end);
    size_t length = (size_t)(end - first);

    if (length == 1)
        return sl_string_char(s, (unsigned char)*first);
    value text = sl_text_room(s, T_STRING, length, &p);
    if (text) {
        memcpy(p, first, length);
        sl_object(text)->flags |= STRING_ASCII;
    }
    return text;
}

static value as_string(struct star *s, value v,
                       bool (*write)(struct sl_text *, value))
{
    char few[SL_TEXT_LOCAL_BYTES];
    struct sl_text t = SL_TEXT_IN(s, few);

    if (sl_is_int_word(v))
        return word_text(s, v);
    if (write(&t, v))
        return sl_text_string(&t);
    sl_text_free(&t);
    return 0;
}

value sl_str_value(struct star *s, value v)
{
    return sl_is(v, T_STRING) ? v : as_string(s, v, sl_str);
}

value sl_repr_value(struct star *s, value v)
{
    return as_string(s, v, sl_repr);
}
