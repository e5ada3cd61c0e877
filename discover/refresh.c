#include "base/fs.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/discover.h"
#include "mapm/doc_kind.h"
#include "mapm/folder_offers.h"
#include "mapm/limits.h"
#include "mapm/plugin_paths.h"
#include "mapm/state_search.h"
#include "mapm/well_known.h"

#include <time.h>

#include "catalog_record.h"
#include "entry.h"

/*
 * Reads catalogs again.
 *
 *     repository: REF ──▶ the commit that is known: done
 *                  └────▶ CATALOG and marketplace.json ──▶ a DOCUMENT each
 *     index:      one conditional GET
 *
 * Each catalog is replaced as a whole in one transaction, or left unchanged.
 */

#define ACCEPT_JSON "Accept: application/json"

struct visit {
    struct discover_change *out;
    struct discover_catalog now;
    struct origin origin;
    struct str path; /* path of the catalog in its repository */
    struct offered entries;
    struct arena a;
    size_t open;        /* number of requests without a reply */
    bool is_up_to_date; /* stored, or known to be unchanged */
};

/* The subject of a request. */
struct question {
    struct visit *visit;
    enum { ASK_REF, ASK_OFFERS, ASK_MARKET, ASK_DOCUMENT } what;
    enum doc_kind kind;
    struct origin origin;
    bool is_read; /* a DOCUMENT was received */
};

struct refresh {
    struct context *cx;
    const struct layer *user;
    struct store *store;
    struct store_session session;
    struct fetch *fetch;
    struct visit *visits;
    size_t count;
    struct question *questions;
    size_t asked, capacity, answered;
    uint64_t started_ms;
};

/* --- ends ------------------------------------------------------------------------------- */

static void fail(struct refresh *r, struct visit *v, const struct err *why)
{
    if (v->out->failed)
        return;
    v->out->failed = arena_new(&r->cx->arena, struct err);
    *v->out->failed = *why;
}

static uint64_t now_s(void)
{
    return (uint64_t)time(NULL);
}

static bool put(struct refresh *r, struct visit *v, struct err *e)
{
    struct state *s = store_state(r->store);
    uint64_t id;

    offered_deduplicate(&v->entries);
    v->now.refreshed_s = now_s();
    v->now.count = v->entries.count;
    v->now.left_out = v->entries.left_out;
    if (v->entries.count == 0) {
        err_set(e, ERR_NOT_FOUND, "it offers nothing that mapm knows");
        return err_hint(e, "a catalog has skills (SKILL.md), agents, MCP "
                           "files or a marketplace.json");
    }
    return state_put_source(s, SEARCH_CATALOG, v->now.origin,
                            catalog_stamp(&v->now, &v->a), v->entries.items,
                            v->entries.count, &id, e);
}

/* Stores a catalog when all of it has been read. */
static void finish(struct refresh *r, struct visit *v)
{
    struct err e = {0};

    if (v->out->failed)
        return;
    if (put(r, v, &e)) {
        v->out->catalog.count = v->now.count;
        v->out->catalog.left_out = v->now.left_out;
        v->out->catalog.refreshed_s = v->now.refreshed_s;
        v->out->catalog.commit = arena_str(&r->cx->arena, v->now.commit);
        v->out->catalog.ref = arena_str(&r->cx->arena, v->now.ref);
        v->out->is_changed = true;
    } else {
        fail(r, v, &e);
    }
}

static void finish_unchanged(struct refresh *r, struct visit *v)
{
    struct err e = {0};

    v->is_up_to_date = true;
    v->now.refreshed_s = v->out->catalog.refreshed_s = now_s();
    v->now.left_out = v->out->catalog.left_out;
    if (!state_stamp_source(store_state(r->store), SEARCH_CATALOG,
                            v->now.origin, catalog_stamp(&v->now, &v->a), &e))
        fail(r, v, &e);
}

/* --- repositories ------------------------------------------------------------------ */

