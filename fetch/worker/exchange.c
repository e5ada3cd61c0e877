#include <malloc.h>

#include "session.h"

#define BODY_MAX_BYTES         (128u * 1024)
#define HISTORY_PACK_MAX_BYTES (16ull << 20)

static struct request_slot *slot_of(const struct exchange *x)
{
    return &x->repo->slots[x->kind];
}

struct exchange *exchange_open(struct repo *r, enum request_kind kind)
{
    struct exchange *x = heap_alloc(sizeof *x);

    x->repo = r;
    x->kind = kind;
    x->transport = r->transport;
    x->place = r->place;
    buf_init(&x->body, BODY_MAX_BYTES);
    ref_list_init(&x->refs, &r->arena);
    return x;
}

#define GIVE_BACK_MIN_BYTES (256u * 1024)

/* Discarded objects of a large pack leave the heap fragmented. */
static void give_back(uint64_t received)
{
    if (received >= GIVE_BACK_MIN_BYTES)
        malloc_trim(0);
}

void exchange_close(struct exchange *x)
{
    uint64_t bytes = x->received;

    if (slot_of(x)->busy == x)
        slot_of(x)->busy = NULL;
    if (x->kind == REQUEST_CAPS && x->place->asking == x->repo)
        x->place->asking = NULL;
    x->transport->close(x);
    pack_close(&x->pack);
    if (x->has_begun) {
        advert_done(&x->advert);
        ls_refs_done(&x->ls_refs);
        fetch_answer_done(&x->fetch);
    }
    buf_done(&x->body);
    arena_done(&x->arena);
    heap_free(x);
    give_back(bytes);
}

/* --- objects of a pack ---------------------------------------------------- */

/* Accepts the target of a symbolic link; other blobs were not requested. */
static void take_link(struct exchange *x, const struct oid *id,
                      struct str bytes)
{
    struct repo *r = x->repo;
    struct loose_object *t = map_find(&r->loose_objects, oid_key(id));
    char hex[OID_HEX_CHARS + 1];
    struct err e;

    if (t && bytes.n > TREE_LINK_MAX_BYTES) {
        oid_format(id, hex);
        err_set(&e, ERR_REFUSED,
                "a symbolic link in %.*s (object %s) has a target of %zu "
                "bytes, more than %d",
                STR_ARG(r->name), hex, bytes.n, TREE_LINK_MAX_BYTES);
        err_hint(&e, "no file system has such a path: the link has to be "
                     "corrected in the repository");
        t->why = repo_keep_err(r, &e);
    } else if (t) {
        objects_put(&r->objects, OBJECT_BLOB, id, bytes);
    }
    x->unrequested += t == NULL;
}

static bool take_below(void *ctx, const struct oid *id, struct str bytes,
                       struct err *e)
{
    struct exchange *x = ctx;
    struct blob *b = blob_get(x->repo, id);

    return b->state == BLOB_HERE || b->state == BLOB_STORED ||
           blob_arrived(x->repo, b, bytes, e);
}

static bool take_blob(struct exchange *x, const struct oid *id,
                      struct str bytes, struct err *e)
{
    struct repo *r = x->repo;
    struct blob *b;

    if (x->kind == REQUEST_LOOSE_OBJECTS || x->kind == REQUEST_FOLDERS) {
        take_link(x, id, bytes);
        return true;
    }
    if (x->takes_all)
        return !reachable_add_blob(&x->reachable, id, bytes) ||
               take_below(x, id, bytes, e);
    b = map_find(&r->blobs, oid_key(id));
    if (b && b->state == BLOB_COMING)
        return blob_arrived(r, b, bytes, e);
    x->unrequested += b == NULL;
    return true;
}

static bool on_object(void *ctx, enum object_type type, const struct oid *id,
                      struct str bytes, struct err *e)
{
    struct exchange *x = ctx;

    x->repo->session->object_count++;
    x->repo->is_dirty = true;
    if (x->kind == REQUEST_REACHABILITY) {
        if (type == OBJECT_COMMIT)
            objects_put(x->checking_ancestry ? &x->repo->history : &x->objects,
                        type, id, bytes);
        return true;
    }
    if (type == OBJECT_BLOB)
        return take_blob(x, id, bytes, e);
    if (type == OBJECT_TAG)
        return true;
    objects_put(&x->repo->objects, type, id, bytes);
    return !x->takes_all || reachable_add(&x->reachable, &x->repo->objects, id,
                                          take_below, x, e);
}

/* Returns the blob if its content is in a part, which can be read again. */
static struct blob *find_written(const struct exchange *x, const struct oid *id)
{
    struct blob *b = map_find(&x->repo->blobs, oid_key(id));

