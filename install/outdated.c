#include "mapm/diagnostics.h"
#include "mapm/document.h"
#include "mapm/fetch.h"
#include "mapm/install_query.h"
#include "mapm/lock.h"
#include "mapm/open_store.h"
#include "mapm/origin.h"
#include "mapm/range.h"

#include <string.h>

#include "closure.h"
#include "fetch_cache.h"
#include "offers.h"
#include "versions.h"

/* One entry of the lock. The number of its question about the document is
 * larger by the number of all. */
struct question {
    const struct lock_entry *entry;
    struct origin origin;
    bool is_changed, is_gone;
    struct str ref, commit, version, newest;
    struct err *failed;
};

/* A catalog of the manifests, and what it offers now. */
struct listing {
    const struct catalog *catalog;
    struct node node; /* as offers.h needs it */
    struct err *failed;
};

struct check {
    struct context *cx;
    struct layer *layer; /* whose entries are looked at */
    struct layer *parts; /* … whose manifests: of a root its members', too */
    size_t part_count;
    struct store *store;
    struct fetch *fetch;
    struct question *questions;
    size_t count, git_count, file_count, plugin_count;
    struct listing *listings;
    size_t listing_count;
};

/* From a marketplace: its entry decides, too. */
static bool has_entry(const struct question *q)
{
    return q->entry->source.n && q->origin.scheme == ORIGIN_GIT;
}

/* A part is what its plugin is. */
static bool is_part(const struct question *q)
{
    return q->entry->plugin.n > 0;
}

static bool is_asked(const struct question *q)
{
    return q->origin.scheme == ORIGIN_GIT && !is_part(q) && !has_entry(q) &&
           !origin_names_commit(&q->origin);
}

static bool is_local(const struct listing *l)
{
    return l->node.origin->scheme != ORIGIN_GIT;
}

static void add_listing(struct check *c, const struct catalog *catalog,
                        size_t *capacity)
{
    struct listing *l;

    c->listings = arena_grow(&c->cx->arena, c->listings, c->listing_count,
                             capacity, sizeof *c->listings);
    l = &c->listings[c->listing_count++];
    *l = (struct listing){.catalog = catalog,
                          .node = {.origin = &catalog->origin}};
    if (is_local(l))
        c->file_count++;
    else
        c->git_count += !origin_names_commit(l->node.origin);
}

static void list_catalogs(struct check *c)
{
    size_t capacity = 0;

    for (size_t k = 0; k < c->part_count; k++) {
        const struct project *files[] = {&c->parts[k].project,
                                         &c->parts[k].local};

        for (size_t f = 0; f < sizeof files / sizeof *files; f++)
            for (size_t i = 0; i < files[f]->catalog_count; i++)
                add_listing(c, &files[f]->catalogs[i], &capacity);
    }
}

static void list_questions(struct check *c)
{
    const struct lock_entry **entries;

    entries = layer_entries(c->layer, &c->cx->arena, &c->count);
    c->questions =
        arena_array(&c->cx->arena, c->count + 1, sizeof *c->questions);
    for (size_t i = 0; i < c->count; i++) {
        struct question *q = &c->questions[i];

        q->entry = entries[i];
        q->origin = *layer_source(c->layer, entries[i]);
        c->file_count += q->origin.scheme == ORIGIN_FILE && !is_part(q);
        c->git_count += is_asked(q);
        c->plugin_count += has_entry(q);
    }
}

/* What is there now is no package, as an update would say, or it is not there:
 * other failures say nothing of it. */
static void fail(struct check *c, struct question *q, const struct err *why)
{
    q->is_gone = why->code == ERR_PATH || why->code == ERR_REF ||
                 why->code == ERR_NOT_FOUND || why->code == ERR_REFUSED ||
                 why->code == ERR_FORMAT;
    q->failed = arena_new(&c->cx->arena, struct err);
    *q->failed = *why;
}

/* --- folders of this machine ---------------------------------------------- */