static bool ask(struct refresh *r, struct visit *v, struct question q,
                unsigned kinds, struct err *e)
{
    struct fetch_want want = {
        .id = (unsigned)r->asked, .kinds = kinds, .origin = q.origin};

    want.what = q.what == ASK_REF        ? FETCH_REF
                : q.what == ASK_OFFERS   ? FETCH_CATALOG
                : q.what == ASK_DOCUMENT ? FETCH_DOCUMENT
                                         : FETCH_PACKAGE;
    q.visit = v;
    r->questions = arena_grow(&r->cx->arena, r->questions, r->asked,
                              &r->capacity, sizeof *r->questions);
    r->questions[r->asked++] = q;
    v->open++;
    return fetch_ask(r->fetch, &want, e);
}

static bool take_ref(struct refresh *r, struct visit *v,
                     const struct fetch_event *event, struct err *e)
{
    struct origin market = origin_with_part(&v->origin, STR("market"), &v->a);
    bool is_same = str_eq(v->out->catalog.commit, event->commit);

    v->now.commit = arena_str(&v->a, event->commit);
    v->now.ref = arena_str(&v->a, event->ref.n ? event->ref : event->commit);
    v->path = arena_str(&v->a, event->path);
    if (is_same && v->out->catalog.count) {
        finish_unchanged(r, v);
        return true;
    }
    /* A marketplace given by its file is only that file. */
    return (str_is(path_last(v->path), "marketplace.json") ||
            ask(r, v,
                (struct question){.what = ASK_OFFERS, .origin = v->origin},
                DOC_AGENT | DOC_SKILL | DOC_MCP, e)) &&
           ask(r, v, (struct question){.what = ASK_MARKET, .origin = market},
               DOC_MARKET, e);
}

static bool take_offers(struct refresh *r, struct visit *v,
                        const struct fetch_event *event, struct err *e)
{
    for (size_t i = 0; i < event->offer_count; i++) {
        const struct fetch_offer *offer = &event->offers[i];
        struct question q = {.what = ASK_DOCUMENT, .kind = offer->kind};

        if (offer->is_elsewhere)
            continue;
        origin_complete(&v->origin, v->now.ref, arena_str(&v->a, offer->path),
                        &v->a, &q.origin);
        if (!ask(r, v, q, (unsigned)offer->kind, e))
            return false;
    }
    return true;
}

static bool take_document(struct visit *v, struct question *q,
                          const struct fetch_event *event, struct err *e)
{
    struct str folder = path_last(event->path);

    if (q->is_read)
        return true;
    q->is_read = true;
    if (folder.n == 0)
        folder = origin_name(&v->origin);
    return offered_add_document(&v->entries, q->kind, folder, event->manifest,
                                &q->origin, e);
}

static bool take_market(struct refresh *r, struct visit *v,
                        const struct fetch_event *event, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct fetch_file *f = event->files;
    struct str text, base = v->path, file = event->path;
    struct origin here;

    if (event->file_count != 1)
        return err_set(e, ERR_FORMAT, "its marketplace.json is no file");
    if (base.n && file.n > base.n && str_starts(file, base))
        file = str_from_index(file, base.n + 1);
    origin_complete(&v->origin, v->now.ref, base, &v->a, &here);
    return store_adopt(r->store, &r->session, f->offset, f->size, &f->hash,
                       e) &&
           store_read(r->store, &f->hash, MARKETPLACE_MAX_BYTES, &scratch,
                      &text, e) &&
           offered_add_market(&v->entries, text, file, here.text, e);
}

/* Returns true for errors that describe the repository, as opposed to a failed
 * request. */
static bool is_answer(enum err_code code)
{
    return code == ERR_PATH || code == ERR_REFUSED || code == ERR_LIMIT ||
           code == ERR_FORMAT || code == ERR_NOT_FOUND;
}

/* Skips a package that cannot be read; a catalog need not have a
 * marketplace. */
