#include "base/fs.h"
#include "mapm/fetch.h"
#include "mapm/install_push.h"
#include "mapm/install_team.h"
#include "mapm/open_store.h"

/* Verifies a remote: requests all locked packages without using the local store
 * or git hosts, so that everything that arrives is in the remote. A proof that
 * is too large to be pushed is replaced by the trees in the local store. */

struct check {
    struct context *cx;
    struct layers all;
    struct store *store;
    struct team_remotes remotes; /* the remote */
    struct install_team_package *packages;
    struct str *too_large; /* per package: why no remote has its proof */
    struct fetch *fetch;
    struct install_push_result *out;
    struct str_list warnings;
    size_t warning_capacity;
};

static void copy_warning(void *ctx, struct str line)
{
    struct check *c = ctx;
    struct arena *a = &c->cx->arena;
    struct str *items =
        arena_grow(a, (void *)(uintptr_t)c->warnings.items, c->warnings.count,
                   &c->warning_capacity, sizeof *items);

    items[c->warnings.count++] = arena_str(a, line);
    c->warnings.items = items;
}

/* Requests a marketplace, whose origin lacks the part of the plugin. */
static bool request_market(struct check *c, size_t i, struct err *e)
{
    const struct install_team_package *p = &c->packages[i];
    struct fetch_want want = {
        .id = (unsigned)i,
        .what = FETCH_PACKAGE,
        .kinds = DOC_MARKET,
        .origin = origin_with_part(layer_origin(p->layer, p->entry), STR(""),
                                   &c->cx->arena),
        .commit = p->commit,
        .assume_reachable = true,
    };

    return fetch_ask(c->fetch, &want, e);
}

static bool request_artifact(struct check *c, size_t i, struct err *e)
{
    struct fetch_want want = {
        .id = (unsigned)i,
        .what = FETCH_ARTIFACT,
        .digest = hash_hex(&c->packages[i].artifact, &c->cx->arena),
    };

    return fetch_ask(c->fetch, &want, e);
}

static bool ask(struct check *c, size_t i, struct err *e)
{
    const struct lock_entry *entry = c->packages[i].entry;
    struct fetch_want want = {
        .id = (unsigned)i,
        .what = FETCH_PACKAGE,
        .kinds = entry->kind,
        .origin = *layer_source(&c->all.whole, entry),
        .commit = entry->commit,
        .object = entry->object,
        .digest = hash_hex(&c->packages[i].digest, &c->cx->arena),
        .assume_reachable = true,
    };

    if (c->packages[i].is_of_index)
        return request_artifact(c, i, e);
    return c->packages[i].is_market ? request_market(c, i, e)
                                    : fetch_ask(c->fetch, &want, e);
}

/* Returns whether a warning names an object of the package. "no store has" ends
 * with its digest; other warnings may contain the digest of another package,
 * which a remote has in its place. */
static bool is_about(struct str line, const struct install_team_package *p,
                     struct arena *a)
{
    if ((p->asked.n && str_find(line, p->asked) != SIZE_MAX) ||
        (p->name.n && str_find(line, p->name) != SIZE_MAX))
        return true;
    if (!str_starts(line, STR("no store has ")))
        return false;
    return str_find(line, p->is_market ? p->commit : hash_hex(&p->digest, a)) !=
           SIZE_MAX;
}

/* Returns the error of one of its objects, or else of the package. A machine
 * without the trees of the commit cannot compute the size of a proof. */
static struct str message_of(const struct check *c,
                             const struct install_team_package *p,
                             const struct err *why)
{
    struct arena *a = &c->cx->arena;
    struct str message = str_cstr(err_first(why));

    for (size_t i = c->warnings.count; i-- > 0;)
        if (is_about(c->warnings.items[i], p, a))
            message = c->warnings.items[i];
    if (str_starts(message, STR("no store has the proof of")) && !p->proof.n)
        return arena_printf(a,
                            "%.*s (or it is too large for a store: mapm store "
                            "pull fetches what tells)",
                            STR_ARG(message));
    return arena_str(a, message);
}