    return b && b->state == BLOB_HERE && b->size < PACK_OBJECT_MAX_BYTES ? b
                                                                         : NULL;
}

static bool on_keeps(void *ctx, enum object_type type, const struct oid *id)
{
    const struct exchange *x = ctx;

    return type == OBJECT_BLOB ? find_written(x, id) != NULL
                               : objects_find(&x->repo->objects, id) != NULL;
}

static bool on_base(void *ctx, const struct oid *id, struct arena *a,
                    const struct object **out, struct err *e)
{
    struct exchange *x = ctx;
    struct blob *b = find_written(x, id);
    struct object *o;

    *out = objects_find(&x->repo->objects, id);
    if (*out || !b)
        return true;
    *out = o = arena_new(a, struct object);
    *o = (struct object){.id = *id, .type = OBJECT_BLOB};
    return blob_read(x->repo, b, a, &o->bytes, e);
}

static bool on_pack(void *ctx, struct str bytes, struct err *e)
{
    struct exchange *x = ctx;

    if (x->kind == REQUEST_REACHABILITY && x->is_filtered &&
        pack_byte_count(x->pack) + bytes.n > HISTORY_PACK_MAX_BYTES)
        return err_set(e, ERR_LIMIT,
                       "more than %llu MiB of history to prove a commit",
                       HISTORY_PACK_MAX_BYTES >> 20);
    return pack_feed(x->pack, bytes, e);
}

/* --- response ------------------------------------------------------------- */

/* Too many trees: keeps the received ones; the others are fetched one by
 * one. */
static bool cut(struct exchange *x)
{
    struct err ignored = {0};

    x->is_cut = true;
    if (!fetch_answer_cut(&x->fetch, &ignored))
        err_clear(&ignored); /* on failure, one tree less is available */
    err_set(&x->why, ERR_LIMIT, "more than %d bytes of trees",
            FETCH_TREES_MAX_BYTES);
    x->fetch.fault = WIRE_PACK;
    return false;
}

bool exchange_feed(struct exchange *x, struct str bytes)
{
    x->received += bytes.n;
    switch (x->kind) {
    case REQUEST_CAPS:
        return advert_feed(&x->advert, bytes, &x->why);
    case REQUEST_REFS:
        return ls_refs_feed(&x->ls_refs, bytes, &x->why);
    default:
        if (!fetch_answer_feed(&x->fetch, bytes, &x->why))
            return false;
        return !x->may_cut || x->received <= FETCH_TREES_MAX_BYTES ||
               pack_is_whole(x->pack) || cut(x);
    }
}

bool exchange_is_whole(const struct exchange *x)
{
    switch (x->kind) {
    case REQUEST_CAPS:
        return advert_is_whole(&x->advert);
    case REQUEST_REFS:
        return x->ls_refs.ended;
    default:
        return fetch_answer_is_whole(&x->fetch) && pack_is_whole(x->pack);
    }
}

static bool end(struct exchange *x)
{
    if (x->why.code != ERR_NONE)
        return false;
    switch (x->kind) {
    case REQUEST_CAPS:
        return advert_end(&x->advert, &x->why);
    case REQUEST_REFS:
        return ls_refs_end(&x->ls_refs, &x->why);
    default:
        if (!fetch_answer_end(&x->fetch, &x->why))
            return false;
        if (pack_end(x->pack, &x->why))
            return true;
        x->fetch.fault = WIRE_PACK;
        return false;
    }
}

enum wire_fault exchange_fault(const struct exchange *x)
{
    switch (x->kind) {
    case REQUEST_CAPS:
        return x->advert.fault;
    case REQUEST_REFS:
        return x->ls_refs.fault;
    default:
        return x->fetch.fault;
    }
}

/* --- outcome -------------------------------------------------------------- */

static enum outcome evaluate_pack(struct exchange *x, struct err *e)
{
    if (x->is_cut)
        return OUTCOME_OK;
    if (e->code == ERR_LIMIT)
        return OUTCOME_BAD_WANT;
    return e->code == ERR_DAMAGED ? OUTCOME_LATER : OUTCOME_DEAD;
}

bool exchange_was_refused(struct exchange *x)
{
    struct repo *r = x->repo;

    if (x->had_caps)
        return false;
    r->needs_caps = !r->has_caps && place_refused(r);
    return true;
}

static enum outcome evaluate_fault(struct exchange *x, struct err *e)
{
    struct repo *r = x->repo;