/* Read as an install would, into a store that keeps nothing of it. */
static bool read_folders(struct check *c, struct err *e)
{
    struct closure closure;
    struct closure_options o = {.offline = true, .allow_hidden = true};
    struct node **nodes =
        arena_array(&c->cx->arena, c->listing_count + 1, sizeof(struct node *));
    bool ok;

    closure_init(&closure, c->cx, c->layer, c->store, &o);
    for (size_t i = 0; i < c->count; i++)
        if (c->questions[i].origin.scheme == ORIGIN_FILE &&
            !is_part(&c->questions[i]))
            closure_add(&closure, layer_origin(c->layer, c->questions[i].entry),
                        (unsigned)c->questions[i].entry->kind);
    for (size_t i = 0; i < c->listing_count; i++)
        if (is_local(&c->listings[i]))
            nodes[i] =
                closure_add_catalog(&closure, c->listings[i].node.origin);
    ok = closure_gather(&closure, e);
    for (size_t i = 0; ok && i < c->listing_count; i++)
        if (is_local(&c->listings[i])) {
            c->listings[i].node = *nodes[i];
            c->listings[i].failed = nodes[i]->failed;
        }
    for (size_t i = 0; ok && i < c->count; i++) {
        struct question *q = &c->questions[i];
        const struct node *n =
            closure_find(&closure, layer_origin(c->layer, q->entry)->key);

        if (q->origin.scheme != ORIGIN_FILE || is_part(q))
            continue;
        if (n->failed)
            fail(c, q, n->failed);
        q->is_changed =
            !n->failed && !str_eq(n->package.content, q->entry->digest);
        q->version = n->package.version;
    }
    notice_init(&closure.notices, &c->cx->arena); /* install tells them */
    closure_done(&closure);
    return ok;
}

/* --- plugins of marketplaces ----------------------------------------------- */

static bool is_plugin(void *ctx, const struct lock_entry *entry)
{
    (void)ctx;
    return entry->source.n > 0;
}

/* As an update would: the entry first, then the folder that it names. */
static bool read_plugins(struct check *c, struct err *e)
{
    struct closure closure;
    struct closure_options o = {.allow_hidden = true, .is_moving = is_plugin};
    bool ok;

    closure_init(&closure, c->cx, c->layer, c->store, &o);
    for (size_t i = 0; i < c->count; i++)
        if (has_entry(&c->questions[i]))
            closure_add(&closure, layer_origin(c->layer, c->questions[i].entry),
                        DOC_PLUGIN);
    ok = closure_gather(&closure, e);
    for (size_t i = 0; ok && i < c->count; i++) {
        struct question *q = &c->questions[i];
        const struct node *n;

        if (!has_entry(q))
            continue;
        n = closure_find(&closure, layer_origin(c->layer, q->entry)->key);
        if (n->failed)
            fail(c, q, n->failed);
        q->is_changed =
            !n->failed && !str_eq(n->package.content, q->entry->digest);
        q->version = n->package.version;
        q->commit = n->package.commit;
        q->ref = n->ref;
    }
    notice_init(&closure.notices, &c->cx->arena); /* update tells them */
    closure_done(&closure);
    return ok;
}

/* --- repositories --------------------------------------------------------- */

/* All ranges and tags of the package that its entry holds decide. */
static struct str other_ranges(const struct check *c, const struct question *q)
{
    struct arena *a = &c->cx->arena;
    struct str all = {"", 0}, range;

    for (size_t i = 0; q->entry->tag.n && i < q->entry->also_count; i++) {
        struct err ignored = {0};
        struct origin o;

        if (!origin_parse_part(q->entry->also[i], &c->layer->rules, a, &o,
                               &ignored) ||
            !origin_is_package_of(&o, &q->origin, a))
            continue;
        range = version_range(&o, origin_slot_path(&q->origin), a);
        if (range.n)
            all = arena_join(all, " ", range, a);
    }
    return all;
}

