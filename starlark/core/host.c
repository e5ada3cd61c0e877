#include "error.h"
#include "ops.h"

/* Functions and objects of the host, as seen by programs. */

/* Checks the result of a host function, which may have cleared the error or
 * failed without a message. */
static value check_result(struct star *s, value v, const char *name)
{
    if (v)
        sl_error_clear(s);
    else if (!sl_failed(s))
        sl_fail(s, "%s failed", name);
    return v;
}

static value call_host(struct star *s, const struct sl_call *c)
{
    struct star_args args = {.values = c->args,
                             .count = c->count,
                             .names = c->names,
                             .named = c->args + c->count,
                             .named_count = c->named,
                             .ctx = c->builtin->ctx,
                             .self = c->self};

    return check_result(s, c->builtin->host(s, &args), c->name);
}

static value host_function(struct star *s, const char *name,
                           star_function *function, void *ctx, value self)
{
    value v = sl_builtin_new(s, name, call_host, self);

    if (!v)
        return 0;
    sl_builtin(v)->host = function;
    sl_builtin(v)->ctx = ctx;
    return v;
}

value sl_host_builtin(struct star *s, const char *name, star_function *function,
                      void *ctx)
{
    /* Include the NUL, since the name of a built-in is a C string. */
    value copy = sl_intern(s, name, strlen(name) + 1);

    return copy ? host_function(s, sl_string(copy)->p, function, ctx, 0) : 0;
}

const struct star_member *sl_host_members(value v)
{
    static const struct star_member none[1];

    if (!sl_is(v, T_OBJECT) || !sl_host_object(v)->type->members)
        return none;
    return sl_host_object(v)->type->members;
}

const struct star_member *sl_host_member(value v, value name)
{
    const struct sl_string *n = sl_string(name);

    for (const struct star_member *m = sl_host_members(v); m->name; m++)
        if (strlen(m->name) == n->length &&
            memcmp(m->name, n->p, n->length) == 0)
            return m;
    return NULL;
}

value sl_host_attr(struct star *s, value object, value name)
{
    const struct star_member *m = sl_host_member(object, name);
    const struct sl_host_object *o = sl_host_object(object);

    if (!m)
        return 0;
    if (!m->get)
        return host_function(s, m->name, m->method, o->data, object);
    struct sl_scope scope = sl_native_enter(s);
    value v = check_result(s, m->get(s, o->data), m->name);
    sl_native_leave(s, scope);
    return v && s->native && !sl_hold(s, v) ? 0 : v;
}
