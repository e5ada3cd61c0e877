#include "remote.h"

#include "fetch_cache.h"
#include "proof.h"

/* A request about an origin of an entry: its own, or one in `also`. */
struct question {
    const struct lock_entry *entry;
    bool is_own;
    struct origin origin;
    struct str commit; /* "" for the current commit of its ref */
};

struct check {
    struct context *cx;
    const struct layer *layer;
    struct store *store;
    struct question *questions; /* requested nodes by id */
    size_t count, capacity;
    void (*found)(void *ctx, const struct lock_entry *entry, const char *how);
    void *ctx;
    size_t failed;
    struct err why;
};

/* --- asking ----------------------------------------------------------------- */

static bool exchange(struct fetch *fetch, const struct fetch_want *wants,
                     size_t count,
                     void (*answer)(void *ctx, const struct fetch_event *event,
                                    struct arena *a),
                     void *ctx, struct err *e)
{
    struct fetch_event event = {.kind = FETCH_REF_FOUND};

    for (size_t i = 0; i < count; i++)
        if (!fetch_ask(fetch, &wants[i], e))
            return false;
    while (event.kind != FETCH_IDLE) {
        CLEANUP(arena_done) struct arena scratch = {0};

        if (!fetch_next(fetch, &scratch, &event, e))
            return false;
        if (event.kind != FETCH_IDLE)
            answer(ctx, &event, &scratch);
    }
    return true;
}

bool remote_ask(struct context *cx, const struct layer *l, struct store *store,
                const struct fetch_want *wants, size_t count,
                void (*answer)(void *ctx, const struct fetch_event *event,
                               struct arena *a),
                void *ctx, struct err *e)
{
    struct store_session session = {.dirfd = -1};
    struct team_remotes stores;
    struct fetch_options o = {
        .store = fetch_cache_hosts(store),
        .hosts = l->rules.hosts,
        .host_count = l->rules.host_count,
        .limits = &l->limits,
        .stores = &stores,
        .verbose = cx->is_verbose,
        .may_prompt = cx->may_prompt,
    };
    struct fetch *fetch = NULL;
    bool ok;

    if (!context_check_cancelled(cx, e) ||
        !layer_stores(l, cx, store, &stores, e) ||
        !store_session_begin(store, &session, e))
        return false;
    o.incoming = session.path;
    ok = fetch_open(&o, &fetch, e) &&
         exchange(fetch, wants, count, answer, ctx, e);
    fetch_close(fetch);
    store_session_end(store, &session);
    return ok;
}

bool remote_is_answer(enum err_code code)
{
    return code == ERR_REFUSED || code == ERR_REF || code == ERR_LIMIT;
}

/* --- verify --remote -------------------------------------------------------- */

/* Returns the origin to ask for. The ref of a range is its tag; without a tag
 * in the lock, any branch or tag may contain the commit. */
static struct origin asked_origin(struct check *c,
                                  const struct lock_entry *entry,
                                  const struct origin *o, struct str commit)
{
    struct arena *a = &c->cx->arena;
    struct origin own = *layer_origin(c->layer, entry), out = *o;
    bool has_tag = entry->tag.n && origin_is_package_of(&own, o, a);

    if (origin_range(o, a).n && (has_tag || commit.n))
        origin_complete(o, has_tag ? entry->tag : commit, origin_slot_path(o),
                        a, &out);
    return out;
}

/* Returns whether the proof is for the path, which is known now. */
static bool is_proved_at(const struct check *c, const struct question *q,
                         const struct fetch_event *event, struct arena *a)
{
    struct state_proof p = {
        .repository = origin_repository(&q->origin, a),
        .commit = q->commit.n ? q->commit : event->commit,
        .path = proof_path(layer_origin(c->layer, q->entry), event->path,
                           q->entry->catalog_commit, a),
        .object = q->entry->object,
    };

    if (!hash_parse(str_from_index(q->entry->digest, 7), &p.digest))
        return false;
    return state_has_proof(store_state(c->store), &p) ||
           (!q->is_own &&
            proof_has_also(c->store, q->entry, &q->origin, p.commit, a));
}

