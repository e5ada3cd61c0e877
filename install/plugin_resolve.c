#include "base/path.h"
#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/origin.h"

#include "names.h"
#include "plugins.h"
#include "selection.h"

/* Decides, once all parts are known, which parts can be installed and their
 * names. Names depend on the plugins of the layer only, not on the order of
 * arrival. Source: X31, X34, X38, X44; P25, P52. */

/* --- faults ------------------------------------------------------------------ */

/* Returns the node whose fault prevents installing a part, itself or a
 * dependency, or NULL. Network errors do not count as faults. */
static const struct node *find_fault(struct closure *c, struct node *n,
                                     struct map *seen)
{
    if (n->failed)
        return session_is_network(n->failed->code) ||
                       n->failed->code == ERR_OFFLINE ||
                       n->failed->code == ERR_DAMAGED
                   ? NULL
                   : n;
    if (!map_put(seen, n->origin->key, n) || seen->count > GRAPH_MAX_DEPTH)
        return NULL;
    for (size_t i = 0; i < n->package.dep_count; i++) {
        struct node *to = closure_find(c, n->package.deps[i].origin->key);
        const struct node *fault = to ? find_fault(c, to, seen) : NULL;

        if (fault)
            return fault;
    }
    return NULL;
}

static struct str message_of(const struct node *n, struct arena *a)
{
    const char *message = err_prev(n->failed, NULL);
    const char *inner = err_prev(n->failed, message);

    if (inner && str_find(str_cstr(message), n->origin->text) != SIZE_MAX)
        message = inner;
    return arena_str(a, str_cstr(message));
}

struct resolving {
    struct install_session *s;
    struct arena *a;
    struct map is_root; /* keys of the origins of roots */
    struct map names;   /* kind and content -> struct str *, the first name
                         * in byte order */
    struct map roots;   /* kind and content -> struct str *, name of a root */
    struct map owners;  /* kind and content -> const struct node *, the first
                         * plugin */
    struct map twins;   /* selection_twin_key() -> struct twins *, of roots */
};

/* Roots of a catalog that have the same name in their documents, ready or not:
 * selection_name() named them when they were locked. */
struct twins {
    struct str content; /* of the first one */
    bool differ;
};

static void skip(struct resolving *t, struct plugin *p,
                 const struct plugin_part *part, struct str why)
{
    struct plugin_skipped *all =
        arena_array(t->a, p->skipped_count + 1, sizeof *all);

    for (size_t i = 0; i < p->skipped_count; i++)
        all[i] = p->skipped[i];
    all[p->skipped_count] =
        (struct plugin_skipped){part->kind, part->name, why};
    p->skipped = all;
    p->skipped_count++;
}

/* Drops the parts that cannot be installed. */
static void drop_parts(struct resolving *t, struct node *n, const bool *gone)
{
    struct plugin_node *info = n->plugin;
    struct plugin *p = &info->plugin;
    struct dependency *deps =
        arena_array(t->a, n->package.dep_count + 1, sizeof *deps);
    size_t count = 0, kept = 0, parts = p->part_count;

    for (size_t i = 0; i < n->package.dep_count; i++)
        if (i >= parts || !gone[i])
            deps[count++] = n->package.deps[i];
    for (size_t i = 0; i < parts; i++) {
        if (gone[i])
            continue;
        p->parts[kept] = p->parts[i];
        info->parts[kept++] = info->parts[i];
    }
    p->part_count = kept;
    n->package.deps = deps;
    n->package.dep_count = count;
}

static void drop_invalid(struct resolving *t, struct node *n)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct plugin_node *info = n->plugin;
    size_t count = info->plugin.part_count;
    bool *gone = arena_array(&scratch, count + 1, sizeof *gone);
    bool any = false;

    for (size_t i = 0; i < count; i++) {
        const struct node *fault;
        struct map seen;

        map_init(&seen, &scratch);
        fault = find_fault(&t->s->closure, info->parts[i], &seen);
        if (!fault)
            continue;
        gone[i] = any = true;
        skip(t, &info->plugin, &info->plugin.parts[i],
             fault == info->parts[i]
                 ? message_of(fault, t->a)
                 : arena_printf(t->a, "it needs %.*s: %.*s",
                                STR_ARG(fault->origin->text),
                                STR_ARG(message_of(fault, t->a))));
    }
    if (any)
        drop_parts(t, n, gone);
}

