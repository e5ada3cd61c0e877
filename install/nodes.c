#include "base/fs.h"
#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/origin.h"

#include "closure_resolve.h"
#include "ingest.h"
#include "names.h"

/* The nodes of a closure: lookup, insertion and replacement. */

struct node *closure_find(const struct closure *c, struct str key)
{
    return map_find(&c->nodes, key);
}

const struct origin *node_source(const struct node *n)
{
    return n->source ? n->source : n->origin;
}

const struct node_rare *node_rare(const struct node *n)
{
    static const struct node_rare none;

    return n->rare ? n->rare : &none;
}

struct node_rare *node_make_rare(struct node *n, struct arena *a)
{
    if (!n->rare)
        n->rare = arena_new(a, struct node_rare);
    return n->rare;
}

bool node_is_derived(const struct node *n)
{
    return str_starts(n->origin->part, STR("mcp=")) ||
           str_starts(n->origin->part, STR("agent="));
}

bool node_has_entry(const struct node *n)
{
    return origin_entry_name(n->origin).p != NULL;
}

struct str node_tag(const struct node *n, struct arena *a)
{
    if (origin_range(node_source(n), a).n == 0)
        return str_make("", 0);
    return n->locked ? n->locked->tag : n->ref;
}

struct str node_slot(const struct node *n, struct arena *a)
{
    struct str range = origin_range(n->origin, a);

    /* "=1.2.3" names the tag of the version */
    if (range.n && range.p[0] != '=')
        return range;
    return n->ref.n ? n->ref : n->package.commit;
}

bool node_moved_origin(const struct closure *c, const struct node *n,
                       struct arena *a, struct origin *out)
{
    const struct lock_entry *entry;
    const struct str *name;

    /* parts of a plugin are named below it */
    if (n->origin->scheme != ORIGIN_GIT || n->source || n->origin->part.n ||
        node_rare(n)->of_plugin.n)
        return false;
    name = c->moved.count ? map_find(&c->moved, origin_repository(n->origin, a))
                          : NULL;
    if (name)
        return origin_in_repository(n->origin, *name, a, out);
    entry = map_find(&c->layer->by_origin, n->origin->key);
    if (!entry || (!n->locked && !c->options.offline) ||
        !layer_is_former(c->layer, entry, n->origin))
        return false;
    *out = *layer_origin(c->layer, entry);
    return true;
}

struct install_place node_place_now(const struct origin *o,
                                    const struct fetch_event *event,
                                    struct str object, struct arena *a)
{
    struct str range = origin_range(o, a);
    struct origin now;

    if (event->path.n == 0)
        return (struct install_place){0};
    origin_complete(o, range.n ? range : event->ref, event->path, a, &now);
    return (struct install_place){now.text, str_eq(event->object, object)};
}

bool node_is_replaced_here(const struct node *n)
{
    return n->replacement && n->replacement->role != PROJECT_WORKSPACE;
}

/* --- adding ----------------------------------------------------------------- */

/* Finds the replacement of the origin; replacements are not chained. */
static void find_replacement(struct closure *c, struct node *n)
{
    struct arena *a = &c->cx->arena;

    /* other parts come from their marketplace or plugin */
    if (n->origin->part.n && !str_is(n->origin->part, "plugin"))
        return;
    n->replacement = replacements_find(&c->layer->replacements, n->origin);
    if (!n->replacement)
        return;
    n->source = arena_new(a, struct origin);
    replacement_apply(n->replacement, n->origin, a, n->source);
}

static struct node *enqueue(struct closure *c, const struct origin *o,
                            unsigned kinds)
{
    struct arena *a = &c->cx->arena;
    struct node *n = arena_new(a, struct node);

    n->origin = o;
    n->kinds = kinds;
    find_replacement(c, n);
    c->queue = arena_grow(a, c->queue, c->queued, &c->queue_capacity,
                          sizeof(struct node *));
    c->queue[c->queued++] = n;
    return n;
}

static void want(struct closure *c, struct node *n)
{
    if (!n->is_elsewhere || c->options.looks)
        return;
    n->is_elsewhere = false;
    c->wanted = arena_grow(&c->cx->arena, c->wanted, c->wanted_count,
                           &c->wanted_capacity, sizeof(struct node *));
    c->wanted[c->wanted_count++] = n;
}

static const struct origin *copy_origin(const struct closure *c,
                                        const struct origin *o)
{
    struct origin *copy = arena_new(&c->cx->arena, struct origin);

    *copy = *o;
    return copy;
}

void node_set_origin(const struct closure *c, struct node *n,
                     const struct origin *o)
{
    n->origin = n->package.origin = copy_origin(c, o);
}

static void set_text(const struct closure *c, struct node *n, struct str text)
{
    struct origin o = *n->origin;

    o.text = text;
    n->origin = copy_origin(c, &o);
    if (n->package.origin)
        n->package.origin = n->origin;
}

/* Adds a node; `o` must live as long as the closure. */
static struct node *add(struct closure *c, const struct origin *o,
                        unsigned kinds, bool is_elsewhere)
{
    struct map_entry *entry = map_entry(&c->nodes, o->key);
    struct node *n = entry->value;

    if (n) {
        if (!is_elsewhere)
            want(c, n);
        /* keep the same spelling of an origin, whichever document arrived
         * first */
        if (!o->is_short && !n->origin->is_short &&
            str_cmp(o->text, n->origin->text) > 0)
            set_text(c, n, o->text);
        return n;
    }
    n = enqueue(c, o, kinds);
    n->is_elsewhere = is_elsewhere;
    entry->value = n;
    return n;
}

struct node *closure_add_kept(struct closure *c, const struct origin *o,
                              unsigned kinds)
{
    return add(c, o, kinds, false);
}

