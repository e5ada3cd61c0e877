#include "text.h"

enum { ITEMS = 1024 /* between two looks at the budget */, UNIT = 64 };

static bool not_a_string(struct star *s, value v)
{
    sl_fail(s, "join: in list, want string, got %s", sl_type_name(v));
    return false;
}

/* Parts are short mostly: two loads and stores that may overlap beat a call. */
static inline char *copy(char *out, const char *p, size_t n)
{
    uint64_t a, b;
    uint32_t c, d;

    if (n > 16) {
        memcpy(out, p, n);
    } else if (n >= 8) {
        memcpy(&a, p, 8);
        memcpy(&b, p + n - 8, 8);
        memcpy(out, &a, 8);
        memcpy(out + n - 8, &b, 8);
    } else if (n >= 4) {
        memcpy(&c, p, 4);
        memcpy(&d, p + n - 4, 4);
        memcpy(out, &c, 4);
        memcpy(out + n - 4, &d, 4);
    } else if (n) {
        out[0] = p[0];
        out[n / 2] = p[n / 2];
        out[n - 1] = p[n - 1];
    }
    return out + n;
}

/* --- of a list or tuple ----------------------------------------------------------- */

/* The length of all together; `ascii` is cleared when one of them is not. */
static bool measure(struct star *s, const struct sl_string *sep,
                    const value *items, uint32_t count, uint64_t *length,
                    unsigned *flags)
{
    uint64_t total = (uint64_t)sep->length * (count - 1);

    for (uint32_t i = 0; i < count; i++) {
        if (i % ITEMS == 0 && !sl_charge(s, ITEMS))
            return false;
        if (!sl_is(items[i], T_STRING))
            return not_a_string(s, items[i]);
        const struct sl_string *x = sl_string(items[i]);
        total += x->length;
        *flags &= x->o.flags;
    }
    *length = total;
    return true;
}

static value join_items(struct star *s, const struct sl_string *sep,
                        const value *items, uint32_t count)
{
    unsigned flags = sep->length ? sep->o.flags : STRING_ASCII;
    uint64_t length;
    char *p;

    if (count == 0)
        return s->empty_string;
    if (!measure(s, sep, items, count, &length, &flags))
        return 0;
    if (count == 1)
        return items[0];
    if (length > SL_TEXT_MAX_BYTES)
        return sl_fail_memory(s, length);
    if (length == 0)
        return s->empty_string;
    if (!sl_charge(s, length / UNIT))
        return 0;
    value v = sl_text_room(s, T_STRING, length, &p);
    if (!v)
        return 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct sl_string *x = sl_string(items[i]);
        if (i)
            p = copy(p, sep->p, sep->length);
        if (x->length > SL_COPY_PIECE) {
            if (!sl_copy(s, p, x->p, x->length))
                return 0;
            p += x->length;
        } else {
            p = copy(p, x->p, x->length);
        }
        if (i % (ITEMS * 64) == ITEMS * 64 - 1 && !sl_charge(s, ITEMS))
            return 0;
    }
    if (flags & STRING_ASCII)
        sl_object(v)->flags |= STRING_ASCII;
    else
        sl_string_filled(v);
    return v;
}

/* --- of anything else ----------------------------------------------------------------- */

/* s.elems() and s.codepoints(), without making their items. */
static bool join_chars(struct sl_text *t, const struct sl_string *sep,
                       const struct sl_string_elems *of)
{
    const struct sl_string *x = sl_string(of->string);
    unsigned width = 1;

    for (size_t i = 0; i < x->length && !t->failed; i += width) {
        if (!sl_charge(t->s, 1))
            return false;
        if (i)
            sl_text_put(t, sep->p, sep->length);
        if (of->kind == CODEPOINTS) {
            char out[4];
            uint32_t r = sl_rune(x->p + i, x->length - i, &width);
            sl_text_put(t, out, sl_rune_encode(r, out));
        } else {
            sl_text_put(t, x->p + i, 1);
        }
    }
    return !t->failed;
}

static bool join_iterable(struct sl_text *t, const struct sl_string *sep,
                          value iterable)
{
    struct star *s = t->s;
    struct sl_iter it;
    bool first = true;
    value v;

    if (!sl_iter_begin(s, iterable, &it))
        return false;
    while (!t->failed && (v = sl_iter_next(s, &it))) {
        if (!sl_is(v, T_STRING)) {
            not_a_string(s, v);
            break;
        }
        const struct sl_string *x = sl_string(v);
        if (!sl_charge(s, 1 + x->length / UNIT))
            break;
        if (!first)
            sl_text_put(t, sep->p, sep->length);
        sl_text_put(t, x->p, x->length);
        first = false;
    }
    sl_iter_end(&it);
    return !sl_failed(s);
}

value sl_string_join(struct star *s, const struct sl_call *c)
{
    const struct sl_string *sep = sl_string(c->self);
    struct sl_text t = {.s = s};
    bool ok;

    if (!sl_want_args(s, c, 1, 1))
        return 0;
    value x = c->args[0];
    if (sl_is(x, T_LIST))
        return join_items(s, sep, sl_list(x)->items, sl_list(x)->count);
    if (sl_is(x, T_TUPLE))
        return join_items(s, sep, sl_tuple(x)->items, sl_tuple(x)->count);
    if (!sl_is_iterable(x))
        return sl_fail(s, "%s: for parameter 1: got %s, want iterable", c->name,
                       sl_type_name(x));

    if (sl_is(x, T_STRING_ELEMS) &&
        (sl_elems(x)->kind == ELEMS_CHARS || sl_elems(x)->kind == CODEPOINTS))
        ok = join_chars(&t, sep, sl_elems(x));
    else
        ok = join_iterable(&t, sep, x);
    if (!ok) {
        sl_text_free(&t);
        return 0;
    }
    return sl_text_string(&t);
}
