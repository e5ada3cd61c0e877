#include "mapm/layer.h"
#include "mapm/lock.h"

static bool find_named(struct context *cx, struct str name, struct layer *list,
                       size_t count, struct layers_named *out, struct err *e)
{
    struct err first = {0};

    for (size_t i = 0; i < count; i++) {
        const struct lock_entry **entry = &out->named[out->count];
        struct err why = {0};

        if (name.n && !layer_resolve_name(&list[i], name, cx, entry, &why)) {
            if (first.code == ERR_NONE || why.code == ERR_USAGE)
                first = why;
            continue;
        }
        out->items[out->count++] = &list[i];
    }
    if (out->count == 0)
        *e = first;
    return out->count > 0;
}

bool layers_open_named(struct context *cx, struct str name,
                       struct layers_named *out, struct err *e)
{
    struct layer *list;
    size_t count;

    *out = (struct layers_named){0};
    if (!layer_open_chosen(cx, LAYER_READ, &out->all, &list, &count, e))
        return false;
    out->is_many = count > 1;
    out->items = arena_array(&cx->arena, count, sizeof(struct layer *));
    out->named = arena_array(&cx->arena, count, sizeof(struct lock_entry *));
    if (find_named(cx, name, list, count, out, e))
        return true;
    layer_close_all(&out->all);
    return false;
}
