#include "mapm/diagnostics.h"
#include "mapm/document.h"
#include "mapm/fetch.h"
#include "mapm/install_query.h"
#include "mapm/lock.h"
#include "mapm/origin.h"
#include "mapm/range.h"

#include <string.h>

#include "catalogs.h"
#include "index.h"
#include "plugins.h"
#include "versions.h"

/* A request about a lock entry. The id of the request for its document is
 * larger by the number of all entries. */
struct question {
    const struct lock_entry *entry;
    struct origin origin;
    bool is_changed, is_gone;
    bool wants_document; /* fetch the current document */
    struct str ref, commit, version, newest;
    struct err *failed;
    struct install_place place_now;
};

struct check {
    struct context *cx;
    struct install_session *session;
    struct layer *layer; /* layer whose entries are checked */
    struct layer *parts; /* layers whose manifests are read, for a root also
                          * those of its members */
    size_t part_count;
    struct store *store;
    const struct str_list *names; /* none: all packages */
    struct map named;             /* their origins, and those of catalogs */
    struct question *questions;
    size_t count, git_count, file_count, plugin_count, index_count;
    struct install_available *available;
    size_t available_count;
    struct err *problem; /* problem with the available version */
};

/* Returns whether the package comes from a marketplace, whose entry matters,
 * too. */
static bool has_entry(const struct question *q)
{
    return q->entry->source.n && q->origin.scheme == ORIGIN_GIT;
}

/* Returns whether the package is a part, which changes with its plugin. */
static bool is_part(const struct question *q)
{
    return q->entry->plugin.n > 0;
}

static bool is_asked(const struct question *q)
{
    return q->origin.scheme == ORIGIN_GIT && !is_part(q) && !has_entry(q) &&
           !origin_names_commit(&q->origin);
}

/* --- names ------------------------------------------------------------------ */

/* Makes the k-th checked layer the current one. */
static void go_to(struct check *c, size_t k)
{
    struct install_session *s = c->session;

    session_go(s, (size_t)(c->parts - s->layers.parts) + k);
}

static bool is_named(const struct check *c, struct str origin)
{
    return c->names->count == 0 || map_has(&c->named, origin);
}

/* A part changes with its plugin. */
static void name_entry(struct check *c, const struct layer *l,
                       const struct lock_entry *entry)
{
    if (entry->plugin.n)
        entry = layer_find(l, DOC_PLUGIN, entry->plugin);
    if (entry)
        map_put(&c->named, entry->origin, c);
}

static void name_catalog(struct check *c, const struct catalog *catalog)
{
    const struct lock_entry **entries;
    size_t count;

    map_put(&c->named, catalog->origin.text, c);
    entries = catalogs_entries(c->session, catalog, &count);
    for (size_t i = 0; i < count; i++)
        map_put(&c->named, entries[i]->origin, c);
}

/* A name may be of several members. */
static bool find_name(struct check *c, struct str name, struct err *e)
{
    struct err first = {0};
    bool found = false;

    for (size_t k = 0; k < c->part_count; k++) {
        const struct lock_entry *entry;
        const struct catalog *catalog;
        struct err why = {0};

        go_to(c, k);
        catalog = catalogs_find(c->session, name);
        if (catalog) {
            name_catalog(c, catalog);
        } else if (layer_resolve_name(&c->parts[k], name, c->cx, &entry,
                                      &why)) {
            name_entry(c, &c->parts[k], entry);
        } else {
            if (first.code == ERR_NONE || why.code == ERR_USAGE)
                first = why;
            continue;
        }
        found = true;
    }
    session_go_home(c->session);
    if (!found)
        *e = first;
    return found;
}

static bool find_names(struct check *c, struct err *e)
{
    map_init(&c->named, &c->cx->arena);
    for (size_t i = 0; i < c->names->count; i++)
        if (!find_name(c, c->names->items[i], e))
            return false;
    return true;
}

static void list_questions(struct check *c)
{
    const struct lock_entry **entries;
    size_t count;

    entries = layer_entries(c->layer, &c->cx->arena, &count);
    c->questions = arena_array(&c->cx->arena, count + 1, sizeof *c->questions);
    for (size_t i = 0; i < count; i++) {
        struct question *q = &c->questions[c->count];

        if (!is_named(c, entries[i]->origin))
            continue;
        c->count++;
        q->entry = entries[i];
        q->origin = *layer_source(c->layer, entries[i]);
        c->file_count += q->origin.scheme == ORIGIN_FILE && !is_part(q);
        c->git_count += is_asked(q);
        c->plugin_count += has_entry(q);
        c->index_count += q->origin.scheme == ORIGIN_INDEX;
    }
}

