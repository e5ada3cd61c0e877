#include "mapm/open_store.h"

#include "mapm/state.h"

bool open_store(struct context *cx, struct store **out, struct err *e)
{
    struct str home;

    return store_find_home(&cx->arena, &home, e) && store_open(home, out, e);
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
