#include "mapm/open_store.h"

#include "mapm/state.h"

bool open_store(struct context *cx, struct store **out, struct err *e)
{
    struct str home;

    return store_find_home(&cx->arena, &home, e) && store_open(home, out, e);
}

bool open_installed(struct context *cx, struct layer *l, struct store **store,
                    struct err *e)
{
    *store = NULL;
    if (!layer_open(cx, LAYER_READ, l, e))
        return false;
    if (layer_check_there(l, cx, e) && open_store(cx, store, e))
        return true;
    layer_close(l);
    return false;
}

bool open_installed_all(struct context *cx, struct layers *all,
                        struct layer **list, size_t *count,
                        struct store **store, struct err *e)
{
    *store = NULL;
    if (!layer_open_chosen(cx, LAYER_READ, all, list, count, e))
        return false;
    if (layer_check_there(&all->whole, cx, e) && open_store(cx, store, e))
        return true;
    layer_close_all(all);
    return false;
}

void close_store(struct context *cx, struct store *s)
{
    if (s && state_lost(store_state(s)).n)
        context_warn(
            cx,
            "mapm.db was damaged: what was trusted, and the history of "
            "runs, is lost; the damaged file is now %.*s",
            STR_ARG(state_lost(store_state(s))));
    store_close(s);
}