static struct node *add_copy(struct closure *c, const struct origin *o,
                             unsigned kinds, bool is_elsewhere)
{
    return add(c, map_has(&c->nodes, o->key) ? o : copy_origin(c, o), kinds,
               is_elsewhere);
}

struct node *closure_add(struct closure *c, const struct origin *o,
                         unsigned kinds)
{
    return add_copy(c, o, kinds, false);
}

void closure_spread_wanted(struct closure *c)
{
    if (c->wanted_count == 0)
        return;
    while (c->wanted_count)
        node_known(c, c->wanted[--c->wanted_count]);
    c->resolved = 0;
}

struct node *closure_add_catalog(struct closure *c, const struct origin *o)
{
    struct node *n =
        enqueue(c, copy_origin(c, o), DOC_AGENT | DOC_SKILL | DOC_MCP);

    n->is_catalog = true;
    return n;
}

void closure_add_checkout(struct closure *c, const struct origin *o)
{
    struct checkout found;
    bool is_there;

    if (o->scheme != ORIGIN_FILE || c->options.no_self)
        return;
    for (size_t i = 0; i < c->checkout_count; i++)
        if (fs_path_is_within(o->path, c->checkouts[i].path))
            return;
    checkout_find(c->cx, o->path, &found, &is_there);
    if (!is_there)
        return;
    c->checkouts = arena_grow(&c->cx->arena, c->checkouts, c->checkout_count,
                              &c->checkout_capacity, sizeof *c->checkouts);
    c->checkouts[c->checkout_count++] = found;
}

void closure_take_alias(struct node *n)
{
    if (n->alias.n && n->package.fqn.n) /* otherwise set when the name is
                                         * known */
        node_set_name(n, n->alias);
}

struct node *closure_add_root(struct closure *c, const struct root *root,
                              bool is_elsewhere)
{
    closure_add_checkout(c, &root->origin);
    struct node *n =
        add_copy(c, &root->origin, (unsigned)root->kind, is_elsewhere);

    if (root->as.n) /* it may have none in another member */
        n->alias = root->as;
    closure_take_alias(n);
    if (root->without.count && !n->has_without)
        node_make_rare(n, &c->cx->arena)->without = root->without;
    return n;
}

void node_fail(struct closure *c, struct node *n, const struct err *e)
{
    c->failures++;
    n->failed = arena_new(&c->cx->arena, struct err);
    *n->failed = *e;
}

/* A package with the locked content does not differ from mapm.lock. */
static void compare_override(const struct closure *c, struct node *n)
{
    const struct lock_entry *entry =
        layer_find_origin(c->layer, n->origin->key, true);

    if (!entry || layer_is_local(c->layer, entry) ||
        !str_eq(entry->digest, n->package.content))
        return;
    n->is_override = false;
    n->package.commit = entry->commit;
    n->object = entry->object;
}

void node_ready(struct closure *c, struct node *n)
{
    n->is_ready = true;
    if (n->is_override)
        compare_override(c, n);
    node_known(c, n);
}

void node_known(struct closure *c, struct node *n)
{
    for (size_t i = 0; i < n->package.dep_count && !c->options.alone; i++)
        add(c, n->package.deps[i].origin, (unsigned)n->package.deps[i].kind,
            n->is_elsewhere);
}

static struct node *replace(struct closure *c, const struct node *old)
{
    struct node *n = enqueue(c, old->origin, old->kinds);

    n->is_exact = old->is_exact;
    n->catalog = old->catalog;
    n->alias = old->alias;
    if (node_rare(old)->without.count)
        node_make_rare(n, &c->cx->arena)->without = old->rare->without;
    n->has_without = old->has_without;
    map_put(&c->nodes, n->origin->key, n);
    return n;
}

void closure_ask_version(struct closure *c, const struct node *n,
                         struct str ranges)
{
    struct arena *a = &c->cx->arena;

    node_make_rare(replace(c, n), a)->allowed = arena_str(a, ranges);
}

void closure_take_version(struct closure *c, const struct node *n,
                          const struct node *from)
{
    struct node *new = replace(c, n), own = *new;
    struct arena *a = &c->cx->arena;
    struct str tag = node_tag(from, a);

    *new = *from;
    new->origin = own.origin;
    new->kinds = own.kinds;
    new->is_exact = own.is_exact;
    new->catalog = own.catalog;
    new->replacement = own.replacement;
    new->source = own.source;
    new->is_override = own.is_override;
    new->alias = own.alias;
    new->rare = NULL;
    if (from->rare || own.rare) {
        *node_make_rare(new, a) = *node_rare(from);
        new->rare->without = node_rare(&own)->without;
    }
    new->has_without = own.has_without;
    if (from->alias.n)
        node_set_name(new, from->own_fqn);
    closure_take_alias(new);
    new->ref = tag;
    new->is_resolved = true;
    new->is_catalog = new->is_sharing = new->is_unproved = false;
    new->locked = NULL;
    new->mark = NULL;
    new->offer_count = new->elsewhere_count = 0;
    new->package.origin = new->origin;
    new->package.user = new;
    node_ready(c, new);
}

struct node *closure_make_plugin(struct closure *c, struct node *n)
{
    struct map_entry *entry;
    struct origin part;

    if (n->origin->part.n)
        return n;
    entry = map_entry(&c->nodes, n->origin->key);
    if (entry->value == n)
        entry->value = NULL; /* the skill of this folder is a separate node */
    part = origin_with_part(n->origin, STR("plugin"), &c->cx->arena);
    node_set_origin(c, n, &part);
    n->kinds = DOC_PLUGIN;
    entry = map_entry(&c->nodes, n->origin->key);
    if (!entry->value)
        entry->value = n;
    return entry->value;
}