static bool ask(struct check *c, size_t i, struct err *e)
{
    const struct question *q = &c->questions[i];
    bool has_range = origin_range(&q->origin, &c->cx->arena).n > 0;
    struct fetch_want want = {.id = (unsigned)i,
                              .what = FETCH_REF,
                              .kinds = (unsigned)q->entry->kind,
                              .origin = q->origin,
                              .commit = q->entry->commit,
                              .object = q->entry->object,
                              .base = q->entry->commit,
                              .at_once = true};

    if (has_range)
        want.ranges = other_ranges(c, q);
    want.tag = q->entry->tag;

    return fetch_ask(c->fetch, &want, e);
}

/* Its number is behind those of all questions. */
static bool ask_listing(struct check *c, size_t i, struct err *e)
{
    const struct listing *l = &c->listings[i];
    const struct replacement *r =
        replacements_find(&c->layer->replacements, l->node.origin);
    struct fetch_want want = {.id = (unsigned)(2 * c->count + i),
                              .what = FETCH_CATALOG,
                              .kinds = DOC_AGENT | DOC_SKILL | DOC_MCP,
                              .origin = *l->node.origin,
                              .at_once = true};

    if (r)
        replacement_apply(r, l->node.origin, &c->cx->arena, &want.origin);
    return want.origin.scheme != ORIGIN_GIT || fetch_ask(c->fetch, &want, e);
}

static void take_listing(struct check *c, struct listing *l,
                         const struct fetch_event *event)
{
    struct arena *a = &c->cx->arena;
    struct node *n = &l->node;

    if (event->kind == FETCH_FAILED) {
        l->failed = arena_new(a, struct err);
        *l->failed = *event->err;
    }
    if (event->kind != FETCH_OFFERS)
        return;
    n->ref = arena_str(a, event->ref);
    n->package.commit = arena_str(a, event->commit);
    n->path = arena_str(a, event->path);
    n->offers = arena_array(a, event->offer_count + 1, sizeof *n->offers);
    for (size_t i = 0; i < event->offer_count; i++) {
        struct fetch_offer offer = event->offers[i];

        offer.path = arena_str(a, offer.path);
        if (!offer.is_elsewhere)
            n->offers[n->offer_count++] = offer;
    }
}

static bool take_ref(struct check *c, struct question *q,
                     const struct fetch_event *event, struct err *e)
{
    struct fetch_want want = {.id = (unsigned)(event->id + c->count),
                              .what = FETCH_DOCUMENT,
                              .kinds = (unsigned)q->entry->kind,
                              .origin = q->origin,
                              .ranges = other_ranges(c, q)};

    q->newest = arena_str(&c->cx->arena, event->newest);
    q->is_changed = !str_eq(event->commit, q->entry->commit);
    if (q->newest.n && event->tag_commit.n &&
        !str_eq(event->tag_commit, q->entry->commit))
        context_warn(c->cx, "%.*s: tag %.*s was moved from %.12s to %.12s",
                     STR_ARG(q->entry->name), STR_ARG(q->entry->tag),
                     q->entry->commit.p, event->tag_commit.p);
    if (!q->is_changed)
        return true;
    q->ref = arena_str(&c->cx->arena, event->ref);
    q->commit = arena_str(&c->cx->arena, event->commit);
    return fetch_ask(c->fetch, &want, e);
}

static void take_document(struct check *c, struct question *q,
                          const struct fetch_event *event, struct arena *a)
{
    struct manifest_input in = {
        .kind = event->doc,
        .text = event->manifest,
        .rules = &c->layer->rules,
        .profile = PROFILE_INSTALL,
        .allow_hidden = true,
        .skip_body = true,
    };
    struct document d = {0};
    struct diagnostics why;

    diagnostics_init(&why, a);
    manifest_read(&in, a, &d, &why);
    q->version = arena_str(&c->cx->arena, d.version);
}

/* What a new document is wrong about is said by update. */
static bool take_event(struct check *c, const struct fetch_event *event,
                       struct arena *a, struct err *e)
{
    struct question *q;

