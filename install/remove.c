#include "base/path.h"

#include "catalogs.h"
#include "self_server.h"

/* The arguments of one layer. */
struct removal {
    const struct str *words;
    const struct lock_entry **entries;
    size_t count;
};

/* Hints that a part of a plugin is skipped with --without, not removed
 * [X45]. */
static bool hint_part(struct install_session *s, const struct lock_entry *entry,
                      struct err *e)
{
    const struct lock_entry *plugin =
        layer_find(&s->layer, DOC_PLUGIN, entry->plugin);
    struct str from, name;

    if (!plugin || entry->kind == DOC_PLUGIN)
        return false;
    from = plugin->source.n ? lock_catalog(plugin) : lock_origin_text(plugin);
    name = path_last(entry->origin);
    err_hint(e,
             "the plugin does without it: mapm install %.*s%s%.*s "
             "--without '%s %.*s'",
             STR_ARG(from), plugin->source.n ? " --plugin " : "",
             STR_ARG(lock_catalog_entry(plugin)), doc_kind_name(entry->kind),
             STR_ARG(name));
    return true;
}

/* Reports the packages that still need the entry (M34 HasDependentsError). */
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
    if (hint_part(s, entry, e))
        return false;
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

/* Returns whether the argument is the origin of a root, of which only that root
 * is removed. */
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