static void take_failure(struct refresh *r, struct question *q,
                         const struct err *why)
{
    struct visit *v = q->visit;

    if (q->what == ASK_MARKET && why->code == ERR_PATH)
        return;
    if (q->what == ASK_DOCUMENT && is_answer(why->code))
        v->entries.left_out += !q->is_read;
    else
        fail(r, v, why);
}

static bool take_answer(struct refresh *r, struct question *q,
                        const struct fetch_event *event, struct err *e)
{
    struct visit *v = q->visit;

    switch (event->kind) {
    case FETCH_REF_FOUND:
        return take_ref(r, v, event, e);
    case FETCH_OFFERS:
        return take_offers(r, v, event, e);
    case FETCH_MANIFEST:
    case FETCH_OUTLINE:
        return q->what != ASK_DOCUMENT || take_document(v, q, event, e);
    case FETCH_DONE:
        return q->what != ASK_MARKET || take_market(r, v, event, e);
    default:
        take_failure(r, q, event->err);
        return true;
    }
}

static void show_progress(struct refresh *r)
{
    struct fetch_progress p;

    fetch_get_progress(r->fetch, &p);
    context_progress(
        r->cx, &(struct progress){.done = (unsigned)r->answered,
                                  .total = (unsigned)r->asked,
                                  .bytes = p.bytes,
                                  .elapsed_ms = proc_now_ms() - r->started_ms});
}

/* A fault of one catalog does not affect the others. */
static bool take_event(struct refresh *r, const struct fetch_event *event,
                       struct err *e)
{
    struct err why = {0};
    struct question *q;
    struct visit *v;

    if (event->id >= r->asked)
        return err_set(e, ERR_FAILED, "unexpected message from mapm-fetch");
    q = &r->questions[event->id];
    v = q->visit;
    for (size_t i = 0; i < event->note_count; i++)
        if (q->what == ASK_OFFERS)
            context_warn(r->cx, "%.*s", STR_ARG(event->notes[i]));
    if (!take_answer(r, q, event, &why))
        fail(r, v, &why);
    if (event->kind == FETCH_MANIFEST)
        return true; /* a DONE event follows */
    r->answered++;
    v->open--;
    if (v->open == 0 && !v->is_up_to_date)
        finish(r, v);
    show_progress(r);
    return true;
}

static bool is_repository(const struct discover_catalog *c)
{
    return !c->is_index && !c->is_folder;
}

static bool request_repositories(struct refresh *r, struct err *e)
{
    struct fetch_event event = {.kind = FETCH_REF_FOUND};
    size_t any = 0;

    for (size_t i = 0; i < r->count; i++) {
        struct visit *v = &r->visits[i];

        if (!is_repository(&v->now) || v->out->failed)
            continue;
        any++;
        if (!ask(r, v, (struct question){.what = ASK_REF, .origin = v->origin},
                 DOC_AGENT | DOC_SKILL | DOC_MCP, e))
            return false;
    }
    while (any && event.kind != FETCH_IDLE) {
        CLEANUP(arena_done) struct arena scratch = {0};

        if (!fetch_next(r->fetch, &scratch, &event, e) ||
            (event.kind != FETCH_IDLE && !take_event(r, &event, e)))
            return false;
    }
    return true;
}

static bool refresh_repositories(struct refresh *r, struct err *e)
{
    struct team_remotes stores; /* for `only`: team stores are the only hosts
                                 * that may be contacted */
    struct fetch_options o = {
        .hosts = r->user->rules.hosts,
        .host_count = r->user->rules.host_count,
        .limits = &r->user->limits,
        .stores = &stores,
        .verbose = r->cx->is_verbose,
        .may_prompt = r->cx->may_prompt,
    };
    bool ok;

    if (!layer_stores(r->user, r->cx, r->store, &stores, e) ||
        !store_session_begin(r->store, &r->session, e))
        return false;
    store_begin_staging(r->store); /* nothing that is fetched is kept in the
                                    * store */
    o.incoming = r->session.path;
    r->started_ms = proc_now_ms();
    ok = fetch_open(&o, &r->fetch, e) && request_repositories(r, e);
    fetch_close(r->fetch);
    store_session_end(r->store, &r->session);
    context_progress(r->cx, NULL);
    return ok;
}

