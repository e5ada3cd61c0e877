#include "json.h"

/* JSON for the host, and the json module. */

/* --- for the host ----------------------------------------------------------------------- */

static value refuse(struct star *s, const struct sl_json_reader *r)
{
    if (!sl_failed(s))
        sl_fail_as(s, STAR_ERROR_VALUE, "at offset %zu, %s",
                   (size_t)(r->p - r->begin), r->why);
    return 0;
}

star_value star_from_json(struct star *s, const char *text, size_t length)
{
    struct sl_json_reader r;
    struct sl_scope scope;
    value v;

    sl_host_enter(s);
    scope = sl_native_enter(s);
    sl_json_open(&r, s, text, length);
    if (!(v = sl_json_decode(s, &r)))
        refuse(s, &r);
    sl_native_leave(s, scope);
    if (v && !sl_hold(s, v))
        v = 0;
    sl_host_leave(s);
    return v;
}

static value encode(struct star *s, value v, bool module)
{
    struct sl_text t = {.s = s};

    if (!sl_json_encode(&t, v, module))
        t.failed = true;
    return sl_text_string(&t);
}

star_value star_to_json(struct star *s, star_value v)
{
    value text;

    if (!v)
        return sl_no_value(s);
    sl_host_enter(s);
    text = encode(s, v, false);
    sl_host_leave(s);
    return text;
}

/* --- the module --------------------------------------------------------------------------- */

static value json_encode(struct star *s, const struct sl_call *c)
{
    value text;

    if (!sl_want_args(s, c, 1, 1))
        return 0;
    text = encode(s, c->args[0], true);
    return text ? text : sl_failed_in(s, c);
}

/* Returns the text indented; `prefix` and `indent` are strings or 0. */
static value indented(struct star *s, const struct sl_call *c, value text,
                      const value options[2])
{
    struct sl_text t = {.s = s};
    struct sl_json_reader r;
    value prefix = options[0] ? options[0] : s->empty_string;
    value indent = options[1] ? options[1] : sl_string_char(s, '\t');

    if (!indent)
        return 0;
    sl_json_open(&r, s, sl_string(text)->p, sl_string(text)->length);
    if (!sl_json_indent(&t, &r, prefix, indent)) {
        /* Word the error as the reference implementation does. */
        bool odd = strncmp(r.why, "unexpected character", 20) == 0;

        t.failed = true;
        if (!sl_failed(s))
            sl_fail(s, "%s: at offset %zu, %s%s", c->name,
                    (size_t)(r.p - r.begin), odd ? "invalid" : "",
                    odd ? r.why + strlen("unexpected") : r.why);
    }
    return sl_text_string(&t);
}

/* Reads the single argument, and prefix= and indent=. */
static bool layout_args(struct star *s, const struct sl_call *c,
                        value options[2])
{
    struct sl_call named = *c;

    if (c->count != 1) {
        sl_fail(s, "%s: got %u arguments, want 1", c->name, c->count);
        return false;
    }
    named.args += 1;
    named.count = 0;
    if (!sl_unpack(s, &named, "prefix?, indent?", options))
        return false;
    for (int i = 0; i < 2; i++)
        if (options[i] && !sl_is(options[i], T_STRING)) {
            sl_fail(s, "%s: for parameter %s: got %s, want string", c->name,
                    i ? "indent" : "prefix", sl_type_name(options[i]));
            return false;
        }
    return true;
}

static value json_encode_indent(struct star *s, const struct sl_call *c)
{
    value options[2], text;

    if (!layout_args(s, c, options))
        return 0;
    if (!(text = encode(s, c->args[0], true)))
        return sl_failed_in(s, c);
    return indented(s, c, text, options);
}

static value json_indent(struct star *s, const struct sl_call *c)
{
    value options[2];

    if (!layout_args(s, c, options))
        return 0;
    if (!sl_is(c->args[0], T_STRING))
        return sl_fail(s, "%s: for parameter 1: got %s, want string", c->name,
                       sl_type_name(c->args[0]));
    return indented(s, c, c->args[0], options);
}

static value json_decode(struct star *s, const struct sl_call *c)
{
    struct sl_json_reader r;
    value args[2], v;

    if (!sl_unpack(s, c, "x, default?", args))
        return 0;
    if (c->count == 0)
        return sl_fail(s, "%s: unexpected keyword argument x", c->name);
    if (!sl_is(args[0], T_STRING))
        return sl_fail(s, "%s: for parameter x: got %s, want string", c->name,
                       sl_type_name(args[0]));
    sl_json_open(&r, s, sl_string(args[0])->p, sl_string(args[0])->length);
    if ((v = sl_json_decode(s, &r)) || sl_failed(s))
        return v;
    if (args[1])
        return args[1];
    return sl_fail(s, "%s: at offset %zu, %s", c->name, (size_t)(r.p - r.begin),
                   r.why);
}

value sl_json_module(struct star *s)
{
    static const struct {
        const char *name, *full_name;
        sl_native *function;
    } members[] = {
        {"decode", "json.decode", json_decode},
        {"encode", "json.encode", json_encode},
        {"encode_indent", "json.encode_indent", json_encode_indent},
        {"indent", "json.indent", json_indent},
    };
    struct sl_scope scope = sl_native_enter(s);
    struct sl_module *m = sl_alloc(s, T_MODULE, sizeof *m);
    value dict = m ? sl_dict_new(s, 4) : 0;
    bool ok = dict;

    for (size_t i = 0; ok && i < sizeof members / sizeof *members; i++) {
        value name = sl_intern(s, members[i].name, strlen(members[i].name));
        value v =
            sl_builtin_new(s, members[i].full_name, members[i].function, 0);

        ok = name && v && sl_table_set(s, dict, name, v);
    }
    if (ok) {
        m->name = "json";
        m->members = dict;
        ok = sl_freeze(s, dict);
    }
    sl_native_leave(s, scope);
    return ok && sl_hold(s, sl_value(m)) ? sl_value(m) : 0;
}
