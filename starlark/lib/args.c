#include <stdio.h>

#include "../core/error.h"
#include "lib.h"

/* Checks of arguments of built-ins, and their errors. */

value sl_failed_in(struct star *s, const struct sl_call *c)
{
    sl_fail_prefix(s, c->name);
    return 0;
}

bool sl_self_may_change(struct star *s, const struct sl_call *c,
                        const char *verb)
{
    return sl_may_change(s, c->self, verb) || sl_failed_in(s, c);
}

bool sl_names(const struct sl_call *c, const char *name)
{
    for (uint32_t i = 0; i < c->named; i++)
        if (sl_text_is(c->names[i], name))
            return true;
    return false;
}

struct sl_call sl_only_named(const struct sl_call *c)
{
    struct sl_call named = *c;

    named.args += c->count;
    named.count = 0;
    return named;
}

/* Checks in the order given. Only some names are quoted, as in the reference
 * implementation. */
bool sl_check_args(struct star *s, const struct sl_call *c,
                   const struct sl_param *params, uint32_t count)
{
    for (uint32_t i = 0; c->count <= count && i < c->count + c->named; i++) {
        bool named = i >= c->count;
        uint32_t p = named ? 0 : i;
        while (named && p < count &&
               !sl_text_is(c->names[i - c->count], params[p].name))
            p++;
        if (p >= count || (named && p < c->count))
            return true;
        if (params[p].types >> sl_type(c->args[i]) & 1)
            continue;
        const char *quote = named ? "\"" : "";
        sl_fail(s, "%s: for parameter %s%s%s: got %s, want %s", c->name, quote,
                params[p].name, quote, sl_type_name(c->args[i]),
                params[p].want);
        return false;
    }
    return true;
}

bool sl_want_one(struct star *s, const struct sl_call *c, const char *want)
{
    if (c->named)
        sl_fail(s, "%s does not accept keyword arguments", c->name);
    else if (c->count != 1)
        sl_fail(s, "%s: got %u arguments, want %s", c->name, c->count, want);
    else
        return true;
    return false;
}

bool sl_arg_iterable(struct star *s, const struct sl_call *c, uint32_t i)
{
    if (sl_is_iterable(c->args[i]))
        return true;
    sl_fail(s, "%s: for parameter %u: got %s, want iterable", c->name, i + 1,
            sl_type_name(c->args[i]));
    if (sl_is(c->args[i], T_STRING))
        sl_hint(s, "a string is not iterable: use its elems() or codepoints()");
    return false;
}

bool sl_arg_int(struct star *s, const struct sl_call *c, uint32_t i,
                int64_t *out)
{
    char where[80];

    if (sl_want_int(s, c->args[i], 64, out))
        return true;
    snprintf(where, sizeof where, "%s: for parameter %u", c->name, i + 1);
    sl_fail_prefix(s, where);
    return false;
}
