#include "ops.h"

/* Iteration from C over everything a `for` loop takes. */

bool sl_is_iterable(value v)
{
    switch (sl_type(v)) {
    case T_TUPLE:
    case T_LIST:
    case T_DICT:
    case T_SET:
    case T_RANGE:
    case T_STRING_ELEMS:
    case T_BYTES_ELEMS:
        return true;
    default:
        return false;
    }
}

bool sl_iter_begin(struct star *s, value iterable, struct sl_iter *it)
{
    if (!sl_is_iterable(iterable)) {
        sl_fail(s, "%s value is not iterable", sl_type_name(iterable));
        if (sl_is(iterable, T_STRING))
            sl_hint(s,
                    "use its elems() for bytes, codepoints() for characters");
        return false;
    }
    sl_lock(iterable);
    *it = (struct sl_iter){.of = iterable};
    return true;
}

void sl_iter_end(struct sl_iter *it)
{
    sl_unlock(it->of);
}

static value next_entry(struct sl_iter *it)
{
    uint32_t i = (uint32_t)it->i;
    struct sl_entry *e = sl_table_next(it->of, &i);

    it->i = (uint64_t)i + 1;
    return e ? e->key : 0;
}

static value next_of_range(struct star *s, struct sl_iter *it)
{
    const struct sl_range *r = sl_range(it->of);

    if (it->i >= r->count)
        return 0;
    /* Unsigned, since the product may leave 64 bits on the way to a sum that
     * does not. */
    return sl_int(s,
                  (int64_t)((uint64_t)r->start + it->i++ * (uint64_t)r->step));
}

static value next_of_text(struct star *s, struct sl_iter *it)
{
    const struct sl_string_elems *e = sl_elems(it->of);
    const struct sl_string *text = sl_string(e->string);

    if (it->i >= text->length)
        return 0;
    if (e->kind == ELEMS_CHARS)
        return sl_string_char(s, (unsigned char)text->p[it->i++]);
    if (e->kind == ELEMS_ORDS)
        return sl_word((unsigned char)text->p[it->i++]);

    unsigned width;
    char bytes[4];
    uint32_t rune =
        sl_rune(text->p + it->i, text->length - (size_t)it->i, &width);
    it->i += width;
    if (e->kind == CODEPOINT_ORDS)
        return sl_word(rune);
    if (rune < 0x80)
        return sl_string_char(s, (unsigned char)rune);
    return sl_string_new(s, bytes, sl_rune_encode(rune, bytes));
}

value sl_iter_next(struct star *s, struct sl_iter *it)
{
    if (!sl_charge(s, 1))
        return 0;
    switch (sl_type(it->of)) {
    case T_LIST: {
        const struct sl_list *l = sl_list(it->of);
        return it->i < l->count ? l->items[it->i++] : 0;
    }
    case T_TUPLE: {
        const struct sl_tuple *t = sl_tuple(it->of);
        return it->i < t->count ? t->items[it->i++] : 0;
    }
    case T_DICT:
    case T_SET:
        return next_entry(it);
    case T_RANGE:
        return next_of_range(s, it);
    default: /* sl_iter_begin let nothing else in */
        return next_of_text(s, it);
    }
}