static void take(struct check *c, const struct fetch_event *event)
{
    struct install_shared *s = &c->out->items[event->id];

    if (event->kind == FETCH_DONE)
        s->state = INSTALL_WAS_THERE;
    if (event->kind == FETCH_FAILED)
        s->message = message_of(c, &c->packages[event->id], event->err);
}

/* Returns the error of the remote itself: it is unavailable or refuses
 * access. */
static bool check_answers(const struct check *c, struct err *e)
{
    for (size_t i = 0; i < c->warnings.count; i++) {
        struct str line = c->warnings.items[i];
        bool is_about_one = false;

        for (size_t k = 0; k < c->out->count && !is_about_one; k++)
            is_about_one = is_about(line, &c->packages[k], &c->cx->arena);
        if (is_about_one || str_starts(line, STR("no store has ")) ||
            str_find(line, STR(" has something else as ")) != SIZE_MAX)
            continue;
        err_set(e, ERR_FETCH, "%.*s", STR_ARG(line));
        return err_wrap(e, "cannot verify %.*s", STR_ARG(c->out->to));
    }
    return true;
}

/* Returns whether the package is requested with the trees of the local store,
 * or without them. */
static bool is_asked(const struct check *c, size_t i, bool with_trees)
{
    const struct install_team_package *p = &c->packages[i];
    bool is_too_large = c->too_large[i].n > 0;

    return !p->kept_back && is_too_large == with_trees &&
           !(is_too_large && p->is_market);
}

static bool exchange(struct check *c, bool with_trees, struct err *e)
{
    struct fetch_event event = {.kind = FETCH_MANIFEST};

    for (size_t i = 0; i < c->out->count; i++)
        if (is_asked(c, i, with_trees) && !ask(c, i, e))
            return false;
    while (event.kind != FETCH_IDLE) {
        CLEANUP(arena_done) struct arena scratch = {0};

        if (!fetch_next(c->fetch, &scratch, &event, e))
            return false;
        if (event.kind != FETCH_IDLE)
            take(c, &event);
    }
    return true;
}

static bool find_trees(void *ctx, struct str repository, struct str commit,
                       struct arena *a, struct str *bytes)
{
    return store_find_trees(ctx, repository, commit, a, bytes);
}

static bool fetch_all(struct check *c, bool with_trees, struct err *e)
{
    struct store_session session = {.dirfd = -1};
    const struct layer *l = &c->all.whole;
    struct fetch_options o = {
        .hosts = l->rules.hosts,
        .host_count = l->rules.host_count,
        .limits = &l->limits,
        .store = {.find_trees = with_trees ? find_trees : NULL,
                  .ctx = c->store},
        .stores = &c->remotes,
        .warn = copy_warning,
        .warn_ctx = c,
        .verbose = c->cx->is_verbose,
    };
    bool ok;

    if (!context_check_cancelled(c->cx, e) ||
        !store_session_begin(c->store, &session, e))
        return false;
    o.incoming = session.path;
    ok = fetch_open(&o, &c->fetch, e) && exchange(c, with_trees, e);
    fetch_close(c->fetch);
    store_session_end(c->store, &session);
    return ok;
}

/* Returns whether the package is made of a plugin's files and never fetched. */
static bool is_derived(const struct install_team_package *p)
{
    struct str origin = p->entry->origin;

    return str_find(origin, STR("?mcp=")) != SIZE_MAX ||
           str_find(origin, STR("?agent=")) != SIZE_MAX;
}

/* Keeps one item per entry and one per marketplace; other origins have proofs
 * but no packages. */
static size_t drop_also(struct install_team_package *list, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if ((!list[i].is_also || list[i].is_market) && !is_derived(&list[i]))
            list[n++] = list[i];
    return n;
}

/* Finds the proofs that push keeps back because of their size. */
static bool find_too_large(struct check *c, size_t count)
{
    CLEANUP(install_trees_done)
    struct install_trees trees = {.store = c->store};
    bool any = false;

    c->too_large = arena_array(&c->cx->arena, count, sizeof *c->too_large);
    for (size_t i = 0; i < count; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct install_team_package *p = &c->packages[i];
        struct archive_file *files;
        struct err why = {0};
        size_t n;

        if (p->kept_back || p->is_of_index || !p->proof.n ||
            install_team_find(&trees, &p, 1, &team_proof_limits, &a, &files, &n,
                              &why) ||
            why.code != ERR_LIMIT)
            continue;
        c->too_large[i] = install_team_from_host(&why, &c->cx->arena);
        any = true;
    }
    return any;
}

