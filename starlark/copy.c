#include "core/table.h"
#include "lib/lib.h"

/* Copies values from one interpreter to another. The pending containers are on
 * an explicit stack, so that deep nesting cannot overflow the C stack. */

struct copied {
    value from, to;
    size_t next; /* index of the next item or entry */
    value key;   /* key of the entry whose value is being copied; 0 while the
                  * key is copied */
};

struct copying {
    struct star *s;
    struct copied *levels;
    size_t depth, capacity;
};

static value copy_text(struct star *s, value v)
{
    const struct sl_string *x = sl_string(v);

    if (!sl_charge(s, x->length / 64))
        return 0;
    return x->o.type == T_STRING ? sl_string_new(s, x->p, x->length)
                                 : sl_bytes_new(s, x->p, x->length);
}

static value copy_big(struct star *s, value v)
{
    const struct sl_bigint *b = sl_bigint(v);
    size_t size = sizeof *b + b->used * sizeof *b->digits;
    struct sl_bigint *copy = sl_alloc(s, T_INT, size);

    if (!copy)
        return 0;
    copy->used = b->used;
    copy->negative = b->negative;
    memcpy(copy->digits, b->digits, b->used * sizeof *b->digits);
    return sl_value(copy);
}

/* Returns the copy of a scalar, or an empty container, which is pushed as the
 * top level. */
static value copy_begin(struct copying *c, value v)
{
    value to = v;

    if (!sl_is_object(v))
        return v;
    switch (sl_type(v)) {
    case T_INT:
        return copy_big(c->s, v);
    case T_FLOAT:
        return sl_float_boxed(c->s, sl_float_of(v));
    case T_STRING:
    case T_BYTES:
        return copy_text(c->s, v);
    case T_TUPLE:
        to = sl_tuple_new(c->s, sl_tuple(v)->count);
        break;
    case T_LIST:
        to = sl_list_new(c->s, sl_list(v)->count);
        break;
    case T_DICT:
        to = sl_dict_new(c->s, sl_table(v)->count);
        break;
    case T_SET:
        to = sl_set_new(c->s, sl_table(v)->count);
        break;
    default:
        return sl_fail_as(c->s, STAR_ERROR_VALUE, "cannot copy %s",
                          sl_type_name(v));
    }
    for (size_t i = 0; i < c->depth; i++)
        if (c->levels[i].from == v)
            return sl_fail_as(c->s, STAR_ERROR_VALUE,
                              "cannot copy a %s that contains itself",
                              sl_type_name(v));
    if (!to || !sl_depth_ok(c->s, (unsigned)c->depth + 1))
        return 0;
    c->levels[c->depth++] = (struct copied){.from = v, .to = to};
    return to;
}

/* Stores a finished copy in the container above it. */
static bool copy_put(struct copying *c, struct copied *top, value done)
{
    struct star *s = c->s;

    switch (sl_type(top->to)) {
    case T_TUPLE:
        sl_tuple(top->to)->items[top->next++] = done;
        return true;
    case T_LIST:
        top->next++;
        return sl_list_append(s, top->to, done);
    case T_SET:
        top->next++;
        return sl_table_set(s, top->to, done, V_NONE);
    default: /* a dict */
        if (!top->key) {
            top->key = done;
            return true;
        }
        top->next++;
        value key = top->key;
        top->key = 0;
        return sl_table_set(s, top->to, key, done);
    }
}

/* Returns the next value to copy from the top level, or 0 if there is none. */
static value copy_next(struct copied *top)
{
    uint32_t at = (uint32_t)top->next;
    const struct sl_entry *e;

    if (sl_is(top->from, T_TUPLE))
        return at < sl_tuple(top->from)->count ? sl_tuple(top->from)->items[at]
                                               : 0;
    if (sl_is(top->from, T_LIST))
        return at < sl_list(top->from)->count ? sl_list(top->from)->items[at]
                                              : 0;
    if (!(e = sl_table_next(top->from, &at)))
        return 0;
    top->next = at;
    return top->key ? e->value : e->key;
}

static value copy_all(struct copying *c, value v)
{
    size_t below = 0;
    value done = copy_begin(c, v);

    while (done && c->depth) {
        struct copied *top = &c->levels[c->depth - 1];
        value next = copy_next(top);

        if (!sl_charge(c->s, 1))
            return 0;
        if (!next) {
            done = top->to;
            if (--c->depth && !copy_put(c, top - 1, done))
                return 0;
            continue;
        }
        below = c->depth;
        if (!(done = copy_begin(c, next)))
            return 0;
        if (c->depth == below && !copy_put(c, top, done))
            return 0;
    }
    return done;
}

star_value star_copy(struct star *to, struct star *from, star_value v)
{
    struct copying c = {.s = to,
                        .capacity = (size_t)to->limits.value_depth + 1};
    struct sl_scope scope;
    value copy = 0;

    (void)from;
    sl_host_enter(to);
    scope = sl_native_enter(to);
    c.levels = sl_storage(to, c.capacity * sizeof *c.levels);
    if (c.levels)
        copy = copy_all(&c, v);
    sl_storage_free(to, c.levels, c.capacity * sizeof *c.levels);
    sl_native_leave(to, scope);
    if (copy && !sl_hold(to, copy))
        copy = 0;
    sl_host_leave(to);
    return copy;
}