    if (event->id >= 2 * c->count) {
        take_listing(c, &c->listings[event->id - 2 * c->count], event);
        return true;
    }
    q = &c->questions[event->id % c->count];
    switch (event->kind) {
    case FETCH_REF_FOUND:
        return take_ref(c, q, event, e);
    case FETCH_MANIFEST:
    case FETCH_OUTLINE:
        take_document(c, q, event, a);
        return true;
    case FETCH_FAILED:
        if (event->id < c->count)
            fail(c, q, event->err);
        return true;
    default:
        return true;
    }
}

static bool ask_hosts(struct check *c, struct err *e)
{
    struct store_session session = {.dirfd = -1};
    struct team_remotes stores;
    struct fetch_options o = {
        .store = fetch_cache(c->store),
        .hosts = c->layer->rules.hosts,
        .host_count = c->layer->rules.host_count,
        .limits = &c->layer->limits,
        .stores = &stores,
        .verbose = c->cx->is_verbose,
        .may_prompt = c->cx->may_prompt,
    };
    struct fetch_event event = {.kind = FETCH_REF_FOUND};
    bool ok = layer_stores(c->layer, c->cx, c->store, &stores, e) &&
              store_session_begin(c->store, &session, e);

    o.incoming = session.path;
    ok = ok && fetch_open(&o, &c->fetch, e);
    for (size_t i = 0; ok && i < c->count; i++)
        if (is_asked(&c->questions[i]))
            ok = ask(c, i, e);
    for (size_t i = 0; ok && i < c->listing_count; i++)
        if (!is_local(&c->listings[i]))
            ok = ask_listing(c, i, e);
    while (ok && event.kind != FETCH_IDLE) {
        CLEANUP(arena_done) struct arena scratch = {0};

        ok = fetch_next(c->fetch, &scratch, &event, e) &&
             (event.kind == FETCH_IDLE || take_event(c, &event, &scratch, e));
    }
    fetch_close(c->fetch);
    store_session_end(c->store, &session);
    return ok;
}

/* --- the answer ----------------------------------------------------------- */

/* All that could not be looked at: a repository that is not there once. */
static const struct err *list_failed(const struct check *c)
{
    struct arena *a = &c->cx->arena;
    const struct question *last = NULL;
    struct err *e = NULL;
    size_t failed = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct question *q = &c->questions[i];
        struct err why;

        if (!q->failed || q->is_gone || failed++ >= ERROR_MAX_LINES)
            continue;
        if (!last)
            e = arena_new(a, struct err);
        if (!last ||
            strcmp(err_first(last->failed), err_first(q->failed)) != 0) {
            why = *q->failed;
            err_wrap(&why, "cannot look at %.*s", STR_ARG(q->entry->origin));
            err_also_err(e, &why);
        }
        last = q;
    }
    return e;
}

/* A version that the range does not reach. One in it, with the same objects, is
 * none: `tag` stays. */
static bool is_beyond_range(const struct question *q, struct arena *a)
{
    struct str range = origin_range(&q->origin, a);
    struct str path = origin_slot_path(&q->origin);
    struct err ignored = {0};
    struct semver locked, newest;
    struct range r;
    unsigned form;

    return range.n && tag_version(q->newest, path, &newest, &form) &&
           tag_version(q->entry->tag, path, &locked, &form) &&
           semver_cmp(&newest, &locked) > 0 &&
           range_parse(range, &r, &ignored) && !range_allows(&r, &newest);
}

/* What the patterns of a catalog fit, and it has not chosen so far. */
static void report_listing(const struct check *c, const struct listing *l,
                           struct map *known, size_t *capacity,
                           struct install_available **list, size_t *n)
{
    struct arena *a = &c->cx->arena;

    for (size_t i = 0; i < l->node.offer_count; i++) {
        const struct fetch_offer *offer = &l->node.offers[i];
        struct str path, name;
        struct origin o;

        offers_origin(a, &l->node, offer, &o);
        if (!catalog_holds(l->catalog, offer->kind, &o, &path, &name) ||
            !catalog_chooses(l->catalog, offer->kind, path, name) ||
            !map_put(known, o.key, NULL))
            continue;
        *list = arena_grow(a, *list, *n, capacity, sizeof **list);
        (*list)[(*n)++] = (struct install_available){
            offer->kind, offers_name(&l->node, offer), o.text,
            l->catalog->origin.text};
    }
}

