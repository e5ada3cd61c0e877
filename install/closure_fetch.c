#include "base/proc.h"
#include "mapm/lock.h"
#include "mapm/origin.h"
#include "mapm/state.h"

#include "closure_resolve.h"
#include "fetch_cache.h"

/* Requests of a closure to the network, by mapm-fetch, which the first request
 * starts. */

static void show_progress(void *ctx, const struct fetch_progress *p)
{
    struct closure *c = ctx;
    const struct progress shown = {.done = p->done,
                                   .total = p->asked,
                                   .bytes = p->bytes,
                                   .elapsed_ms = proc_now_ms() - c->started_ms};

    c->progress = *p;
    context_progress(c->cx, &shown);
}

/* Reports one package at a time, after events of the host. */
static bool report_fetched(void *ctx)
{
    struct closure *c = ctx;

    if (!c->options.on_fetched || c->fetched_reported == c->fetched_count)
        return false;
    c->options.on_fetched(c->options.on_fetched_ctx,
                          c->fetched[c->fetched_reported++]);
    return true;
}

/* Opens the index, which every response needs, while mapm-fetch starts. */
static bool use_idle_time(void *ctx)
{
    struct closure *c = ctx;

    if (!c->is_index_open) {
        c->is_index_open = true;
        state_load(store_state(c->store));
        return true;
    }
    if (c->was_idle || !c->options.on_idle)
        return report_fetched(c);
    c->was_idle = true;
    c->options.on_idle(c->options.on_idle_ctx);
    return true;
}

static void show_warning(void *ctx, struct str line)
{
    struct closure *c = ctx;

    context_warn(c->cx, "%.*s", STR_ARG(line));
}

static bool start_fetch(struct closure *c, struct err *e)
{
    struct team_remotes stores = {0};
    struct fetch_options o = {
        .store = fetch_cache(c->store),
        .ahead = c->options.ahead,
        .hosts = c->layer->rules.hosts,
        .host_count = c->layer->rules.host_count,
        .limits = &c->layer->limits,
        .stores = &stores,
        .bundle = c->options.bundle,
        .warn = show_warning,
        .warn_ctx = c,
        .idle = use_idle_time,
        .idle_ctx = c,
        .progress = show_progress,
        .progress_ctx = c,
        .verbose = c->cx->is_verbose,
        .may_prompt = c->cx->may_prompt,
    };

    if (c->fetch)
        return true;
    if (!context_check_cancelled(c->cx, e) ||
        (!c->options.bundle &&
         !layer_stores(c->layer, c->cx, c->store, &stores, e)) ||
        !store_session_begin(c->store, &c->session, e))
        return false;
    o.incoming = c->session.path;
    c->started_ms = proc_now_ms();
    return fetch_open(&o, &c->fetch, e);
}

static void report_waiting(void *ctx)
{
    struct closure *c = ctx;

    context_progress(c->cx, &(struct progress){.is_waiting = true});
}

bool closure_begin_download(struct closure *c, const struct node *n,
                            bool *taken, struct err *e)
{
    struct str repository = origin_repository(node_source(n), &c->cx->arena);
    bool ok;

    if (!c->fetch && !context_check_cancelled(c->cx, e))
        return false;
    ok =
        store_begin_download(c->store, repository, report_waiting, c, taken, e);
    context_progress(c->cx, NULL);
    return ok;
}

void closure_cancel_download(struct closure *c, const struct node *n)
{
    store_cancel_download(c->store,
                          origin_repository(node_source(n), &c->cx->arena));
}

static enum fetch_what what_of(const struct closure *c, const struct node *n)
{
    if (n->is_comparing)
        return FETCH_REF;
    if (n->is_tracing)
        return FETCH_REACH;
    if (n->is_catalog)
        return FETCH_CATALOG;
    if (n->wants_files)
        return FETCH_FILES;
    return c->options.outline && !n->locked ? FETCH_DOCUMENT : FETCH_PACKAGE;
}

const struct origin *closure_locked_origin(const struct closure *c,
                                           const struct node *n)
{
    return n->is_sharing && !n->by_lock_name
               ? node_source(n)
               : layer_source(c->layer, n->locked);
}

/* Without "sha256:". */
static struct str digest_hex(struct str digest)
{
    return str_starts(digest, STR("sha256:")) ? str_from_index(digest, 7)
                                              : str_make("", 0);
}

/* Tells where the path begins in the origin of a node with a known ref. The
 * commit alone does not: it has paths that are the end of a missing one. */