/* Records that the package is gone or invalid upstream; other failures do not
 * mean that. */
static void fail(struct check *c, struct question *q, const struct err *why)
{
    q->is_gone = why->code == ERR_PATH || why->code == ERR_REF ||
                 why->code == ERR_NOT_FOUND || why->code == ERR_REFUSED ||
                 why->code == ERR_FORMAT;
    q->failed = arena_new(&c->cx->arena, struct err);
    *q->failed = *why;
}

/* --- folders of this machine ---------------------------------------------- */

/* Compares the node with the lock. */
static void take_node(struct check *c, struct question *q, const struct node *n)
{
    if (n->failed)
        fail(c, q, n->failed);
    q->is_changed = !n->failed && !str_eq(n->package.content, q->entry->digest);
    q->version = n->package.version;
}

/* The checkouts of all roots, also of those that are not named. */
static void add_checkouts(struct check *c, struct closure *closure)
{
    const struct install_session *s = c->session;

    for (size_t k = 0; k < c->part_count; k++) {
        go_to(c, k);
        for (size_t i = 0; i < s->root_count; i++)
            closure_add_checkout(closure, &s->roots[i].origin);
    }
    session_go_home(c->session);
}

/* Reads folders like an install, without publishing anything to the store. */
static bool read_folders(struct check *c, struct err *e)
{
    struct closure closure;
    struct closure_options o = {.offline = true, .allow_hidden = true};
    bool ok;

    closure_init(&closure, c->cx, c->layer, c->store, &o);
    add_checkouts(c, &closure);
    for (size_t i = 0; i < c->count; i++)
        if (c->questions[i].origin.scheme == ORIGIN_FILE &&
            !is_part(&c->questions[i]))
            closure_add(&closure, layer_origin(c->layer, c->questions[i].entry),
                        (unsigned)c->questions[i].entry->kind);
    ok = closure_gather(&closure, e);
    for (size_t i = 0; ok && i < c->count; i++) {
        struct question *q = &c->questions[i];

        if (q->origin.scheme == ORIGIN_FILE && !is_part(q))
            take_node(
                c, q,
                closure_find(&closure, layer_origin(c->layer, q->entry)->key));
    }
    notice_init(&closure.notices, &c->cx->arena); /* install reports them */
    closure_done(&closure);
    return ok;
}

/* --- indexes --------------------------------------------------------------- */

/* Reads each index once, and no artifacts. */
static bool read_indexes(struct check *c, struct err *e)
{
    struct closure closure;
    bool ok = true;

    closure_init(&closure, c->cx, c->layer, c->store,
                 &(struct closure_options){0});
    for (size_t i = 0; ok && i < c->count; i++) {
        struct question *q = &c->questions[i];
        const struct well_known_skill *skill;
        struct err why = {0};

        if (q->origin.scheme != ORIGIN_INDEX)
            continue;
        if (index_find(&closure, &q->origin, &skill, &why)) {
            q->is_changed = !str_eq(skill->digest, q->entry->artifact);
            q->version = skill->version;
        } else if (why.code == ERR_INTERRUPTED || why.code == ERR_REFUSED) {
            *e = why;
            ok = false;
        } else {
            fail(c, q, &why);
        }
    }
    closure_done(&closure);
    return ok;
}

/* --- plugins of marketplaces ----------------------------------------------- */

static bool is_plugin(void *ctx, const struct lock_entry *entry)
{
    (void)ctx;
    return entry->source.n > 0;
}

/* Reads plugins like an update: the entry, then the folder that it names. */
static bool read_plugins(struct check *c, struct err *e)
{
    struct closure closure;
    struct closure_options o = {.allow_hidden = true, .is_moving = is_plugin};
    bool ok, resolved = false;

    closure_init(&closure, c->cx, c->layer, c->store, &o);
    for (size_t i = 0; i < c->count; i++)
        if (has_entry(&c->questions[i]))
            closure_add(&closure, layer_origin(c->layer, c->questions[i].entry),
                        DOC_PLUGIN);
    ok = true;
    while (ok && !resolved) {
        resolved = true;
        ok = closure_gather(&closure, e) &&
             plugins_resolve_needs(&closure, &resolved, e);
    }
    for (size_t i = 0; ok && i < c->count; i++) {
        struct question *q = &c->questions[i];
        const struct node *n;

        if (!has_entry(q))
            continue;
        n = closure_find(&closure, layer_origin(c->layer, q->entry)->key);
        take_node(c, q, n);
        q->commit = n->package.commit;
        q->ref = n->ref;
    }
    notice_init(&closure.notices, &c->cx->arena); /* update reports them */
    closure_done(&closure);
    return ok;
}

/* --- repositories --------------------------------------------------------- */