static struct install_available *list_available(const struct check *c,
                                                size_t *count)
{
    struct install_available *list = NULL;
    size_t capacity = 0;
    struct map known;

    *count = 0;
    map_init(&known, &c->cx->arena);
    for (size_t k = 0; k < c->part_count; k++) {
        size_t root_count;
        const struct root *roots =
            layer_roots(&c->parts[k], &c->cx->arena, &root_count);

        for (size_t i = 0; i < root_count; i++)
            map_put(&known, roots[i].origin.key, NULL);
    }
    for (size_t i = 0; i < c->listing_count; i++)
        report_listing(c, &c->listings[i], &known, &capacity, &list, count);
    return list;
}

static void report(const struct check *c, struct install_outdated *out)
{
    struct arena *a = &c->cx->arena;
    struct install_moved *moved = arena_array(a, c->count + 1, sizeof *moved);
    size_t n = 0, beyond = 0;

    for (size_t i = 0; i < c->count; i++) {
        const struct question *q = &c->questions[i];

        bool is_beyond = !q->is_changed && !q->is_gone && is_beyond_range(q, a);

        if (!q->is_changed && !q->is_gone && !is_beyond)
            continue;
        beyond += is_beyond;
        moved[n++] = (struct install_moved){
            .kind = q->entry->kind,
            .is_gone = q->is_gone,
            .is_beyond = is_beyond,
            .tag = q->entry->tag,
            .newest = q->newest,
            .name = q->entry->name,
            .origin = q->entry->origin,
            .ref = q->ref,
            .locked = q->entry->commit,
            .current = q->commit,
            .version = q->entry->version,
            .new_version = q->version,
            .message = q->is_gone ? arena_str(a, str_cstr(err_first(q->failed)))
                                  : str_make("", 0),
        };
    }
    *out = (struct install_outdated){.moved = moved,
                                     .count = n,
                                     .beyond_count = beyond,
                                     .problem = list_failed(c)};
    out->available = list_available(c, &out->available_count);
}

/* The trees that came are kept for the update. */
static bool look(struct check *c, struct err *e)
{
    struct err ignored = {0};

    if (!open_store(c->cx, &c->store, e))
        return false;
    store_begin_staging(c->store);
    if (c->git_count && !ask_hosts(c, e))
        return false;
    if (!store_publish(c->store, &ignored) ||
        !store_publish_notes(c->store, &ignored))
        err_clear(&ignored);
    store_begin_staging(c->store);
    if (c->plugin_count && !read_plugins(c, e))
        return false;
    return c->file_count == 0 || read_folders(c, e);
}

/* At the root of a workspace with members all of it, as an update there. */
static void choose_parts(struct check *c, struct layers *all)
{
    c->parts = layer_chosen(all, c->cx, &c->part_count);
    c->layer = c->part_count > 1 ? &all->whole : c->parts;
}

bool install_outdated(struct context *cx, struct install_outdated *out,
                      struct err *e)
{
    struct layers all;
    struct check c = {.cx = cx};
    bool ok;

    if (!layer_open_all(cx, LAYER_READ, &all, e))
        return false;
    choose_parts(&c, &all);
    ok = layer_index_all(&all, cx, e) &&
         layer_check_there(&all.parts[all.here], cx, e);
    if (ok) {
        list_questions(&c);
        list_catalogs(&c);
    }
    if (ok && c.git_count + c.plugin_count && cx->is_offline)
        ok = err_set(e, ERR_OFFLINE, "mapm outdated asks the network");
    if (ok && c.git_count + c.file_count + c.plugin_count)
        ok = look(&c, e);
    if (ok)
        report(&c, out);
    close_store(cx, c.store);
    layer_close_all(&all);
    return ok;
}
