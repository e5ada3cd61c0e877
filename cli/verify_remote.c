#include "verify_remote.h"

#include "base/proc.h"
#include "mapm/fetch.h"

struct check {
    struct invocation *inv;
    const struct layer *layer;
    struct store *store;
    const struct lock_entry **entries; /* by id */
    size_t count;
    void (*found)(void *ctx, const struct lock_entry *entry, const char *how);
    void *ctx;
    size_t failed;
    struct err why; /* of the first */
};

/* An answer about the commit, not a failure to get one. */
static bool is_answer(enum err_code code)
{
    return code == ERR_REFUSED || code == ERR_REF || code == ERR_LIMIT;
}

/* Known by now where the ref ends, and so the path: the proof is of it. */
static bool is_proved_at(const struct check *c, const struct lock_entry *entry,
                         struct str path, struct arena *a)
{
    struct store_proof p = {
        .repository = origin_repository(layer_origin(c->layer, entry), a),
        .commit = entry->commit,
        .path = path,
        .object = entry->object,
    };

    return hash_parse(str_from_index(entry->digest, 7), &p.digest) &&
           store_has_proof(c->store, &p);
}

static void take_event(struct check *c, const struct fetch_event *event,
                       struct arena *a)
{
    const struct lock_entry *entry =
        event->id < c->count ? c->entries[event->id] : NULL;

    if (!entry)
        return;
    if (event->kind == FETCH_REF_FOUND) {
        if (!is_proved_at(c, entry, event->path, a))
            c->found(c->ctx, entry, "not proved at the path of its origin");
    } else if (event->kind == FETCH_FAILED && is_answer(event->err->code)) {
        c->found(c->ctx, entry,
                 str_c(str_from(err_first(event->err)), &c->inv->arena));
    } else if (event->kind == FETCH_FAILED && c->failed++ == 0) {
        c->why = *event->err;
        err_wrap(&c->why, "cannot look at %.*s", STR_ARG(entry->origin));
    }
}

static bool ask_all(struct check *c, struct fetch *fetch, struct err *e)
{
    struct fetch_event event = {.kind = FETCH_REF_FOUND};

    for (size_t i = 0; i < c->count; i++) {
        struct fetch_want want = {.id = (unsigned)i,
                                  .what = FETCH_REACH,
                                  .kinds = (unsigned)c->entries[i]->kind,
                                  .origin =
                                      *layer_origin(c->layer, c->entries[i]),
                                  .commit = c->entries[i]->commit};

        if (!fetch_ask(fetch, &want, e))
            return false;
    }
    while (event.kind != FETCH_IDLE) {
        CLEANUP(arena_done) struct arena scratch = {0};

        if (!fetch_next(fetch, &scratch, &event, e))
            return false;
        if (event.kind != FETCH_IDLE)
            take_event(c, &event, &scratch);
    }
    return true;
}

static bool run(struct check *c, struct err *e)
{
    struct store_session session = {.dirfd = -1};
    struct fetch_options o = {
        .hosts = c->layer->rules.hosts,
        .host_count = c->layer->rules.host_count,
        .limits = &c->layer->limits,
        .verbose = has_option(c->inv, OPTION_VERBOSE),
    };
    struct fetch *fetch = NULL;
    bool ok;

    proc_catch_signals();
    if (!store_session_begin(c->store, &session, e))
        return false;
    o.incoming = session.path;
    ok = fetch_open(&o, &fetch, e) && ask_all(c, fetch, e);
    fetch_close(fetch);
    store_session_end(c->store, &session);
    return ok;
}

bool verify_remote(struct invocation *inv, const struct layer *l,
                   struct store *store,
                   void (*found)(void *ctx, const struct lock_entry *entry,
                                 const char *how),
                   void *ctx, struct err *e)
{
    struct check c = {
        .inv = inv, .layer = l, .store = store, .found = found, .ctx = ctx};
    const struct lock_entry **entries;
    size_t count;

    entries = layer_entries(l, &inv->arena, &count);
    c.entries = arena_array(&inv->arena, count + 1, sizeof *c.entries);
    for (size_t i = 0; i < count; i++)
        if (layer_origin(l, entries[i])->scheme == ORIGIN_GIT)
            c.entries[c.count++] = entries[i];
    if (c.count && has_option(inv, OPTION_OFFLINE))
        return err_set(e, ERR_OFFLINE, "verify --remote asks the network");
    if (c.count && !run(&c, e))
        return false;
    if (c.failed)
        *e = c.why;
    if (c.failed > 1)
        err_also(e, "and %zu more", c.failed - 1);
    return c.failed == 0;
}
