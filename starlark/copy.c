#include "core/table.h"
#include "lib/lib.h"

/* What visits all that a value reaches: freezing and copying. Both keep their
 * own list of levels, so that no nesting reaches the end of the C stack. */

/* --- freezing ---------------------------------------------------------------------- */

struct level {
    value v;
    size_t next; /* which of its values is looked at next */
};

struct levels {
    struct level *p;
    size_t count, capacity;
};

static bool push(struct star *s, struct levels *l, value v)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 32;
        struct level *p = sl_storage_resize(s, l->p, l->capacity * sizeof *p,
                                            capacity * sizeof *p);

        if (!p)
            return false;
        l->p = p;
        l->capacity = capacity;
    }
    l->p[l->count++] = (struct level){v, 0};
    return true;
}

/* Marks `v`; true when it is to be looked into. */
static bool freeze_one(value v)
{
    uint32_t *locks;

    if (!sl_is_object(v))
        return false;
    switch (sl_type(v)) {
    case T_LIST:
        locks = &sl_list(v)->locks;
        break;
    case T_DICT:
    case T_SET:
        locks = &sl_table(v)->locks;
        break;
    case T_TUPLE:
    case T_FUNCTION:
    case T_BUILTIN:
    case T_CELL:
        if (sl_object(v)->flags & OBJECT_FROZEN)
            return false;
        sl_object(v)->flags |= OBJECT_FROZEN;
        return true;
    default:
        return false;
    }
    if (*locks & SL_FROZEN)
        return false;
    if (*locks == 0 && !sl_is(v, T_LIST))
        sl_table_pack(v); /* so that star_entry finds each at once */
    *locks |= SL_FROZEN;
    return true;
}

/* The i-th value in `v`; false past the last. Holes give 0. */
static bool value_at(value v, size_t i, value *out)
{
    switch (sl_type(v)) {
    case T_LIST:
        return i < sl_list(v)->count && (*out = sl_list(v)->items[i], true);
    case T_TUPLE:
        return i < sl_tuple(v)->count && (*out = sl_tuple(v)->items[i], true);
    case T_DICT:
    case T_SET:
        if (i / 2 >= sl_table(v)->used)
            return false;
        *out = i % 2 ? sl_table(v)->entries[i / 2].value
                     : sl_table(v)->entries[i / 2].key;
        return true;
    case T_FUNCTION: {
        const struct sl_function *f = sl_function(v);

        return i < (size_t)f->default_count + f->cell_count &&
               (*out = f->slots[i], true);
    }
    case T_BUILTIN:
        return i == 0 && (*out = sl_builtin(v)->self, true);
    case T_CELL:
        return i == 0 && (*out = sl_cell(v)->v, true);
    default:
        return false;
    }
}

bool sl_freeze(struct star *s, value v)
{
    struct levels l = {0};
    bool ok = true;

    if (freeze_one(v))
        ok = push(s, &l, v);
    while (ok && l.count) {
        struct level *top = &l.p[l.count - 1];
        value child;

        if (!value_at(top->v, top->next, &child))
            l.count--;
        else if (!sl_charge(s, 1))
            ok = false;
        else if (top->next++, freeze_one(child))
            ok = push(s, &l, child);
    }
    sl_storage_free(s, l.p, l.capacity * sizeof *l.p);
    return ok;
}

bool star_freeze(struct star *s, star_value v)
{
    bool ok;

    sl_host_enter(s);
    ok = sl_freeze(s, v);
    sl_host_leave(s);
    return ok;
}

/* --- from one interpreter to another ------------------------------------------------- */

struct copied {
    value from, to;
    size_t next; /* which item or entry comes next */
    value key;   /* of the entry whose value is being copied; 0: its key is */
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

/* The copy, or of a container an empty one, which becomes the top level. */
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

/* Puts a finished copy where it belongs in the container above it. */
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

/* What is to be copied next in the top level; 0: nothing more. */
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