static const char *not_proved(const struct check *c, const struct question *q)
{
    if (q->is_own)
        return "not proved at the path of its origin";
    return arena_printf(&c->cx->arena, "not proved at the path of %.*s%s",
                        STR_ARG(q->origin.text),
                        q->commit.n ? "" : ", as its ref is now")
        .p;
}

static void take_event(void *ctx, const struct fetch_event *event,
                       struct arena *a)
{
    struct check *c = ctx;
    const struct question *q =
        event->id < c->count ? &c->questions[event->id] : NULL;

    if (!q)
        return;
    if (event->kind == FETCH_REF_FOUND) {
        if (!is_proved_at(c, q, event, a))
            c->found(c->ctx, q->entry, not_proved(c, q));
    } else if (event->kind == FETCH_FAILED &&
               remote_is_answer(event->err->code)) {
        c->found(c->ctx, q->entry,
                 str_dup0(str_cstr(err_first(event->err)), &c->cx->arena));
    } else if (event->kind == FETCH_FAILED && c->failed++ < ERROR_MAX_LINES) {
        struct err why = *event->err;

        err_wrap(&why, "cannot look at %.*s", STR_ARG(q->origin.text));
        err_also_err(&c->why, &why);
    }
}

static void add_question(struct check *c, const struct lock_entry *entry,
                         const struct origin *o)
{
    struct arena *a = &c->cx->arena;
    struct str commit;

    if (o->scheme != ORIGIN_GIT)
        return;
    commit = proof_commit(c->layer, entry, o, a);
    c->questions = arena_grow(a, c->questions, c->count, &c->capacity,
                              sizeof *c->questions);
    c->questions[c->count++] = (struct question){
        .entry = entry,
        .is_own = str_eq(layer_origin(c->layer, entry)->key, o->key),
        .origin = asked_origin(c, entry, o, commit),
        .commit = commit,
    };
}

static bool add_entry(struct check *c, const struct lock_entry *entry,
                      struct err *e)
{
    add_question(c, entry, layer_source(c->layer, entry));
    for (size_t i = 0; i < entry->also_count; i++) {
        struct origin o;

        if (!origin_parse_part(entry->also[i], &c->layer->rules, &c->cx->arena,
                               &o, e))
            return false;
        add_question(c, entry, &o);
    }
    return true;
}

static bool request_all(struct check *c, struct err *e)
{
    struct fetch_want *wants =
        arena_array(&c->cx->arena, c->count, sizeof *wants);

    for (size_t i = 0; i < c->count; i++) {
        const struct question *q = &c->questions[i];

        wants[i] = (struct fetch_want){.id = (unsigned)i,
                                       .what = FETCH_REACH,
                                       .kinds = (unsigned)q->entry->kind,
                                       .origin = q->origin,
                                       .commit = q->commit};
    }
    return remote_ask(c->cx, c->layer, c->store, wants, c->count, take_event, c,
                      e);
}

bool verify_remote(struct context *cx, const struct layer *l,
                   struct store *store,
                   void (*found)(void *ctx, const struct lock_entry *entry,
                                 const char *how),
                   void *ctx, struct err *e)
{
    struct check c = {
        .cx = cx, .layer = l, .store = store, .found = found, .ctx = ctx};
    const struct lock_entry **entries;
    size_t count;

    entries = layer_entries(l, &cx->arena, &count);
    for (size_t i = 0; i < count; i++)
        if (!add_entry(&c, entries[i], e))
            return false;
    if (c.count && cx->is_offline)
        return err_set(e, ERR_OFFLINE, "verify --remote needs the network");
    if (c.count && !request_all(&c, e))
        return false;
    if (c.failed)
        *e = c.why;
    if (c.failed > ERROR_MAX_LINES)
        err_also(e, "and %zu more", c.failed - ERROR_MAX_LINES);
    return c.failed == 0;
}