/* Returns the other ranges and tags of the entry, all of which apply. */
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

static bool request_ref(struct check *c, size_t i, struct err *e)
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

    return closure_ask_other(&c->session->closure, &want, e);
}

static bool request_document(struct check *c, size_t i, struct err *e)
{
    const struct question *q = &c->questions[i];
    struct fetch_want want = {.id = (unsigned)(i + c->count),
                              .what = FETCH_DOCUMENT,
                              .kinds = (unsigned)q->entry->kind,
                              .origin = q->origin,
                              .ranges = other_ranges(c, q)};

    return closure_ask_other(&c->session->closure, &want, e);
}

static void take_ref(struct check *c, struct question *q,
                     const struct fetch_event *event)
{
    q->newest = arena_str(&c->cx->arena, event->newest);
    q->is_changed = !str_eq(event->commit, q->entry->commit);
    if (q->newest.n && event->tag_commit.n &&
        !str_eq(event->tag_commit, q->entry->commit))
        context_warn(c->cx, "%.*s: tag %.*s was moved from %.12s to %.12s",
                     STR_ARG(q->entry->name), STR_ARG(q->entry->tag),
                     q->entry->commit.p, event->tag_commit.p);
    if (!q->is_changed)
        return;
    q->ref = arena_str(&c->cx->arena, event->ref);
    q->commit = arena_str(&c->cx->arena, event->commit);
    q->wants_document = true;
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

/* Handles an event; faults of a new document are reported by update. */
static void take_event(void *ctx, const struct fetch_event *event,
                       struct arena *a)
{
    struct check *c = ctx;
    struct question *q = &c->questions[event->id % c->count];

    switch (event->kind) {
    case FETCH_REF_FOUND:
        take_ref(c, q, event);
        break;
    case FETCH_MANIFEST:
    case FETCH_OUTLINE:
        take_document(c, q, event, a);
        break;
    case FETCH_FAILED:
        if (event->id < c->count) {
            fail(c, q, event->err);
            q->place_now = node_place_now(&q->origin, event, q->entry->object,
                                          &c->cx->arena);
        }
        break;
    default:
        break;
    }
}

static bool request_refs(struct check *c, struct err *e)
{
    for (size_t i = 0; i < c->count; i++)
        if (is_asked(&c->questions[i]) && !request_ref(c, i, e))
            return false;
    return true;
}

static bool request_documents(struct check *c, struct err *e)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->questions[i].wants_document && !request_document(c, i, e))
            return false;
    return true;
}

/* --- catalogs -------------------------------------------------------------- */

static size_t request_catalogs(struct check *c)
{
    struct install_session *s = c->session;
    size_t asked = 0;

    for (size_t k = 0; k < c->part_count && !c->cx->is_offline; k++) {
        size_t count;
        const struct catalog **all;

        go_to(c, k);
        all = catalogs_list(s, &count);
        for (size_t i = 0; i < count; i++)
            if (is_named(c, all[i]->origin.text)) {
                catalogs_ask(s, all[i]);
                asked++;
            }
    }
    session_go_home(s);
    return asked;
}

/* Chooses new packages as an update would. */
static bool choose_new(struct check *c, size_t *count, struct err *e)
{
    struct install_session *s = c->session;
    bool ok = true;

    *count = 0;
    for (size_t k = 0; ok && k < c->part_count; k++) {
        go_to(c, k);
        s->choices = arena_array(&c->cx->arena, catalogs_offered(s) + 1,
                                 sizeof *s->choices);
        ok = catalogs_choose(s, true, e);
        *count += s->choice_count;
    }
    session_go_home(s);
    return ok;
}

/* Adds the roots, whose names are taken, as locked; they need not be in the
 * store. */
static void select_locked_roots(struct check *c)
{
    struct install_session *s = c->session;

    for (size_t i = 0; i < s->part_count; i++) {
        size_t n = 0;

        session_go(s, i);
        s->is_chosen = false;
        for (size_t k = 0; k < s->root_count; k++)
            if (map_has(&s->layer.by_origin, s->roots[k].origin.key))
                s->roots[n++] = s->roots[k];
        s->root_count = n;
    }
    session_go_home(s);
}

static void add_available(struct check *c, struct map *known, size_t *capacity)
{
    const struct install_session *s = c->session;

    for (size_t i = 0; i < s->root_count; i++)
        map_put(known, s->roots[i].origin.key, c);
    for (size_t i = 0; i < s->choice_count; i++) {
        const struct choice *x = &s->choices[i];

        if (x->is_left_out || !map_put(known, x->node->origin->key, c))
            continue;
        c->available =
            arena_grow(&c->cx->arena, c->available, c->available_count,
                       capacity, sizeof *c->available);
        c->available[c->available_count++] = (struct install_available){
            x->node->package.kind, x->node->package.fqn, x->node->origin->text,
            x->catalog->origin.text};
    }
}

