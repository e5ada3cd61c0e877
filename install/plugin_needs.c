#include "base/text.h"
#include "mapm/lock.h"
#include "mapm/origin.h"
#include "mapm/plugin_market.h"
#include "mapm/project.h"
#include "mapm/range.h"
#include "mapm/state_search.h"

#include "ingest.h"
#include "plugins.h"
#include "proof.h"

/* Dependencies of plugins: another entry of their marketplace at the same
 * commit; for a range of versions, the highest tag of that entry that all
 * ranges allow; an entry of another marketplace that the user has named.
 * Source: X35, C9. */

/* Converts a range for range_parse(); "1.2.3" of npm means that version
 * only. */
static struct str range_of(const struct plugin_entry_need *need,
                           struct arena *a)
{
    struct str text = str_trim(need->range);

    return text.n && char_is_digit(text.p[0]) ? str_join(STR("="), text, a)
                                              : text;
}

static struct origin *entry_origin(const struct origin *market, struct str name,
                                   struct arena *a)
{
    struct origin *o = arena_new(a, struct origin);

    *o = origin_of_entry(market, name, a);
    return o;
}

bool plugin_need_is_own(const struct node *n,
                        const struct plugin_entry_need *need)
{
    const struct node *market = node_rare(n)->market_node;

    return need->market.n == 0 ||
           (market && node_rare(market)->market &&
            str_eq(node_rare(market)->market->name, need->market));
}

void plugin_add_entry(struct closure *c, struct node *n,
                      const struct plugin_entry_need *need,
                      struct dependency *out)
{
    *out = (struct dependency){
        .kind = DOC_PLUGIN,
        .origin = entry_origin(n->origin, need->name, &c->cx->arena)};
}

/* --- of another marketplace ---------------------------------------------------- */

static void add_market(struct closure *c, const struct origin *o)
{
    struct arena *a = &c->cx->arena;
    struct origin market = origin_with_part(o, STR("market"), a);

    c->markets = arena_grow(a, c->markets, c->market_count, &c->market_capacity,
                            sizeof(struct node *));
    c->markets[c->market_count++] = closure_add(c, &market, DOC_MARKET);
}

/* Lists the marketplaces of `mapm catalog add` and mapm.yaml. */
static bool list_markets(struct closure *c, struct err *e)
{
    const struct project *p = &c->layer->project;
    struct arena *a = &c->cx->arena;
    struct search_source *sources;
    size_t count;

    if (!state_list_sources(store_state(c->store), SEARCH_CATALOG, a, &sources,
                            &count, e))
        return false;
    c->has_markets = true;
    for (size_t i = 0; i < count; i++) {
        struct err ignored = {0};
        struct origin o;

        if (origin_parse(sources[i].key, &c->layer->rules, a, &o, &ignored) ||
            origin_parse_argument(sources[i].key, STR("/"), STR(""),
                                  &c->layer->rules, a, &o, &ignored))
            add_market(c, &o);
    }
    for (size_t i = 0; i < p->root_count; i++)
        if (origin_entry_name(&p->roots[i].origin).p)
            add_market(c, &p->roots[i].origin);
    for (size_t i = 0; i < p->catalog_count; i++)
        add_market(c, &p->catalogs[i].origin);
    return true;
}

static bool is_same_place(const struct node *x, const struct node *y)
{
    CLEANUP(arena_done) struct arena a = {0};

    return str_eq(origin_repository(x->origin, &a),
                  origin_repository(y->origin, &a)) &&
           str_eq(x->path, y->path);
}

/* Returns the marketplace of that name, if it is unique. */
static const struct node *find_market(const struct closure *c,
                                      const struct node *by, struct str name,
                                      const struct node **other)
{
    const struct node *found = NULL;

    *other = NULL;
    for (size_t i = 0; i < c->market_count; i++) {
        const struct node *n = c->markets[i];

        if (n->failed || !node_rare(n)->market ||
            !str_eq(node_rare(n)->market->name, name) ||
            (n->origin->scheme != ORIGIN_GIT &&
             by->origin->scheme == ORIGIN_GIT))
            continue; /* committed packages cannot depend on a folder of this
                       * machine */
        if (found && !is_same_place(n, found))
            *other = n;
        else if (!found)
            found = n;
    }
    return found;
}

static void fail_market(struct closure *c, struct node *n,
                        const struct plugin_entry_need *need,
                        const struct node *one, const struct node *other)
{
    struct err e = {0};

    if (other)
        err_set(&e, ERR_CONFLICT,
                "it needs plugin %.*s of the marketplace \"%.*s\", and two "
                "catalogs have that name: %.*s and %.*s",
                STR_ARG(text_cut(need->name, 80)),
                STR_ARG(text_cut(need->market, 80)),
                STR_ARG(origin_base(one->origin->text)),
                STR_ARG(origin_base(other->origin->text)));
    else
        err_set(&e, ERR_REFUSED,
                "it needs plugin %.*s of the marketplace \"%.*s\", which is "
                "not one of your catalogs",
                STR_ARG(text_cut(need->name, 80)),
                STR_ARG(text_cut(need->market, 80)));
    err_hint(&e, other ? "take one of them away: mapm catalog remove ORIGIN"
                       : "add the repository of that marketplace, if you "
                         "trust it: mapm catalog add OWNER/REPO");
    node_fail(c, n, &e);
}