static void list_items(struct check *c, size_t count)
{
    struct install_push_result *r = c->out;

    r->items = arena_array(&c->cx->arena, count, sizeof *r->items);
    r->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct install_team_package *p = &c->packages[i];

        r->items[i] = (struct install_shared){
            .kind = p->entry->kind,
            .package = p->entry->name,
            .object = p->is_market || p->is_of_index ? p->asked : p->name,
            .is_proof = p->is_market || p->is_of_index,
            .state = p->kept_back ? INSTALL_KEPT_BACK : INSTALL_NOT_SHARED,
            .message = str_cstr(p->kept_back),
        };
    }
}

/* Finds the configured remote. */
static bool find_remote(struct check *c, struct str url, struct err *e)
{
    const struct layer *l = &c->all.whole;
    struct team_remotes known;
    struct team_remote *t = arena_new(&c->cx->arena, struct team_remote);

    if (!team_remote_parse(url, TEAM_FROM_CONFIG, &c->cx->arena, t, e) ||
        !layer_stores(l, c->cx, c->store, &known, e))
        return false;
    for (size_t i = 0; i < known.count; i++)
        if (str_eq(known.items[i].url, t->url))
            *t = known.items[i];
    c->remotes = (struct team_remotes){t, 1, true};
    c->out->to = t->url;
    return true;
}

/* Drops valid marketplaces, whose plugins are checked by themselves, and adds
 * the proofs that come from the git host. */
static void finish_items(struct check *c)
{
    struct install_push_result *r = c->out;
    struct install_shared *items =
        arena_array(&c->cx->arena, 2 * r->count, sizeof *items);
    size_t n = 0;

    for (size_t i = 0; i < r->count; i++) {
        const struct install_team_package *p = &c->packages[i];
        bool is_too_large = c->too_large[i].n > 0;

        if (!p->is_market ||
            (!is_too_large && r->items[i].state == INSTALL_NOT_SHARED))
            items[n++] = r->items[i];
        if (!is_too_large)
            continue;
        items[n] = r->items[i];
        items[n].object = p->asked;
        items[n].is_proof = true;
        items[n].state = INSTALL_KEPT_BACK;
        items[n++].message = c->too_large[i];
    }
    r->items = items;
    r->count = n;
}

static bool check(struct check *c, struct str url, struct err *e)
{
    bool any_too_large;
    size_t count;

    if (c->cx->is_offline)
        return err_set(e, ERR_OFFLINE,
                       "a remote is not asked without the "
                       "network");
    if (!layer_check_there(&c->all.whole, c->cx, e) ||
        !find_remote(c, url, e) ||
        !install_team_list(c->cx, &c->all.whole, c->store, (struct str_list){0},
                           &c->packages, &count, e))
        return false;
    count = drop_also(c->packages, count);
    list_items(c, count);
    any_too_large = find_too_large(c, count);
    if (!fetch_all(c, false, e) || (any_too_large && !fetch_all(c, true, e)))
        return false;
    finish_items(c);
    for (size_t i = 0; i < c->out->count; i++)
        c->out->by_state[c->out->items[i].state]++;
    return c->out->by_state[INSTALL_NOT_SHARED] == 0 || check_answers(c, e);
}

bool install_check_remote(struct context *cx, struct str url,
                          struct install_push_result *out, struct err *e)
{
    struct check c = {.cx = cx, .out = out};
    bool ok;

    *out = (struct install_push_result){0};
    if (!open_store(cx, &c.store, e))
        return false;
    ok = layer_open_all(cx, LAYER_READ, &c.all, e);
    if (ok) {
        ok = check(&c, url, e);
        layer_close_all(&c.all);
    }
    close_store(cx, c.store);
    return ok;
}
