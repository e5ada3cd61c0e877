#include "sync.h"

/* What is to move: all, or the named ones. */
struct moving {
    const struct lock_entry **entries;
    size_t count;
    bool all;
};

static bool is_commit_origin(const struct layer *l, const struct lock_entry *en,
                             struct arena *a)
{
    struct err ignored = {0};
    struct origin o;

    return origin_parse(en->origin, &l->rules, a, &o, &ignored) &&
           origin_names_commit(&o);
}

static bool is_moving(void *ctx, const struct lock_entry *entry)
{
    const struct moving *m = ctx;

    if (m->all)
        return true;
    for (size_t i = 0; i < m->count; i++)
        if (m->entries[i] == entry)
            return true;
    return false;
}

static bool find_named(struct sync *s, struct moving *m, struct err *e)
{
    struct invocation *inv = s->inv;

    m->count = inv->arguments.count;
    m->all = m->count == 0;
    m->entries = arena_array(&inv->arena, m->count + 1, sizeof *m->entries);
    for (size_t i = 0; i < m->count; i++) {
        if (!layer_resolve_name(&s->layer, inv->arguments.items[i], inv,
                                &m->entries[i], e))
            return false;
        if (is_commit_origin(&s->layer, m->entries[i], &inv->arena)) {
            err_set(e, ERR_IMMUTABLE, "%.*s is asked for by its commit: %.*s",
                    STR_ARG(m->entries[i]->name),
                    STR_ARG(m->entries[i]->origin));
            return err_hint(e, "install it from another ref instead");
        }
    }
    return true;
}

static bool update(struct sync *s, struct err *e)
{
    struct invocation *inv = s->inv;
    struct moving moving = {0};
    struct closure_options o = {
        .offline = has_option(inv, OPTION_OFFLINE),
        .allow_hidden = has_option(inv, OPTION_ALLOW_HIDDEN),
        .is_moving = is_moving,
        .moving_ctx = &moving,
    };

    if (!layer_check_there(&s->layer, inv, e) || !find_named(s, &moving, e))
        return false;
    closure_init(&s->closure, inv, &s->layer, s->store, &o);
    return sync_resolve(s, e) && sync_finish(s, e);
}

COMMAND(command_update)
{
    *exit_code = EXIT_DONE;
    return sync_run(inv, "update", update, e);
}
