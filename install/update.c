#include "install_session.h"

/* What is to move: all, or the named ones. */
struct moving {
    struct map entries; /* by kind and name */
    struct arena *a;
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

    return m->all ||
           map_find(&m->entries,
                    layer_name_key(entry->kind, entry->name, m->a)) == entry;
}

static bool find_named(struct install_session *s, struct moving *m,
                       struct err *e)
{
    struct context *cx = s->cx;
    size_t count = s->request->arguments.count;
    const struct lock_entry **entries;

    m->a = &cx->arena;
    m->all = count == 0;
    map_init(&m->entries, m->a);
    entries = arena_array(m->a, count + 1, sizeof *entries);
    if (!layer_resolve_names(&s->layer, s->request->arguments.items, count,
                             m->a, entries, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry = entries[i];

        if (is_commit_origin(&s->layer, entry, m->a)) {
            err_set(e, ERR_IMMUTABLE, "%.*s is asked for by its commit: %.*s",
                    STR_ARG(entry->name), STR_ARG(entry->origin));
            return err_hint(e, "install it from another ref instead");
        }
        map_put(&m->entries, layer_name_key(entry->kind, entry->name, m->a),
                (void *)(uintptr_t)entry);
    }
    return true;
}

/* A package that its repository lost or broke keeps none of the others. */
static bool add_way_out(const struct install_session *s, struct err *e)
{
    const struct lock_entry *broken = NULL;
    struct err old = *e;
    bool others = false;

    if (session_is_network(e->code) || e->code == ERR_OFFLINE)
        return false;
    for (size_t i = 0; i < s->root_count; i++) {
        const struct str key = s->roots[i].origin.key;
        const struct node *n = closure_find(&s->closure, key);
        const struct lock_entry *entry = map_find(&s->layer.by_origin, key);

        if (n && n->failed && entry && !broken)
            broken = entry;
        others |= n && !n->failed;
    }
    return broken && others &&
           err_hint(e,
                    "%s%smapm remove %.*s takes that one out, mapm update "
                    "NAME ... moves the others alone",
                    old.hint, *old.hint ? " or: " : "", STR_ARG(broken->name));
}

bool update_packages(struct install_session *s, struct err *e)
{
    struct context *cx = s->cx;
    struct moving *moving = arena_new(&cx->arena, struct moving);
    struct closure_options o = {
        .offline = cx->is_offline,
        .allow_hidden = s->request->allow_hidden,
        .is_moving = is_moving,
        .moving_ctx = moving,
        .ahead = &s->ahead,
        .on_fetched = session_stage_early,
        .on_fetched_ctx = s,
    };

    if (!layer_check_there(&s->layer, cx, e) || !find_named(s, moving, e))
        return false;
    closure_init(&s->closure, cx, &s->layer, s->store, &o);
    if (cx->is_offline)
        context_note(cx, "offline: refs as this machine last saw them");
    return session_resolve(s, e) || (moving->all && add_way_out(s, e));
}
