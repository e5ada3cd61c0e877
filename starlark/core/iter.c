#include "error.h"
#include "table.h"
#include "text.h"

/* Iteration of `for` loops: items, keys, characters. */

value sl_item(struct star *s, value v, uint64_t i)
{
    value text = v;
    bool as_int = true;

    switch (sl_type(v)) {
    case T_LIST:
        return i < sl_list(v)->count ? sl_list(v)->items[i] : 0;
    case T_TUPLE:
        return i < sl_tuple(v)->count ? sl_tuple(v)->items[i] : 0;
    case T_RANGE: { /* unsigned, because the product alone may overflow 64
                     * bits */
        const struct sl_range *r = sl_range(v);
        if (i >= r->count)
            return 0;
        return sl_int(s, (int64_t)((uint64_t)r->start + i * (uint64_t)r->step));
    }
    case T_BYTES:
        break;
    case T_STRING:
        as_int = false;
        break;
    default: /* T_ELEMS: result of elems() or elem_ords() */
        text = sl_elems(v)->string;
        as_int = sl_elems(v)->kind == ELEMS_ORDS;
    }
    if (i >= sl_string(text)->length)
        return 0;
    unsigned char c = (unsigned char)sl_string(text)->p[i];
    return as_int ? sl_word(c) : sl_string_char(s, c);
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

static value next_rune(struct star *s, struct sl_iter *it, bool as_int)
{
    const struct sl_string *text = sl_string(sl_elems(it->of)->string);
    unsigned width;
    char bytes[4];

    if (it->i >= text->length)
        return 0;
    uint32_t rune =
        sl_rune(text->p + it->i, text->length - (size_t)it->i, &width);
    it->i += width;
    if (as_int)
        return sl_word(rune);
    if (rune < 0x80)
        return sl_string_char(s, (unsigned char)rune);
    return sl_string_new(s, bytes, sl_rune_encode(rune, bytes));
}

value sl_iter_next(struct star *s, struct sl_iter *it)
{
    enum sl_type type = sl_type(it->of);

    if (!sl_charge(s, 1))
        return 0;
    if (type == T_DICT || type == T_SET)
        return next_entry(it);
    if (type == T_STRING_ELEMS && sl_elems(it->of)->kind >= CODEPOINTS)
        return next_rune(s, it, sl_elems(it->of)->kind == CODEPOINT_ORDS);
    return sl_item(s, it->of, it->i++);
}
