#include "lib.h"

/* The predeclared names. */

bool sl_predeclare(struct star *s, value universe, const char *name, value v)
{
    value key = sl_intern(s, name, strlen(name));

    return key && v && sl_table_set(s, universe, key, v);
}

static bool fill_universe(struct star *s, value universe)
{
    static const struct {
        const char *name;
        value v;
    } constants[] = {{"None", V_NONE}, {"True", V_TRUE}, {"False", V_FALSE}};

    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (!sl_predeclare(s, universe, constants[i].name, constants[i].v))
            return false;
    for (const struct sl_builtin_entry *b = sl_core_builtins; b->name; b++)
        if (!sl_predeclare(s, universe, b->name,
                           sl_builtin_new(s, b->name, b->function, 0)))
            return false;
    return !s->options.json ||
           sl_predeclare(s, universe, "json", sl_json_module(s));
}

value sl_universe(struct star *s)
{
    struct sl_scope scope;
    value universe;

    if (s->universe)
        return s->universe;
    scope = sl_native_enter(s);
    universe = sl_dict_new(s, 64);
    if (universe && fill_universe(s, universe))
        s->universe = universe;
    sl_native_leave(s, scope);
    return s->universe;
}