/* Removes the named roots, and roots of named packages. */
static bool drop_roots(struct install_session *s, const struct removal *r,
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
    for (size_t i = 0; i < r->count; i++)
        if (is_root(s, &roots, r->words[i], &key))
            map_put(&keys, key, NULL);
        else
            map_put(&names,
                    layer_name_key(r->entries[i]->kind, r->entries[i]->name, a),
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

/* Returns whether another root with equal content remains. */
static bool has_root(const struct install_session *s,
                     const struct lock_entry *entry)
{
    for (size_t i = 0; i < s->root_count; i++)
        if (root_entry(s, &s->roots[i]) == entry)
            return true;
    return false;
}

/* Returns the first entry that is still in the plan because another package
 * depends on it. */
static const struct lock_entry *find_needed(const struct install_session *s,
                                            const struct removal *r)
{
    struct arena *a = &s->cx->arena;
    struct map planned;

    map_init(&planned, a);
    for (size_t i = 0; i < s->resolved.count; i++) {
        const struct package *p = s->resolved.steps[i].package;

        map_put(&planned, layer_name_key(p->kind, p->fqn, a), NULL);
    }
    for (size_t i = 0; i < r->count; i++)
        if (map_has(&planned, layer_name_key(r->entries[i]->kind,
                                             r->entries[i]->name, a)) &&
            !has_root(s, r->entries[i]))
            return r->entries[i];
    return NULL;
}

/* Hints at the member that contains the name. */
static bool hint_member(struct install_session *s, struct str word,
                        struct err *e)
{
    for (size_t i = 0; e->code == ERR_NOT_FOUND && i < s->part_count; i++) {
        const struct lock_entry *entry;
        struct err ignored = {0};
        struct str member;

        session_go(s, i);
        member = session_member(s);
        if (i == s->layers.here ||
            !layer_resolve_name(&s->layer, word, s->cx, &entry, &ignored))
            continue;
        session_go_home(s);
        return err_hint(e, "%.*s has it: mapm remove --member %.*s %.*s",
                        STR_ARG(member), STR_ARG(member), STR_ARG(word));
    }
    session_go_home(s);
    return false;
}

static bool names_self_server(struct install_session *s, struct str word)
{
    const struct lock_entry *entry;
    struct err ignored = {0};

    return s->with_server && self_server_is_name(word) &&
           !layer_resolve_name(&s->layer, word, s->cx, &entry, &ignored);
}

/* Handles an argument that names a catalog or mapm's own server. */
static bool drop_other(struct install_session *s, struct str word, bool *found,
                       struct err *e)
{
    const struct catalog *c = catalogs_find(s, word);

    *found = true;
    if (c)
        return catalogs_remove(s, c, e);
    if (names_self_server(s, word))
        return self_server_remove(s, e);
    *found = false;
    return true;
}

/* Finds the arguments; with -r a name may be of any member. */
static bool find_words(struct install_session *s, struct removal *out,
                       bool *found, struct err *e)
{
    const struct str_list *arguments = &s->request->arguments;
    struct arena *a = &s->cx->arena;
    struct str *words = arena_array(a, arguments->count + 1, sizeof *words);

    out->words = words;
    out->entries = arena_array(a, arguments->count + 1, sizeof *out->entries);
    if (!s->cx->all_members || s->part_count == 1) {
        for (size_t i = 0; i < arguments->count; i++)
            if (!drop_other(s, arguments->items[i], &found[i], e))
                return false;
            else if (!found[i])
                words[out->count++] = arguments->items[i];
        return layer_resolve_names(&s->layer, words, out->count, a,
                                   out->entries, e) ||
               (out->count == 1 && hint_member(s, words[0], e));
    }
    for (size_t i = 0; i < arguments->count; i++) {
        struct err why = {0};
        bool is_other;

        if (!drop_other(s, arguments->items[i], &is_other, e))
            return false;
        found[i] |= is_other;
        if (is_other)
            continue;
        if (layer_resolve_name(&s->layer, arguments->items[i], s->cx,
                               &out->entries[out->count], &why)) {
            words[out->count++] = arguments->items[i];
            found[i] = true;
        } else if (why.code != ERR_NOT_FOUND) {
            *e = why;
            return false;
        }
    }
    return true;
}

static bool is_affected(const struct install_session *s, size_t part)
{
    return part == s->layers.here || (s->cx->all_members && s->part_count > 1);
}

static bool drop_all(struct install_session *s, struct removal *removals,
                     struct err *e)
{
    const struct str_list *arguments = &s->request->arguments;
    bool *found =
        arena_array(&s->cx->arena, arguments->count + 1, sizeof *found);

    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        if (is_affected(s, i) && (!find_words(s, &removals[i], found, e) ||
                                  !drop_roots(s, &removals[i], e)))
            return false;
    }
    session_go_home(s);
    for (size_t i = 0; i < arguments->count; i++)
        if (s->cx->all_members && s->part_count > 1 && !found[i])
            return err_set(e, ERR_NOT_FOUND,
                           "nothing named \"%.*s\" is installed here",
                           STR_ARG(arguments->items[i]));
    return true;
}

static void count_taken(struct install_session *s,
                        const struct lock_entry *entry)
{
    CLEANUP(arena_done) struct arena scratch = {0};

    if (provision_took_over(s->layer.provision, entry->kind, entry->place,
                            &scratch)
            .n == 0)
        return;
    s->plan.taken_over++;
    s->plan.taken_servers += entry->kind == DOC_MCP;
}

bool remove_packages(struct install_session *s, struct err *e)
{
    struct context *cx = s->cx;
    struct closure_options o = {
        .offline = cx->is_offline,
        .no_self = s->request->no_self,
        .allow_hidden = true,
    };
    struct removal *removals =
        arena_array(&cx->arena, s->part_count, sizeof *removals);

    if (!drop_all(s, removals, e))
        return false;
    s->keep_edited = true;
    closure_init(&s->closure, cx, &s->layers.whole, s->store, &o);
    if (!session_resolve(s, e))
        return false;
    for (size_t i = 0; i < s->part_count; i++) {
        const struct lock_entry *needed;

        session_go(s, i);
        for (size_t k = 0; s->is_chosen && k < s->gone_count; k++)
            count_taken(s, s->gone[k]);
        needed = find_needed(s, &removals[i]);
        if (needed)
            return refuse(s, needed, e);
    }
    session_go_home(s);
    return true;
}