/* --- names --------------------------------------------------------------------- */

static struct str content_key(struct resolving *t, const struct node *n)
{
    return arena_printf(t->a, "%s %.*s", doc_kind_name(n->package.kind),
                        STR_ARG(n->package.content));
}

static struct str short_of(const struct node *n)
{
    return path_last(n->own_fqn);
}

static struct str name_in(struct resolving *t, const struct node *plugin,
                          const struct node *n)
{
    return arena_printf(t->a, "%.*s/%.*s", STR_ARG(plugin->package.fqn),
                        STR_ARG(short_of(n)));
}

/* Returns whether the part keeps its name: it has a scope of its own, or is a
 * root. The name of a server is that of its plugin. */
static bool keeps_name(struct resolving *t, const struct node *n)
{
    return map_has(&t->is_root, n->origin->key) || n->alias.n ||
           (n->package.kind != DOC_MCP && str_has_char(n->own_fqn, '/')) ||
           (n->package.kind == DOC_MCP && !node_is_derived(n));
}

/* A candidate name for parts of equal content: the first in byte order, unless
 * a part keeps its own. */
struct offered {
    struct str name;
    bool is_kept;
};

static void offer_name(struct resolving *t, const struct node *plugin,
                       const struct node *n)
{
    bool is_kept = keeps_name(t, n);
    struct map_entry *entry;
    const struct offered *best;
    struct offered *name;

    if (!n->own_fqn.n || !n->package.content.n)
        return;
    entry = map_entry(&t->names, content_key(t, n));
    best = entry->value;
    name = arena_new(t->a, struct offered);
    *name = (struct offered){is_kept ? n->package.fqn : name_in(t, plugin, n),
                             is_kept};
    if (!best || is_kept ||
        (!best->is_kept && str_cmp(name->name, best->name) < 0))
        entry->value = name;
}

static struct twins *twins_of(struct resolving *t, const struct node *n)
{
    struct map_entry *entry = map_entry(&t->twins, selection_twin_key(n, t->a));

    if (!entry->value)
        entry->value = arena_new(t->a, struct twins);
    return entry->value;
}

static bool is_named_root(const struct node *n)
{
    return n && !n->failed && n->own_fqn.n && n->package.content.n &&
           n->package.kind != DOC_PLUGIN;
}

static void find_twins(struct resolving *t)
{
    const struct install_session *s = t->s;

    for (size_t i = 0; i < s->root_count; i++) {
        const struct node *n =
            closure_find(&s->closure, s->roots[i].origin.key);
        struct twins *twins = is_named_root(n) ? twins_of(t, n) : NULL;

        if (twins && !twins->content.n)
            twins->content = n->package.content;
        else if (twins && !str_eq(twins->content, n->package.content))
            twins->differ = true;
    }
}

/* Drops a locked name that came from a plugin to which the part no longer
 * belongs, or over which a root takes precedence. */
static void drop_name(struct resolving *t, struct node *n)
{
    bool is_root = map_has(&t->is_root, n->origin->key);

    if (!n->locked || !n->locked->plugin.n || n->alias.n || !n->own_fqn.n ||
        (is_root ? twins_of(t, n)->differ : node_rare(n)->of_plugin.n > 0))
        return;
    node_set_name(n, n->own_fqn);
}

/* Gives parts that are also roots the name of the root. */
static void name_as_roots(struct resolving *t)
{
    const struct install_session *s = t->s;

    for (size_t i = 0; i < s->root_count; i++) {
        struct node *n = closure_find(&s->closure, s->roots[i].origin.key);

        if (!is_named_root(n))
            continue;
        drop_name(t, n);
        map_put(&t->roots, content_key(t, n), &n->package.fqn);
    }
}

static void take_name(struct resolving *t, struct node *n)
{
    const struct str *root = map_find(&t->roots, content_key(t, n));
    const struct offered *first = map_find(&t->names, content_key(t, n));

    if ((root || first) && !keeps_name(t, n))
        node_set_name(n, root ? *root : first->name);
}

/* Equal content is one package, so a root or a dependency with the content of a
 * part has its plugin in the lock, too. */
static void take_plugin(struct resolving *t, struct node *n)
{
    const struct node *owner = n->own_fqn.n && n->package.content.n
                                   ? map_find(&t->owners, content_key(t, n))
                                   : NULL;

    if (owner && owner != n)
        node_make_rare(n, &t->s->cx->arena)->of_plugin = owner->package.fqn;
}