/* Keeps the new packages that an update would add. Their files are fetched with
 * the documents of others and stay in the store. */
static bool take_valid(struct check *c, struct err *e)
{
    struct install_session *s = c->session;
    size_t capacity = 0;
    struct map known;
    bool ok;

    map_init(&known, &c->cx->arena);
    select_locked_roots(c);
    ok = session_gather(s, e);
    for (size_t k = 0; ok && k < c->part_count; k++) {
        go_to(c, k);
        catalogs_drop_superseded(s);
        ok = session_take_valid(s, e);
        if (ok)
            add_available(c, &known, &capacity);
    }
    session_go_home(s);
    return ok;
}

static bool request_hosts(struct check *c, struct err *e)
{
    struct install_session *s = c->session;
    struct err why = {0}, ignored = {0};
    struct closure_options o = {
        .looks = true,
        .ahead = &s->ahead,
        .on_other = take_event,
        .other_ctx = c,
    };
    size_t asked, chosen;
    bool ok;

    closure_init(&s->closure, c->cx, &s->layers.whole, s->store, &o);
    asked = request_catalogs(c);
    if (asked + c->git_count == 0)
        return true;
    if (!request_refs(c, e) || !closure_gather(&s->closure, e) ||
        !choose_new(c, &chosen, e) || !request_documents(c, e))
        return false;
    ok = chosen ? take_valid(c, &why) : closure_gather(&s->closure, &why);
    if (!ok && (!chosen || why.code == ERR_INTERRUPTED)) {
        *e = why;
        return false;
    }
    if (!ok) {
        c->problem = arena_new(&c->cx->arena, struct err);
        *c->problem = why;
    }
    notice_init(&s->closure.notices, &c->cx->arena); /* update reports them */
    if (!session_publish(s, &ignored))
        err_clear(&ignored);
    return true;
}

/* --- the answer ----------------------------------------------------------- */

/* Lists everything that could not be checked; a missing repository is listed
 * once. */
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

/* Returns whether a newer version is outside of the range. A newer tag with the
 * same objects is no update. */
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
            .place_now = q->place_now,
        };
    }
    *out = (struct install_outdated){.moved = moved,
                                     .count = n,
                                     .beyond_count = beyond,
                                     .available = c->available,
                                     .available_count = c->available_count,
                                     .problem = list_failed(c)};
    if (!out->problem)
        out->problem = c->problem;
}

/* Makes the requests; trees are kept for the update. */
static bool make_requests(struct check *c, struct err *e)
{
    if (!request_hosts(c, e))
        return false;
    store_begin_staging(c->store);
    if ((c->plugin_count && !read_plugins(c, e)) ||
        (c->index_count && !read_indexes(c, e)))
        return false;
    return c->file_count == 0 || read_folders(c, e);
}

/* Chooses the layers to check: at the root of a workspace, all members, like an
 * update. */
static void choose_parts(struct check *c)
{
    struct layers *all = &c->session->layers;

    c->parts = layer_chosen(all, c->cx, &c->part_count);
    c->layer = c->part_count > 1 ? &all->whole : c->parts;
}

/* Returns whether the check needs the network. */
static bool needs_network(const struct check *c)
{
    bool any = c->git_count + c->plugin_count + c->index_count > 0;

    for (size_t k = 0; k < c->part_count; k++) {
        const struct project *files[] = {&c->parts[k].project,
                                         &c->parts[k].local};

        for (size_t f = 0; f < sizeof files / sizeof *files; f++)
            for (size_t i = 0; i < files[f]->catalog_count; i++) {
                const struct origin *o = &files[f]->catalogs[i].origin;

                any |= is_named(c, o->text) && origin_is_remote(o) &&
                       !origin_names_commit(o);
            }
    }
    return any;
}

bool install_outdated(struct context *cx, const struct str_list *names,
                      struct install_outdated *out, struct err *e)
{
    struct check c = {.cx = cx, .names = names};
    bool ok = session_open_read_only(cx, &c.session, e);

    if (!ok)
        return false;
    choose_parts(&c);
    c.store = c.session->store;
    ok = layer_check_there(&c.session->layer, cx, e) && find_names(&c, e);
    if (ok)
        list_questions(&c);
    if (ok && cx->is_offline && needs_network(&c))
        ok = err_set(e, ERR_OFFLINE, "mapm outdated needs the network");
    if (ok && make_requests(&c, e))
        report(&c, out);
    else
        ok = false;
    install_close(&c.session->plan);
    return ok;
}