/* --- indexes -------------------------------------------------------------------------- */

/* With `only`, rejects catalogs that are on the network and not in a store. */
static bool check_only(const struct refresh *r, struct str url, struct err *e)
{
    struct team_remotes stores;

    if (!layer_stores(r->user, r->cx, r->store, &stores, e))
        return false;
    if (!stores.only)
        return true;
    err_set(e, ERR_OFFLINE, "%.*s must not be contacted", STR_ARG(url));
    return err_hint(e, "store: {only: true} asks nothing but the stores");
}

static bool get(struct str *url, struct str condition, struct arena *a,
                struct fetch_reply *out, struct err *e)
{
    const struct fetch_document in = {.url = *url,
                                      .accept = STR(ACCEPT_JSON),
                                      .condition = condition,
                                      .max_bytes = AGENT_INDEX_MAX_BYTES};

    if (!fetch_document(&in, a, url, out, e))
        return false;
    if (out->location.n == 0)
        return true;
    err_set(e, ERR_FETCH, "HTTP %ld from %.*s: it redirects to %.*s",
            out->status, STR_ARG(*url), STR_ARG(out->location));
    return err_hint(e, "if that is meant: mapm catalog add %.*s",
                    STR_ARG(out->location));
}

static bool take_index(struct visit *v, struct str url,
                       const struct fetch_reply *reply, struct err *e)
{
    if (reply->status != 200)
        return err_set(e, reply->status == 404 ? ERR_NOT_FOUND : ERR_FETCH,
                       "HTTP %ld from %.*s", reply->status, STR_ARG(url));
    v->now.condition = reply->condition;
    return offered_add_index(&v->entries, reply->body, url, v->now.origin, e);
}

static void refresh_index(struct refresh *r, struct visit *v)
{
    struct str url = v->now.origin, condition = v->out->catalog.condition;
    struct fetch_reply reply;
    struct err e = {0};

    if (!context_check_cancelled(r->cx, &e) || !check_only(r, url, &e) ||
        !get(&url, v->out->catalog.count ? condition : str_make("", 0), &v->a,
             &reply, &e)) {
        fail(r, v, &e);
    } else if (reply.status == 304 && v->out->catalog.count) {
        v->now.condition = condition;
        finish_unchanged(r, v);
    } else if (take_index(v, url, &reply, &e)) {
        finish(r, v);
    } else {
        fail(r, v, &e);
    }
}

/* --- folders -------------------------------------------------------------------------- */

static struct str below(struct str folder, struct str path, struct arena *a)
{
    return path.n ? fs_join(folder, path, a) : folder;
}

static bool add_package(struct visit *v, int root,
                        const struct fetch_offer *offer, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str path = below(v->origin.path, offer->path, &a), text, file;
    bool is_mcp = offer->kind == DOC_MCP;
    struct err ignored = {0};
    struct origin o;

    file = is_mcp
               ? offer->path
               : below(offer->path, str_cstr(doc_entry_file(offer->kind)), &a);
    if (offer->path.n == 0)
        file = str_cstr(doc_entry_file(offer->kind));
    if (!origin_parse(str_join(STR("file:"), path, &a), NULL, &a, &o,
                      &ignored) ||
        !fs_read_file_at(root, str_dup0(file, &a),
                         is_mcp ? MCP_MAX_BYTES : ANCHOR_MAX_BYTES, &a, &text,
                         &ignored)) {
        v->entries.left_out++;
        return true;
    }
    return offered_add_document(&v->entries, offer->kind, path_last(path), text,
                                &o, e);
}