static void claim(struct resolving *t, const struct node *plugin,
                  struct node *n)
{
    struct map_entry *entry;

    if (n->own_fqn.n && n->package.content.n) {
        const struct node *first;

        entry = map_entry(&t->owners, content_key(t, n));
        first = entry->value;
        if (!first || str_cmp(plugin->package.fqn, first->package.fqn) < 0)
            entry->value = (void *)(uintptr_t)plugin;
    }
    offer_name(t, plugin, n);
}

static struct node **parts_of(struct resolving *t, const struct node *n,
                              size_t *count)
{
    struct node **parts =
        arena_array(t->a, n->package.dep_count + 1, sizeof(struct node *));

    *count = 0;
    for (size_t i = 0; i < n->package.dep_count; i++) {
        struct node *to =
            closure_find(&t->s->closure, n->package.deps[i].origin->key);

        if (to && to->is_part && !to->failed)
            parts[(*count)++] = to;
    }
    return parts;
}

/* Drops parts with the name of another part with different content; the first
 * one keeps it. */
static void drop_twins(struct resolving *t, struct node *n)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct plugin_node *info = n->plugin;
    size_t count = info->plugin.part_count;
    bool *gone = arena_array(&scratch, count + 1, sizeof *gone);
    struct map names;
    bool any = false;

    map_init(&names, &scratch);
    for (size_t i = 0; i < count; i++) {
        const struct node *part = info->parts[i];
        struct map_entry *entry =
            map_entry(&names, arena_printf(&scratch, "%s %.*s",
                                           doc_kind_name(part->package.kind),
                                           STR_ARG(part->package.fqn)));
        const struct node *first = entry->value;

        if (!first) {
            entry->value = info->parts[i];
            continue;
        }
        if (str_eq(first->package.content, part->package.content))
            continue;
        gone[i] = any = true;
        skip(t, &info->plugin, &info->plugin.parts[i],
             arena_printf(t->a, "%.*s has the name %.*s already",
                          STR_ARG(first->origin->text),
                          STR_ARG(part->package.fqn)));
    }
    if (any)
        drop_parts(t, n, gone);
}

/* --- what is left ----------------------------------------------------------------- */

static void sort_words(struct str *items, size_t n, struct str_list *out)
{
    size_t kept = 0;

    str_sort(items, n);
    for (size_t i = 0; i < n; i++)
        if (!kept || !str_eq(items[kept - 1], items[i]))
            items[kept++] = items[i];
    *out = (struct str_list){items, kept};
}

static void list_words(struct resolving *t, struct plugin_node *info)
{
    const struct plugin *p = &info->plugin;
    struct str *skipped =
        arena_array(t->a, p->skipped_count + 1, sizeof *skipped);
    struct str *others = arena_array(t->a, p->other_count + 1, sizeof *others);

    for (size_t i = 0; i < p->skipped_count; i++)
        skipped[i] =
            arena_printf(t->a, "%s %.*s", doc_kind_name(p->skipped[i].kind),
                         STR_ARG(p->skipped[i].name));
    for (size_t i = 0; i < p->other_count; i++)
        others[i] = p->others[i].kind;
    sort_words(skipped, p->skipped_count, &info->skipped);
    sort_words(others, p->other_count, &info->not_installed);
}

/* Files that only the extension of one client names may be packages of the
 * repository: awesome-copilot keeps its skills and agents beside its plugins. */
static void hint_repository(const struct node *n, struct err *e)
{
    const struct plugin *p = &n->plugin->plugin;

    for (size_t i = 0; i < p->other_count; i++)
        if (node_has_entry(n) && str_has_char(p->others[i].kind, '.')) {
            err_hint(e,
                     "mapm install --list %.*s lists the packages of its "
                     "repository",
                     STR_ARG(origin_base(n->origin->text)));
            return;
        }
}

/* Fails a plugin without supported parts, listing them: "hooks 1
 * (hooks/hooks.json), commands 3 (commands)". */
