#include <stdio.h>

#include "table.h"

/* Operators of dicts and sets. */

static bool copy_entries(struct star *s, value to, value from)
{
    uint32_t i = 0;

    for (struct sl_entry *e; (e = sl_table_next(from, &i)); i++)
        if (!sl_charge(s, 1) || !sl_table_add(s, to, e->key, e->hash, e->value))
            return false;
    return true;
}

static bool set_entries(struct star *s, value to, value from)
{
    uint32_t i = 0;

    for (struct sl_entry *e; (e = sl_table_next(from, &i)); i++)
        if (!sl_charge(s, 1) || !sl_table_set(s, to, e->key, e->value))
            return false;
    return true;
}

/* Removes from set `a` what is in `b`, or what is not. */
static bool remove_those(struct star *s, value a, value b, bool that_are_in)
{
    uint32_t i = 0;

    for (struct sl_entry *e; (e = sl_table_next(a, &i)); i++) {
        value found;
        if (!sl_charge(s, 1) || !sl_table_find(s, b, e->key, &found))
            return false;
        if ((found != 0) == that_are_in && !sl_table_remove(s, a, e->key, NULL))
            return false;
    }
    return true;
}

static bool toggle(struct star *s, value a, value b)
{
    uint32_t i = 0;

    for (struct sl_entry *e; (e = sl_table_next(b, &i)); i++) {
        value found;
        if (!sl_charge(s, 1) || !sl_table_find(s, a, e->key, &found))
            return false;
        if (!(found ? sl_table_remove(s, a, e->key, NULL)
                    : sl_table_set(s, a, e->key, V_NONE)))
            return false;
    }
    return true;
}

/* Changes `a` to what the operator says. */
static bool combine_into(struct star *s, enum sl_operator op, value a, value b)
{
    if (op == OP_OR)
        return set_entries(s, a, b);
    if (op == OP_XOR)
        return toggle(s, a, b);
    return remove_those(s, a, b, op == OP_SUB);
}

bool sl_can_combine(enum sl_operator op, value a, value b)
{
    if (sl_is(a, T_DICT))
        return sl_is(b, T_DICT) && op == OP_OR;
    return sl_is(a, T_SET) && sl_is(b, T_SET) &&
           (op == OP_OR || op == OP_AND || op == OP_SUB || op == OP_XOR);
}

value sl_combine(struct star *s, enum sl_operator op, value a, value b,
                 bool in_place)
{
    char verb[16];

    if (in_place) {
        snprintf(verb, sizeof verb, "apply %s= to", sl_operator_text(op));
        if (!sl_may_change(s, a, verb))
            return 0;
        return combine_into(s, op, a, b) ? a : 0;
    }
    struct sl_scope scope = sl_native_enter(s);
    size_t count = sl_table(a)->count;
    value v = sl_is(a, T_DICT) ? sl_dict_new(s, count) : sl_set_new(s, count);
    bool ok = v && copy_entries(s, v, a) && combine_into(s, op, v, b);
    sl_native_leave(s, scope);
    if (ok && s->native) /* the caller makes more before it returns */
        ok = sl_hold(s, v);
    return ok ? v : 0;
}
