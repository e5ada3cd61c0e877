#include "catalogs.h"

/* M34 HasDependentsError: who still needs it. */
static bool refuse(struct install_session *s, const struct lock_entry *entry,
                   struct err *e)
{
    const struct lock_entry **all;
    size_t count;

    err_set(e, ERR_DEPENDENTS, "%s %.*s is still needed",
            doc_kind_name(entry->kind), STR_ARG(entry->name));
    all = layer_entries(&s->layer, &s->cx->arena, &count);
    for (size_t i = 0; i < count; i++)
        if (lock_needs(all[i], entry))
            err_also(e, "%s %.*s needs it", doc_kind_name(all[i]->kind),
                     STR_ARG(all[i]->name));
    return err_hint(e,
                    "remove what needs it first; mapm why %.*s shows the "
                    "way",
                    STR_ARG(entry->name));
}

static const struct lock_entry *root_entry(const struct install_session *s,
                                           const struct root *root)
{
    const struct lock_entry *entry =
        map_find(&s->layer.by_origin, root->origin.key);

    return entry && entry->kind == root->kind ? entry : NULL;
}

/* An argument that is the origin of a root takes out that root alone. */
static bool is_root(const struct install_session *s, const struct map *roots,
                    struct str word, struct str *key)
{
    struct err ignored = {0};
    struct origin o;

    if (!origin_parse(word, &s->layer.rules, &s->cx->arena, &o, &ignored))
        return false;
    *key = o.key;
    return map_has(roots, o.key);
}

/* The roots that are named, and those that ask for a package that is. */
static bool drop_roots(struct install_session *s, const struct str *words,
                       const struct lock_entry **entries, size_t count,
                       struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct root *gone = arena_array(a, s->root_count + 1, sizeof *gone);
    struct map names, keys, roots;
    struct str key;
    size_t n = 0;

    map_init(&names, a);
    map_init(&keys, a);
    map_init(&roots, a);
    for (size_t i = 0; i < s->root_count; i++)
        map_put(&roots, s->roots[i].origin.key, NULL);
    for (size_t i = 0; i < count; i++)
        if (is_root(s, &roots, words[i], &key))
            map_put(&keys, key, NULL);
        else
            map_put(&names,
                    layer_name_key(entries[i]->kind, entries[i]->name, a),
                    NULL);
    for (size_t i = 0; i < s->root_count; i++) {
        const struct lock_entry *entry = root_entry(s, &s->roots[i]);

        if (entry &&
            (map_has(&keys, s->roots[i].origin.key) ||
             map_has(&names, layer_name_key(entry->kind, entry->name, a))))
            gone[n++] = s->roots[i];
    }
    return roots_remove(s, gone, n, e);
}

/* Another root, with equal content. */
static bool has_root(const struct install_session *s,
                     const struct lock_entry *entry)
{
    for (size_t i = 0; i < s->root_count; i++)
        if (root_entry(s, &s->roots[i]) == entry)
            return true;
    return false;
}

/* The first of the entries that is in the plan all the same, as something needs
 * it. */
static const struct lock_entry *find_needed(const struct install_session *s,
                                            const struct lock_entry **entries,
                                            size_t count)
{
    struct arena *a = &s->cx->arena;
    struct map planned;

    map_init(&planned, a);
    for (size_t i = 0; i < s->resolved.count; i++) {
        const struct package *p = s->resolved.steps[i].package;

        map_put(&planned, layer_name_key(p->kind, p->fqn, a), NULL);
    }
    for (size_t i = 0; i < count; i++)
        if (map_has(&planned,
                    layer_name_key(entries[i]->kind, entries[i]->name, a)) &&
            !has_root(s, entries[i]))
            return entries[i];
    return NULL;
}

/* Those of the arguments that name a catalog as a whole; the rest is names. */
static bool drop_catalogs(struct install_session *s, struct str *names,
                          size_t *count, struct err *e)
{
    const struct str_list *words = &s->request->arguments;

    *count = 0;
    for (size_t i = 0; i < words->count; i++) {
        const struct catalog *c = catalogs_find(s, words->items[i]);

        if (!c)
            names[(*count)++] = words->items[i];
        else if (!catalogs_remove(s, c, e))
            return false;
    }
    return true;
}

bool remove_packages(struct install_session *s, struct err *e)
{
    struct context *cx = s->cx;
    struct closure_options o = {
        .offline = cx->is_offline,
        .no_self = s->request->no_self,
        .allow_hidden = true,
    };
    size_t count = s->request->arguments.count;
    struct str *names = arena_array(&cx->arena, count + 1, sizeof *names);
    const struct lock_entry **entries, *needed;

    entries = arena_array(&cx->arena, count + 1, sizeof *entries);
    if (!drop_catalogs(s, names, &count, e) ||
        !layer_resolve_names(&s->layer, names, count, &cx->arena, entries, e) ||
        !drop_roots(s, names, entries, count, e))
        return false;
    s->keep_edited = true;
    closure_init(&s->closure, cx, &s->layer, s->store, &o);
    if (!session_resolve(s, e))
        return false;
    for (size_t i = 0; i < s->gone_count; i++)
        s->plan.taken_over +=
            provision_took_over(s->layer.provision, s->gone[i]->place).n > 0;
    needed = find_needed(s, entries, count);
    return !needed || refuse(s, needed, e);
}