static void fail_empty(struct resolving *t, struct node *n)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct plugin *p = &n->plugin->plugin;
    struct err e = {0};

    buf_init(&b, 4000);
    for (size_t i = 0; i < p->other_count; i++)
        buf_printf(&b, "%s%.*s %zu (%.*s)", b.n ? ", " : "",
                   STR_ARG(p->others[i].kind), p->others[i].count,
                   STR_ARG(p->others[i].where));
    for (size_t i = 0; i < n->plugin->without.count; i++)
        buf_printf(&b, "%s%.*s (left out)", b.n ? ", " : "",
                   STR_ARG(n->plugin->without.items[i]));
    for (size_t i = 0; i < p->skipped_count && i < ERROR_MAX_LINES; i++)
        buf_printf(&b, "%s%s %.*s (%.*s)", b.n ? ", " : "",
                   doc_kind_name(p->skipped[i].kind),
                   STR_ARG(p->skipped[i].name), STR_ARG(p->skipped[i].why));
    err_set(&e, ERR_PATH,
            "plugin %.*s has no skill, MCP server or sub-agent that can be "
            "installed%s%.*s",
            STR_ARG(p->name), b.n ? "; what it has: " : "",
            STR_ARG(buf_str(&b)));
    hint_repository(n, &e);
    node_make_rare(n, t->a)->fault = STR("plugin-empty");
    node_fail(&t->s->closure, n, &e);
}

static bool is_whole(const struct node *n)
{
    return n && !n->failed && n->is_ready && n->package.kind == DOC_PLUGIN;
}

static bool is_fresh(const struct node *n)
{
    return is_whole(n) && n->plugin && (!n->locked || n->has_other_parts);
}

static void begin(struct resolving *t)
{
    const struct root *roots;
    size_t root_count;

    map_init(&t->is_root, t->a);
    map_init(&t->names, t->a);
    map_init(&t->owners, t->a);
    map_init(&t->roots, t->a);
    map_init(&t->twins, t->a);
    roots = session_all_roots(t->s, &root_count);
    for (size_t i = 0; i < root_count; i++)
        map_put(&t->is_root, roots[i].origin.key, NULL);
}

/* Names the parts of all plugins, once each is claimed by its plugin. */
static void name_parts(struct resolving *t)
{
    struct closure *c = &t->s->closure;

    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < c->queued; i++) {
            struct node **parts;
            size_t count;

            if (!is_whole(c->queue[i]))
                continue;
            parts = parts_of(t, c->queue[i], &count);
            for (size_t k = 0; k < count; k++)
                if (round == 0)
                    claim(t, c->queue[i], parts[k]);
                else
                    take_name(t, parts[k]);
        }
}

static void finish_node(struct resolving *t, struct node *n)
{
    take_plugin(t, n);
    drop_name(t, n);
    if (!is_fresh(n))
        return;
    drop_twins(t, n);
    list_words(t, n->plugin);
    if (n->package.dep_count == 0)
        fail_empty(t, n);
}

void plugins_resolve(struct install_session *s)
{
    struct resolving t = {.s = s, .a = &s->cx->arena};
    struct closure *c = &s->closure;
    size_t any = 0;

    for (size_t i = 0; i < c->queued; i++)
        any += is_whole(c->queue[i]) || c->queue[i]->is_part;
    if (any == 0)
        return;
    begin(&t);
    for (size_t i = 0; i < c->queued; i++)
        if (is_fresh(c->queue[i]))
            drop_invalid(&t, c->queue[i]);
    find_twins(&t);
    name_as_roots(&t);
    for (size_t i = 0; i < c->queued; i++)
        if (c->queue[i]->rare)
            c->queue[i]->rare->of_plugin = STR("");
    name_parts(&t);
    for (size_t i = 0; i < c->queued; i++)
        finish_node(&t, c->queue[i]);
}

/* --- the lock ----------------------------------------------------------------------- */

/* Returns the plugin of a part: that of its origin, or for a skill the first
 * that depends on it. */
static struct str plugin_of(const struct node *n)
{
    struct str rest = str_from_index(n->origin->part,
                                     str_find_char(n->origin->part, '=') + 1);

    return node_is_derived(n) ? str_slice(rest, 0, str_find_char(rest, '/'))
                              : node_rare(n)->of_plugin;
}