static void append_need(struct closure *c, struct node *n,
                        const struct origin *o)
{
    struct dependency *deps =
        arena_array(&c->cx->arena, n->package.dep_count + 1, sizeof *deps);

    for (size_t i = 0; i < n->package.dep_count; i++)
        deps[i] = n->package.deps[i];
    deps[n->package.dep_count] =
        (struct dependency){.kind = DOC_PLUGIN, .origin = o};
    n->package.deps = deps;
    n->package.dep_count++;
    node_known(c, n);
}

/* Returns whether the locked dependencies are kept. */
static bool takes_markets(const struct closure *c, const struct node *n)
{
    return !n->locked || n->has_other_parts || c->layer->has_conflict;
}

/* Returns false if something is missing yet, or `n` has failed. */
static bool resolve_market(struct closure *c, struct node *n,
                           const struct plugin_entry_need *need, bool *resolved,
                           struct err *e)
{
    struct arena *a = &c->cx->arena;
    const struct node *market, *other;
    const struct origin *o;

    if (plugin_need_is_own(n, need) || !takes_markets(c, n))
        return true;
    if (!c->has_markets) {
        *resolved = false;
        return list_markets(c, e);
    }
    market = find_market(c, n, need->market, &other);
    if (!market || other) {
        fail_market(c, n, need, market, other);
        return true;
    }
    o = entry_origin(market->origin, need->name, a);
    for (size_t i = 0; i < n->package.dep_count; i++)
        if (str_eq(n->package.deps[i].origin->key, o->key))
            return true;
    append_need(c, n, o);
    *resolved = false;
    return true;
}

/* --- ranges ----------------------------------------------------------------------- */

struct wanted {
    struct node *node;
    struct str ranges; /* separated by blanks */
    const struct node *by;
};

static struct node *needed_node(struct closure *c, const struct node *n,
                                const struct plugin_entry_need *need)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct node *market = n, *other;

    if (!plugin_need_is_own(n, need))
        market = find_market(c, n, need->market, &other);
    return market ? closure_find(
                        c, entry_origin(market->origin, need->name, &a)->key)
                  : NULL;
}

/* Reads the version of its tag or, for a folder of this machine, of its
 * manifest. */
static bool version_of(const struct node *n, struct semver *out)
{
    unsigned form;

    if (node_source(n)->scheme != ORIGIN_GIT)
        return semver_parse(n->package.version, out);
    return tag_version(n->locked ? proof_ref(node_source(n), n->path) : n->ref,
                       n->path, out, &form);
}

static void fail_range(struct closure *c, const struct wanted *w)
{
    struct err e = {0};

    err_set(&e, ERR_CONFLICT,
            "plugin %.*s needs it at a version that fits %.*s, and it is %.*s",
            STR_ARG(w->by->package.fqn), STR_ARG(w->ranges),
            STR_ARG(w->node->package.version.n ? w->node->package.version
                                               : STR("without a version")));
    node_fail(c, w->node, &e);
}

static void check_range(struct closure *c, const struct wanted *w,
                        bool *resolved)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct node *n = w->node;
    struct range_set ranges;
    struct semver v;
    struct err e = {0};

    if (n->failed || !n->is_ready || n->assumed_present)
        return;
    if (!range_set_parse(w->ranges, &a, &ranges, &e)) {
        err_wrap(&e, "the range that plugin %.*s has for it",
                 STR_ARG(w->by->package.fqn));
        node_fail(c, n, &e);
        return;
    }
    if (version_of(n, &v) && range_set_allows(&ranges, &v))
        return;
    if (node_source(n)->scheme != ORIGIN_GIT ||
        str_eq(node_rare(n)->allowed, w->ranges)) {
        fail_range(c, w);
        return;
    }
    closure_ask_version(c, n, w->ranges);
    *resolved = false;
}

static void want_range(struct closure *c, const struct node *n,
                       const struct plugin_entry_need *need, struct map *all)
{
    struct arena *a = &c->cx->arena;
    struct node *to = needed_node(c, n, need);
    struct str range = range_of(need, a);
    struct map_entry *entry;
    struct wanted *w;

    if (!to || range.n == 0)
        return;
    entry = map_entry(all, to->origin->key);
    w = entry->value;
    if (!w) {
        entry->value = w = arena_new(a, struct wanted);
        w->by = n;
    }
    w->node = to;
    if (str_find(w->ranges, range) == SIZE_MAX)
        w->ranges = arena_join(w->ranges, " ", range, a);
}

static bool is_read(const struct closure *c, const struct node *n)
{
    return n->plugin && !n->failed && closure_find(c, n->origin->key) == n;
}

bool plugins_resolve_needs(struct closure *c, bool *resolved, struct err *e)
{
    struct map all;

    map_init(&all, &c->cx->arena);
    for (size_t i = 0; i < c->queued; i++) {
        struct node *n = c->queue[i];

        for (size_t k = 0; is_read(c, n) && k < n->plugin->plugin.entry_count;
             k++)
            if (!resolve_market(c, n, &n->plugin->plugin.entries[k], resolved,
                                e))
                return false;
    }
    for (size_t i = 0; i < c->queued; i++) {
        const struct node *n = c->queue[i];

        for (size_t k = 0; is_read(c, n) && k < n->plugin->plugin.entry_count;
             k++)
            want_range(c, n, &n->plugin->plugin.entries[k], &all);
    }
    for (size_t i = 0; *resolved && i < all.count; i++)
        check_range(c, all.entries[i].value, resolved);
    return true;
}
