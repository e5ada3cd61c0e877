#include "table.h"

/* Freezes all values reachable from one. The pending containers are on an
 * explicit stack, so that deep nesting cannot overflow the C stack. */

struct level {
    value v;
    size_t next; /* index of the next value to visit */
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

/* Marks `v` as frozen. Returns true if its contents must be visited. */
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
        sl_table_pack(v); /* so that star_entry finds each entry directly */
    *locks |= SL_FROZEN;
    return true;
}

/* Sets *out to the i-th value in `v`, 0 for a hole. Returns false past the
 * end. */
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