static void split_at_ref(const struct node *n, struct origin *o)
{
    struct str rest = o->rest;

    if (o->is_short || n->ref.n == 0 || !str_starts(rest, n->ref))
        return;
    rest = str_from_index(rest, n->ref.n);
    if (rest.n && rest.p[0] != '/')
        return;
    o->is_short = true;
    o->ref = n->ref;
    o->path = rest.n ? str_from_index(rest, 1) : rest;
}

/* Requests the locked commit of `n` and its object, not the ref. */
static void want_locked(const struct closure *c, const struct node *n,
                        struct fetch_want *want)
{
    want->commit = n->is_sharing ? n->package.commit : n->locked->commit;
    /* By the digest the team's stores know the content. */
    if (!n->is_twin) {
        want->object = n->locked->object;
        want->digest = digest_hex(n->locked->digest);
    }
    want->kinds = (unsigned)n->locked->kind;
    want->origin = *closure_locked_origin(c, n);
    want->assume_reachable = true;
    want->stored =
        (n->is_unproved || n->checks_former) && !c->options.needs_trees;
    want->proved = n->is_unserved;
}

static struct fetch_want make_want(const struct closure *c,
                                   const struct node *n)
{
    struct arena *a = &c->cx->arena;
    /* update: the trees of the locked commit are in the store */
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin->key);
    struct fetch_want want = {
        .id = (unsigned)c->asked_count,
        .what = what_of(c, n),
        .kinds = n->kinds,
        .origin = *node_source(n),
        .at_once = c->options.looks && n->is_catalog,
    };

    if (node_source(n)->scheme == ORIGIN_INDEX) {
        want.what = FETCH_ARTIFACT;
        want.digest = digest_hex(n->locked->artifact);
        return want;
    }
    if (entry) {
        want.base = entry->commit;
        if (entry->tag.n && origin_range(n->origin, a).n &&
            origin_is_package_of(layer_origin(c->layer, entry), n->origin, a))
            want.tag = entry->tag;
    }
    want.ranges = node_rare(n)->allowed;
    if (n->locked)
        want_locked(c, n, &want);
    if (n->is_comparing) {
        want.base = want.commit = n->package.commit;
        want.object = entry->object;
        want.kinds = (unsigned)entry->kind;
    }
    if (n->is_tracing)
        want.commit = n->package.commit;
    if (n->is_ref_known) {
        want.commit = n->package.commit;
        want.assume_reachable = true; /* the ref leads to it */
        split_at_ref(n, &want.origin);
    }
    return want;
}

bool closure_request(struct closure *c, struct node *n, struct err *e)
{
    struct fetch_want want = make_want(c, n);

    /* responses and the lock may contradict each other forever */
    if (++n->requests > NODE_MAX_REQUESTS)
        return err_set(e, ERR_LIMIT,
                       "%.*s was asked for %d times, and no answer was of use",
                       STR_ARG(n->origin->text), NODE_MAX_REQUESTS);
    if (!start_fetch(c, e))
        return false;
    c->asked = arena_grow(&c->cx->arena, c->asked, c->asked_count,
                          &c->asked_capacity, sizeof(struct node *));
    c->asked[c->asked_count++] = n;
    return fetch_ask(c->fetch, &want, e);
}

struct naming *closure_naming(const struct closure *c, const struct node *n)
{
    CLEANUP(arena_done) struct arena scratch = {0};

    return map_find(&c->names, origin_repository(node_source(n), &scratch));
}

static bool request_name(struct closure *c, const struct node *n, struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct fetch_want want = {.id = CLOSURE_NAME | (unsigned)c->names.count,
                              .what = FETCH_NAME,
                              .kinds = n->kinds,
                              .origin = *node_source(n)};

    if (closure_naming(c, n))
        return true;
    map_put(&c->names, origin_repository(node_source(n), a),
            arena_new(a, struct naming));
    return start_fetch(c, e) && fetch_ask(c->fetch, &want, e);
}

bool closure_request_renamed(struct closure *c, struct node *n, struct err *e)
{
    n->by_lock_name = true;
    return request_name(c, n, e) && closure_request(c, n, e);
}

/* ids of these requests follow those of nodes */
bool closure_ask_other(struct closure *c, const struct fetch_want *want,
                       struct err *e)
{
    struct fetch_want other = *want;

    other.id |= CLOSURE_OTHER;
    return start_fetch(c, e) && fetch_ask(c->fetch, &other, e);
}

bool closure_want_files(struct closure *c, struct node *n, struct err *e)
{
    n->wants_files = true;
    return closure_request(c, n, e);
}
