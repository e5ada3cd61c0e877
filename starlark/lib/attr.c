#include <stdio.h>

#include "../core/error.h"
#include "../core/table.h"
#include "../core/text.h"
#include "lib.h"

/* Attributes x.name: methods, and members of modules and host objects. */

/* Attributes of Python and other languages that Starlark lacks. */
/* clang-format off */
static const struct {
    enum sl_type type; /* T_COUNT for any type */
    const char *name, *hint;
} habits[] = {
    {T_DICT, "copy", "a copy of d is dict(d)"},
    {T_DICT, "fromkeys", "write {key: value for key in keys}"},
    {T_DICT, "has_key", "write key in d"},
    {T_DICT, "iteritems", "use items()"},
    {T_DICT, "iterkeys", "use keys()"},
    {T_DICT, "itervalues", "use values()"},
    {T_LIST, "add", "use append(x)"},
    {T_LIST, "copy", "a copy of a list is list(x)"},
    {T_LIST, "count", "write len([y for y in x if y == value])"},
    {T_LIST, "push", "use append(x)"},
    {T_LIST, "reverse", "use reversed(x), which gives a new list"},
    {T_LIST, "sort", "use sorted(x), which gives a new list"},
    {T_LIST, "join", "write separator.join(list)"},
    {T_TUPLE, "append", "a tuple cannot change: use a list, or t + (x,)"},
    {T_TUPLE, "count", "write len([y for y in t if y == value])"},
    {T_TUPLE, "index", "use list(t).index(x)"},
    {T_STRING, "append", "a string cannot change: write s + t"},
    {T_STRING, "casefold", "use lower()"},
    {T_STRING, "contains", "write part in s"},
    {T_STRING, "decode", "strings are text already"},
    {T_STRING, "encode", "use bytes(s)"},
    {T_STRING, "format_map", "use format(**mapping)"},
    {T_STRING, "isdecimal", "use isdigit()"},
    {T_STRING, "isnumeric", "use isdigit()"},
    {T_STRING, "trim", "use strip()"},
    {T_STRING, "ljust", "write s + \" \" * (width - len(s))"},
    {T_STRING, "rjust", "write \" \" * (width - len(s)) + s"},
    {T_STRING, "center", "write \" \" * ((width - len(s)) // 2) + s"},
    {T_STRING, "zfill", "write \"0\" * (width - len(s)) + s"},
    {T_BYTES, "decode", "use str(b)"},
    {T_SET, "copy", "a copy of a set is set(x)"},
    {T_MODULE, "loads", "use json.decode(text)"},
    {T_MODULE, "parse", "use json.decode(text)"},
    {T_MODULE, "dumps", "use json.encode(x)"},
    {T_MODULE, "stringify", "use json.encode(x)"},
    {T_COUNT, "contains", "write value in x"},
    {T_COUNT, "len", "use len(x)"},
    {T_COUNT, "length", "use len(x)"},
    {T_COUNT, "size", "use len(x)"},
    {T_COUNT, "__class__", "use type(x)"},
    {T_COUNT, "__len__", "use len(x)"},
};
/* clang-format on */

static void hint_at_habit(struct star *s, value object, value name)
{
    if (object == V_NONE) {
        sl_hint_none(s, object);
        return;
    }
    if (sl_is(object, T_DICT) && sl_table_find_string(s, object, name)) {
        sl_hint(s, "write d[\"%.*s\"]: the key of a dict is no field",
                SL_SHOWN(name));
        return;
    }
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if ((habits[i].type == T_COUNT || habits[i].type == sl_type(object)) &&
            sl_text_is(name, habits[i].name)) {
            sl_hint(s, "%s", habits[i].hint);
            return;
        }
}

value sl_attr_find(struct star *s, value object, value name)
{
    const struct sl_string *n = sl_string(name);

    if (sl_is(object, T_OBJECT))
        return sl_host_attr(s, object, name);
    if (sl_is(object, T_MODULE))
        return sl_table_get_text(s, sl_module(object)->members, n->p,
                                 n->length);
    enum sl_method m = sl_method_number(n->p, n->length);
    sl_native *function = m ? sl_method(object, m) : NULL;
    return function ? sl_builtin_new(s, sl_method_names[m], function, object)
                    : 0;
}

/* Writes the attribute that was probably meant into `text`. */
static bool nearest(value object, value name, char *text, size_t size)
{
    struct sl_spelling sp;

    sl_spell_begin(&sp, sl_string(name)->p, sl_string(name)->length);
    for (int m = 1; m < METHOD_COUNT; m++)
        if (sl_method(object, (enum sl_method)m))
            sl_spell_try(&sp, sl_method_names[m], strlen(sl_method_names[m]));
    for (const struct star_member *m = sl_host_members(object); m->name; m++)
        sl_spell_try(&sp, m->name, strlen(m->name));
    if (sp.best)
        snprintf(text, size, " (did you mean .%.*s?)", (int)sp.best_length,
                 sp.best);
    return sp.best;
}

value sl_attr(struct star *s, value object, value name)
{
    char meant[80] = "";
    value found = sl_attr_find(s, object, name);

    if (found || sl_failed(s))
        return found;
    nearest(object, name, meant, sizeof meant);
    sl_fail(s, "%s has no .%.*s field or method%s", sl_type_name(object),
            SL_SHOWN(name), meant);
    hint_at_habit(s, object, name);
    return 0;
}