void plugin_fill_entry(const struct node *n, struct lock_entry *out)
{
    const struct plugin_node *info = n->plugin;

    if (n->package.kind != DOC_PLUGIN) {
        out->plugin = plugin_of(n);
        if (n->package.kind == DOC_MCP && node_is_derived(n))
            out->server = path_last(n->origin->part);
        return;
    }
    if (n->locked && !info) {
        out->manifest = n->locked->manifest;
        out->source = n->locked->source;
        out->catalog_commit = n->locked->catalog_commit;
        out->without = n->locked->without;
        out->skipped = n->locked->skipped;
        out->not_installed = n->locked->not_installed;
        return;
    }
    if (!info)
        return;
    out->manifest = info->plugin.manifest;
    out->source = info->source;
    out->catalog_commit = info->catalog_commit;
    out->without = info->without;
    out->skipped = info->skipped;
    out->not_installed = info->not_installed;
}

/* --- for the user --------------------------------------------------------------------- */

struct report {
    struct install_unsupported *list;
    size_t count, capacity, fresh;
    struct map seen;
    struct install_without *without;
    size_t without_count, without_capacity;
    struct map known; /* plugins in the report */
};

/* Reports skipped parts of new and existing plugins. */
static void report_without(struct install_session *s, struct report *r)
{
    struct arena *a = &s->cx->arena;

    for (size_t i = 0; i < s->resolved.count; i++) {
        const struct install_package *p = &s->packages[i];
        struct lock_entry entry = {.kind = p->package->kind};

        if (p->package->kind != DOC_PLUGIN)
            continue;
        plugin_fill_entry(package_node(p), &entry);
        if (!entry.without.count || !map_put(&r->known, p->package->fqn, r))
            continue;
        r->without = arena_grow(a, r->without, r->without_count,
                                &r->without_capacity, sizeof *r->without);
        r->without[r->without_count++] =
            (struct install_without){p->package->fqn, entry.without};
    }
}

/* Reports the plugins of the current layer; one in several layers once. */
static void report_layer(struct install_session *s, struct report *r)
{
    struct arena *a = &s->cx->arena;

    for (size_t i = 0; i < s->resolved.count; i++) {
        const struct install_package *p = &s->packages[i];
        const struct plugin_node *info = package_node(p)->plugin;
        const struct lock_entry *b = p->before;

        if (p->package->kind != DOC_PLUGIN || !info ||
            (package_node(p)->locked && !package_node(p)->has_other_parts) ||
            !map_put(&r->seen, p->package->origin->key, r))
            continue;
        for (size_t k = 0; k < info->plugin.skipped_count; k++) {
            const struct plugin_skipped *x = &info->plugin.skipped[k];

            r->list =
                arena_grow(a, r->list, r->count, &r->capacity, sizeof *r->list);
            r->list[r->count++] = (struct install_unsupported){
                .plugin = p->package->fqn,
                .kind = str_cstr(doc_kind_name(x->kind)),
                .name = x->name,
                .count = 1,
                .message = x->why,
                .is_new = !b || !str_in(b->skipped.items, b->skipped.count,
                                        arena_printf(a, "%s %.*s",
                                                     doc_kind_name(x->kind),
                                                     STR_ARG(x->name)))};
        }
        for (size_t k = 0; k < info->plugin.other_count; k++) {
            const struct plugin_other *x = &info->plugin.others[k];

            r->list =
                arena_grow(a, r->list, r->count, &r->capacity, sizeof *r->list);
            r->list[r->count++] = (struct install_unsupported){
                .plugin = p->package->fqn,
                .kind = x->kind,
                .count = x->count,
                .where = x->where,
                .is_new = !b || !str_in(b->not_installed.items,
                                        b->not_installed.count, x->kind)};
        }
        r->fresh = r->count;
    }
}

bool plugins_report(struct install_session *s, struct err *e)
{
    struct report r = {0};

    map_init(&r.seen, &s->cx->arena);
    map_init(&r.known, &s->cx->arena);
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        report_layer(s, &r);
        report_without(s, &r);
    }
    session_go_home(s);
    s->plan.unsupported = r.list;
    s->plan.unsupported_count = r.count;
    s->plan.without = r.without;
    s->plan.without_count = r.without_count;
    if (!s->request->choice.strict || r.fresh == 0)
        return true;
    err_set(e, ERR_REFUSED,
            "--strict: %zu part%s of plugins would not be "
            "installed",
            r.count, r.count == 1 ? "" : "s");
    for (size_t i = 0; i < r.count && i < ERROR_MAX_LINES; i++)
        err_also(e, "%.*s: %.*s %.*s%.*s", STR_ARG(r.list[i].plugin),
                 STR_ARG(r.list[i].kind), STR_ARG(r.list[i].name),
                 STR_ARG(r.list[i].message));
    return false;
}
