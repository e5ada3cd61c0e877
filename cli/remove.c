#include "sync.h"

/* Whether `root` asks for the package that `entry` locks. */
static bool asks_for(const struct layer *l, const struct root *root,
                     const struct lock_entry *entry)
{
    return root->kind == entry->kind &&
           map_find(&l->by_origin, root->origin.key) == entry;
}

static bool needs(const struct lock_entry *entry,
                  const struct lock_entry *other)
{
    for (size_t i = 0; i < entry->need_count; i++)
        if (entry->needs[i].kind == other->kind &&
            str_eq(entry->needs[i].name, other->name))
            return true;
    return false;
}

/* M34 HasDependentsError: who still needs it. */
static bool refuse(struct sync *s, const struct lock_entry *entry,
                   struct err *e)
{
    const struct lock_entry **all;
    size_t count;

    err_set(e, ERR_DEPENDENTS, "%s %.*s is still needed",
            doc_kind_name(entry->kind), STR_ARG(entry->name));
    all = layer_entries(&s->layer, &s->inv->arena, &count);
    for (size_t i = 0; i < count; i++)
        if (needs(all[i], entry))
            err_also(e, "%s %.*s needs it", doc_kind_name(all[i]->kind),
                     STR_ARG(all[i]->name));
    return err_hint(e,
                    "remove what needs it first; mapm why %.*s shows the "
                    "way",
                    STR_ARG(entry->name));
}

static bool drop_roots(struct sync *s, const struct lock_entry *entry,
                       struct err *e)
{
    for (size_t i = 0; i < s->root_count; i++) {
        struct root root = s->roots[i];

        if (!asks_for(&s->layer, &root, entry))
            continue;
        if (!sync_remove_root(s, &root, e))
            return false;
        i--;
    }
    return true;
}

static bool still_planned(const struct sync *s, const struct lock_entry *entry)
{
    for (size_t i = 0; i < s->plan.count; i++) {
        const struct package *p = s->plan.steps[i].package;

        if (p->kind == entry->kind && str_eq(p->fqn, entry->name))
            return true;
    }
    return false;
}

static bool remove_names(struct sync *s, struct err *e)
{
    struct invocation *inv = s->inv;
    struct closure_options o = {
        .offline = has_option(inv, OPTION_OFFLINE),
        .allow_hidden = true,
    };
    size_t count = inv->arguments.count;
    const struct lock_entry **entries =
        arena_array(&inv->arena, count + 1, sizeof *entries);

    for (size_t i = 0; i < count; i++)
        if (!layer_resolve_name(&s->layer, inv->arguments.items[i], inv,
                                &entries[i], e))
            return false;
    for (size_t i = 0; i < count; i++)
        if (!drop_roots(s, entries[i], e))
            return false;
    s->keep_edited = true;
    closure_init(&s->closure, inv, &s->layer, s->store, &o);
    if (!sync_resolve(s, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (still_planned(s, entries[i]))
            return refuse(s, entries[i], e);
    return sync_finish(s, e);
}

COMMAND(command_remove)
{
    *exit_code = EXIT_DONE;
    return sync_run(inv, "remove", remove_names, e);
}