    *e = x->why;
    if (e->code == ERR_NONE)
        err_set(e, ERR_FETCH, "the response ended early");
    err_wrap(e, "an answer from %s", repo_shown(r));
    switch (exchange_fault(x)) {
    case WIRE_NOT_GIT:
    case WIRE_REMOTE:
        if (!r->refusal)
            r->refusal = repo_keep_err(r, e);
        return exchange_was_refused(x) ? OUTCOME_AGAIN : OUTCOME_DEAD;
    case WIRE_EMPTY:
        return exchange_was_refused(x) ? OUTCOME_AGAIN : OUTCOME_DEAD;
    case WIRE_NO_FILTER:
        if (!x->is_filtered)
            return OUTCOME_DEAD;
        place_refused_filter(r);
        return OUTCOME_AGAIN;
    case WIRE_CUT:
        return OUTCOME_LATER;
    case WIRE_BUSY:
        return x->transport->evaluate_busy(x, e);
    case WIRE_NO_OBJECT:
    case WIRE_NO_WANT:
        return OUTCOME_BAD_WANT;
    case WIRE_PACK:
        return evaluate_pack(x, e);
    default:
        return OUTCOME_DEAD;
    }
}

enum outcome exchange_evaluate(struct exchange *x, struct err *e)
{
    enum outcome v = x->transport->evaluate(x, e);

    if (v != OUTCOME_OK)
        return v;
    return end(x) ? OUTCOME_OK : evaluate_fault(x, e);
}

/* --- request -------------------------------------------------------------- */

/* Translates prefixes: "main" to refs/heads/main and refs/tags/main, "" to all
 * branches and tags; "HEAD" and prefixes of tags are unchanged. */
static void put_refs(struct exchange *x)
{
    struct str *out = arena_array(&x->arena, 2 * x->prefix_count, sizeof *out);
    size_t n = 0;

    for (size_t i = 0; i < x->prefix_count; i++) {
        struct str p = x->prefixes[i];

        if (str_is(p, "HEAD") || str_starts(p, ALL_TAGS)) {
            out[n++] = p;
            continue;
        }
        out[n++] = arena_printf(&x->arena, "refs/heads/%.*s", STR_ARG(p));
        out[n++] = arena_printf(&x->arena, "refs/tags/%.*s", STR_ARG(p));
    }
    ls_refs_request(&x->body, out, n);
}

/* Replaces the wants by advertised ids, if the server accepts no others. */
static void name_as_advertised(struct exchange *x, struct fetch_args *args)
{
    struct oid *ids = arena_array(&x->arena, args->want_count, sizeof *ids);

    for (size_t i = 0; i < args->want_count; i++) {
        const struct oid *id = advertised_id(x->repo, &args->wants[i]);

        ids[i] = id ? *id : args->wants[i];
    }
    args->wants = ids;
}

static void put_fetch(struct exchange *x, struct fetch_args *args)
{
    const struct caps *caps = &x->repo->caps;
    struct pack_limits limits = pack_limits_of(&x->repo->session->limits);
    struct pack_sink sink = {.object = on_object,
                             .keeps = on_keeps,
                             .base = on_base,
                             .may_lack_bases = args->thin,
                             .ctx = x};

    if (!x->wants) {
        x->wants = args->wants;
        x->want_count = args->want_count;
    }
    if (!caps->any_object)
        name_as_advertised(x, args);
    x->is_filtered = args->filter != NULL;
    x->pack = pack_open(&limits, &sink);
    objects_init(&x->objects, &x->arena);
    reachable_init(&x->reachable, &x->arena, x->wants, x->want_count);
    if (caps->version == 0) {
        fetch_request_v0(&x->body, args, caps);
        fetch_answer_init_v0(&x->fetch, args, caps, on_pack, x);
    } else {
        fetch_request(&x->body, args);
        fetch_answer_init(&x->fetch, on_pack, x);
    }
    x->fetch.bands.idle_bytes = slot_of(x)->idle_bytes;
}

static bool start(struct exchange *x, struct fetch_args *args, struct err *e)
{
    struct repo *r = x->repo;

    x->has_begun = true;
    x->had_caps = r->has_caps || x->kind == REQUEST_CAPS;
    x->had_any = r->caps.any_object;
    if (x->kind == REQUEST_CAPS) {
        advert_init(&x->advert, &x->refs, r->transport->has_service_line);
    } else if (x->kind == REQUEST_REFS) {
        ls_refs_init(&x->ls_refs, &x->refs);
        put_refs(x);
    } else if (args) {
        put_fetch(x, args);
    }
    if (!buf_check(&x->body, "a request", e))
        return false;
    slot_of(x)->busy = x;
    return x->transport->start(x, e);
}

/* A request that cannot be sent fails its repository, not the whole fetch. */
void exchange_start(struct exchange *x, struct fetch_args *args)
{
    struct repo *r = x->repo;
    struct err e = {0};

    if (start(x, args, &e))
        return;
    r->dead = repo_keep_err(r, &e);
    r->is_dirty = true;
    exchange_close(x);
}
