#include "mapm/layer.h"
#include "mapm/run_history.h"
#include "mapm/state.h"

bool run_history_workspace(struct context *cx, bool all, struct str *path,
                           struct err *e)
{
    struct layer l;

    *path = STR("");
    if (all)
        return true;
    if (!layer_open(cx, LAYER_READ, &l, e))
        return false;
    *path = l.path;
    layer_close(&l);
    return true;
}

static bool find_last(struct context *cx, struct store *store, bool all,
                      uint64_t *id, struct err *e)
{
    struct str workspace;
    struct state_run *runs;
    size_t count;

    if (!run_history_workspace(cx, all, &workspace, e) ||
        !state_list_runs(store_state(store), workspace, 1, &cx->arena, &runs,
                         &count, e))
        return false;
    if (count) {
        *id = runs[0].id;
        return true;
    }
    if (workspace.n == 0)
        return err_set(e, ERR_NOT_FOUND, "nothing was run so far");
    err_set(e, ERR_NOT_FOUND, "nothing was run in %.*s so far",
            STR_ARG(workspace));
    return err_hint(e, "mapm runs --all lists the runs of all workspaces");
}

bool run_history_find(struct context *cx, struct store *store, struct str word,
                      bool all, struct state_run *out, struct err *e)
{
    uint64_t id = 0;

    if (!word.p || str_is(word, "last")) {
        if (!find_last(cx, store, all, &id, e))
            return false;
    } else if (!str_number(word, INT64_MAX, &id)) {
        err_set(e, ERR_USAGE, "\"%.*s\" is not the number of a run",
                STR_ARG(word));
        return err_hint(e, "mapm runs lists them; \"last\" is the last one");
    }
    if (state_find_run(store_state(store), id, &cx->arena, out, e))
        return true;
    return e->code == ERR_NOT_FOUND
               ? err_hint(e, "mapm runs --all lists the runs that are known")
               : false;
}