static bool add_markets(struct visit *v, int root, struct err *e)
{
    for (const char *const *name = plugin_marketplaces; *name; name++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str text;

        if (!fs_exists_at(root, *name))
            continue;
        return fs_read_file_at(root, *name, MARKETPLACE_MAX_BYTES, &a, &text,
                               e) &&
               offered_add_market(&v->entries, text, str_cstr(*name),
                                  v->now.origin, e);
    }
    return true;
}

static bool read_folder(struct visit *v, struct err *e)
{
    static const struct fetch_offer itself = {DOC_SKILL, {"", 0}, false};
    CLEANUP_FD int root = -1;
    struct fetch_offer *offers;
    size_t count;

    if (!fs_open_dir(str_dup0(v->origin.path, &v->a), &root, e) ||
        !folder_offers(root, true, &v->a, &offers, &count, e) ||
        !add_markets(v, root, e) ||
        (fs_exists_at(root, "SKILL.md") && !add_package(v, root, &itself, e)))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!add_package(v, root, &offers[i], e))
            return false;
    return true;
}

/* Returns a hash of the offered entries, independent of the order in which they
 * were read. */
static struct str offered_hash(struct visit *v)
{
    struct hash_state h;
    struct hash hash;

    hash_init(&h);
    offered_deduplicate(&v->entries);
    for (size_t i = 0; i < v->entries.count; i++) {
        const struct search_entry *x = &v->entries.items[i];
        const struct str parts[] = {x->name, x->description, x->tags, x->data};

        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
            hash_add(&h, parts[k]);
            hash_add(&h, STR("\n"));
        }
    }
    hash = hash_end(&h);
    return hash_hex(&hash, &v->a);
}

static void refresh_folder(struct refresh *r, struct visit *v)
{
    struct err e = {0};

    if (!read_folder(v, &e)) {
        fail(r, v, &e);
        return;
    }
    v->now.condition = offered_hash(v);
    if (v->out->catalog.count &&
        str_eq(v->now.condition, v->out->catalog.condition))
        finish_unchanged(r, v);
    else
        finish(r, v);
}

/* --- all ---------------------------------------------------------------------------------- */

static void begin_visit(struct refresh *r, struct visit *v,
                        const struct discover_catalog *c,
                        struct discover_change *out)
{
    struct err e = {0};

    *out = (struct discover_change){.catalog = *c};
    v->out = out;
    v->now = (struct discover_catalog){.origin = c->origin,
                                       .is_index = c->is_index,
                                       .is_folder = c->is_folder};
    v->entries.a = &v->a;
    if (!c->is_index &&
        !origin_parse_argument(c->origin, r->cx->cwd, r->cx->home,
                               &r->user->rules, &v->a, &v->origin, &e))
        fail(r, v, &e);
}

bool discover_refresh(struct context *cx, const struct layer *user,
                      struct store *store,
                      const struct discover_catalog *catalogs, size_t count,
                      struct discover_change *out, struct err *e)
{
    struct refresh r = {.cx = cx,
                        .user = user,
                        .store = store,
                        .session = {.dirfd = -1, .part_fd = -1},
                        .count = count};
    size_t repositories = 0;
    bool ok = true;

    for (size_t i = 0; cx->is_offline && i < count; i++)
        if (!catalogs[i].is_folder)
            return err_set(e, ERR_OFFLINE, "catalogs are on the network");
    r.visits = arena_array(&cx->arena, count + 1, sizeof *r.visits);
    for (size_t i = 0; i < count; i++) {
        begin_visit(&r, &r.visits[i], &catalogs[i], &out[i]);
        repositories += is_repository(&catalogs[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (catalogs[i].is_index)
            refresh_index(&r, &r.visits[i]);
        else if (catalogs[i].is_folder && !r.visits[i].out->failed)
            refresh_folder(&r, &r.visits[i]);
    if (repositories)
        ok = refresh_repositories(&r, e);
    for (size_t i = 0; i < count; i++)
        arena_done(&r.visits[i].a);
    return ok;
}
