#include "base/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

#define PREFIX_ASKED   'a'
#define PREFIX_KNOWN   'k'
#define AGAIN_MAX      20
#define TRIES_MAX      4
#define BACKOFF_MS     200
#define JITTER_MS      100
#define THING_TRIES    3
#define RETRY_AFTER_MS 1000u

static struct str key_of(const struct oid *id)
{
    return str_of((const char *)id->b, OID_BYTES);
}

struct snapshot *snapshot_get(struct repo *r, const struct oid *commit)
{
    struct snapshot *s = r->snapshots;

    while (s && !oid_eq(&s->commit, commit))
        s = s->next;
    if (s)
        return s;
    s = arena_new(&r->arena, struct snapshot);
    s->commit = *commit;
    s->next = r->snapshots;
    r->snapshots = s;
    return s;
}

static struct thing *thing_get(struct repo *r, const struct oid *id)
{
    struct thing *t = map_find(&r->things, key_of(id));

    if (t)
        return t;
    t = arena_new(&r->arena, struct thing);
    t->id = *id;
    map_put(&r->things, key_of(&t->id), t);
    return t;
}

const struct err *thing_want(struct repo *r, const struct oid *id)
{
    return thing_get(r, id)->why;
}

static bool thing_is_here(const struct repo *r, const struct thing *t)
{
    return objects_find(&r->objects, &t->id) != NULL;
}

static const struct err *keep_err(struct repo *r, const struct err *e)
{
    struct err *copy = arena_new(&r->arena, struct err);

    *copy = *e;
    return copy;
}

/* --- wants of one request ------------------------------------------------- */

struct wants {
    struct exchange *x;
    struct oid *ids;
    size_t count, max;
    struct blob **blobs;
    size_t blob_count, blob_capacity;
};

static void wants_init(struct wants *w, struct exchange *x)
{
    struct lane *lane = &x->repo->lanes[x->lane];

    if (lane->batch == 0 || lane->batch > FETCH_WANTS_MAX)
        lane->batch = FETCH_WANTS_MAX;
    *w = (struct wants){.x = x, .max = lane->batch};
    w->ids = arena_array(&x->arena, w->max, sizeof *w->ids);
}

static bool wants_have_room(const struct wants *w)
{
    return w->count < w->max;
}

static void wants_put(struct wants *w, const struct oid *id)
{
    w->ids[w->count++] = *id;
}

static void wants_take(struct wants *w, struct blob *b)
{
    w->blobs = arena_grow(&w->x->arena, w->blobs, w->blob_count,
                          &w->blob_capacity, sizeof(struct blob *));
    w->blobs[w->blob_count++] = b;
    b->state = BLOB_COMING;
}

/* Sends it, or throws it away when nothing is wanted. */
static bool wants_send(struct wants *w, struct fetch_wish *wish, struct err *e)
{
    struct exchange *x = w->x;
    struct repo *r = x->repo;

    if (w->count == 0) {
        exchange_close(x);
        return true;
    }
    x->blobs = w->blobs;
    x->blob_count = w->blob_count;
    wish->wants = w->ids;
    wish->want_count = w->count;
    if (exchange_start(x, wish, e))
        return true;
    r->dead = keep_err(r, e);
    r->is_dirty = true;
    exchange_close(x);
    return true;
}

/* --- each lane's next request --------------------------------------------- */

static bool start_caps(struct repo *r, struct err *e)
{
    struct exchange *x;

    if (!r->needs_caps)
        return true;
    x = exchange_open(r, LANE_CAPS);
    if (exchange_start(x, NULL, e))
        return true;
    r->dead = keep_err(r, e);
    r->is_dirty = true;
    exchange_close(x);
    return true;
}

/* map has no removal: what is known of a prefix is a letter. */
static const char prefix_marks[] = {PREFIX_ASKED, PREFIX_KNOWN};

static void mark_prefix(struct repo *r, struct str prefix, char mark)
{
    const char *p =
        mark ? memchr(prefix_marks, mark, sizeof prefix_marks) : NULL;

    map_put(&r->prefixes, prefix, (void *)(uintptr_t)p);
}

static char prefix_mark(const struct repo *r, struct str prefix)
{
    const char *p = map_find(&r->prefixes, prefix);

    return p ? *p : '\0';
}

bool refs_are_known(const struct repo *r, struct str prefix)
{
    return prefix_mark(r, prefix) == PREFIX_KNOWN ||
           (r->all_refs_known &&
            (r->caps.version == 0 || !str_is(prefix, "HEAD")));
}

static void add_prefix(struct repo *r, struct exchange *x, struct str *list,
                       struct str prefix)
{
    if (r->all_refs_known && !str_is(prefix, "HEAD"))
        return;
    if (map_find(&r->prefixes, prefix) == NULL) {
        list[x->prefix_count++] = prefix;
        mark_prefix(r, prefix, PREFIX_ASKED);
    }
}

static bool start_refs(struct repo *r, struct err *e)
{
    struct exchange *x;
    struct str *list;

    if (r->caps.version == 0) {
        /* Another repository of the host showed what it can do. */
        r->needs_caps = !r->all_refs_known && !r->lanes[LANE_CAPS].busy;
        return r->needs_caps ? start_caps(r, e) : true;
    }
    x = exchange_open(r, LANE_REFS);
    list = arena_array(&x->arena, r->open_count + 2, sizeof *list);
    for (struct ask *a = r->asks; a; a = a->next)
        if (a->stage == ASK_REFS)
            add_prefix(r, x, list, a->prefix);
    for (struct snapshot *s = r->snapshots; s; s = s->next)
        if (s->proof == PROOF_START)
            add_prefix(r, x, list, STR("HEAD"));
    if (r->wants_all_refs)
        add_prefix(r, x, list, str_of("", 0));
    x->prefixes = list;
    if (x->prefix_count == 0) {
        exchange_close(x);
        return true;
    }
    if (exchange_start(x, NULL, e))
        return true;
    r->dead = keep_err(r, e);
    r->is_dirty = true;
    exchange_close(x);
    return true;
}

static bool start_trees(struct repo *r, struct err *e)
{
    struct exchange *x = exchange_open(r, LANE_TREES);
    struct fetch_wish wish = {.deepen = r->caps.shallow};
    struct wants w;
    bool walked = false;

    wants_init(&w, x);
    for (struct snapshot *s = r->snapshots; s && wants_have_room(&w);
         s = s->next) {
        if (!s->is_wanted || s->trees != TREES_NEEDED ||
            (w.count && s->is_walked != walked))
            continue;
        walked = s->is_walked;
        wants_put(&w, &s->commit);
        s->trees = TREES_COMING;
    }
    if (r->caps.filter && r->caps.version != 0)
        wish.filter = walked ? "tree:0" : "blob:none";
    x->takes_all = wish.filter == NULL;
    x->may_be_many = !walked && wish.filter;
    return wants_send(&w, &wish, e);
}

static bool start_things(struct repo *r, struct err *e)
{
    struct exchange *x = exchange_open(r, LANE_THINGS);
    struct fetch_wish wish = {0};
    struct wants w;
    bool walked = false;

    wants_init(&w, x);
    for (size_t i = 0; i < r->things.count && wants_have_room(&w); i++) {
        struct thing *t = r->things.entries[i].value;

        if (t->why || t->is_coming || thing_is_here(r, t))
            continue;
        t->is_coming = true;
        wants_put(&w, &t->id);
    }
    for (struct snapshot *s = r->snapshots; s; s = s->next)
        walked |= s->is_walked;
    if (r->caps.filter)
        wish.filter = walked ? "tree:0" : "blob:none";
    return wants_send(&w, &wish, e);
}

/* A tree brings all its blobs: one want instead of many. Only when none of
 * them is here yet, and no link leads elsewhere. */
static bool may_want_tree(const struct ask *a)
{
    const struct tree_listing *l = &a->listing;

    if (a->repo->no_tree_wants || a->is_by_blob || l->kind != TREE_FOLDER ||
        l->has_links || l->count < 2)
        return false;
    for (size_t i = 0; i < l->count; i++)
        if (a->blobs[i]->state != BLOB_MISSING &&
            a->blobs[i]->state != BLOB_COMING)
            return false;
    return true;
}

static void want_files(struct wants *w, struct ask *a)
{
    bool by_tree = may_want_tree(a), any = false;

    for (size_t i = 0; i < a->listing.count; i++) {
        struct blob *b = a->blobs[i];

        if (b->state != BLOB_MISSING)
            continue;
        if (!by_tree && !wants_have_room(w))
            return;
        if (!by_tree)
            wants_put(w, &b->id);
        wants_take(w, b);
        any = true;
    }
    if (by_tree && any)
        wants_put(w, &a->listing.id);
}

static bool want_soon(struct wants *w, struct err *e)
{
    struct repo *r = w->x->repo;
    struct blob **soon;
    size_t count = 0;

    soon = arena_array(&w->x->arena, w->max, sizeof(struct blob *));
    if (!speculate(r, &w->x->arena, soon, w->max - w->count, &count, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        wants_put(w, &soon[i]->id);
        wants_take(w, soon[i]);
    }
    return true;
}

static bool start_blobs(struct repo *r, struct err *e)
{
    struct exchange *x;
    struct fetch_wish wish = {0};
    struct wants w;

    if (r->caps.version == 0)
        return true; /* the snapshot brought all that there is */
    x = exchange_open(r, LANE_BLOBS);
    wants_init(&w, x);
    for (struct ask *a = r->asks; a && wants_have_room(&w); a = a->next) {
        if (a->stage == ASK_OBJECT && !a->object_coming && !a->object_why) {
            a->object_coming = x->takes_all = true;
            wants_put(&w, &a->pinned);
        } else if (a->stage == ASK_FILES) {
            want_files(&w, a);
        }
    }
    if (w.count && !want_soon(&w, e)) {
        exchange_close(x);
        return false;
    }
    return wants_send(&w, &wish, e);
}

static bool start_proof(struct repo *r, struct err *e)
{
    struct snapshot *s = r->snapshots;
    struct exchange *x;
    struct fetch_wish wish = {0};
    struct wants w;
    struct oid *tips;
    size_t count;

    while (s && s->proof != PROOF_CHAIN && s->proof != PROOF_ALL)
        s = s->next;
    if (s == NULL)
        return true;
    x = exchange_open(r, LANE_PROOF);
    x->proving = s;
    wants_init(&w, x);
    proof_tips(r, s, &x->arena, &tips, &count);
    if (count == 0) { /* no branch at all: nothing leads there */
        proof_judge(r, s, &x->objects, NULL, 0);
        r->is_dirty = true;
    }
    for (size_t i = 0; i < count && wants_have_room(&w); i++)
        wants_put(&w, &tips[i]);
    wish.haves = &s->commit;
    wish.have_count = 1;
    wish.filter = r->caps.filter ? "tree:0" : NULL;
    return wants_send(&w, &wish, e);
}

bool lanes_start(struct repo *r, uint64_t *wait_ms, struct err *e)
{
    static bool (*const start[])(struct repo * r, struct err * e) = {
        [LANE_CAPS] = start_caps,   [LANE_REFS] = start_refs,
        [LANE_TREES] = start_trees, [LANE_THINGS] = start_things,
        [LANE_BLOBS] = start_blobs, [LANE_PROOF] = start_proof,
    };
    uint64_t now = proc_now_ms();

    for (size_t i = 0; i < LANE_COUNT && !r->dead; i++) {
        struct lane *lane = &r->lanes[i];

        if (lane->busy || r->open_count == 0 ||
            (r->needs_caps && i != LANE_CAPS))
            continue;
        if (lane->not_before_ms > now) {
            if (lane->not_before_ms - now < *wait_ms)
                *wait_ms = lane->not_before_ms - now;
            continue;
        }
        if (!start[i](r, e))
            return false;
    }
    return true;
}

/* --- what came of it ------------------------------------------------------ */

static void take_refs(struct exchange *x)
{
    struct repo *r = x->repo;

    for (size_t i = 0; i < x->prefix_count; i++) {
        mark_prefix(r, x->prefixes[i], PREFIX_KNOWN);
        r->all_refs_known |= x->prefixes[i].n == 0;
    }
    for (size_t i = 0; i < x->refs.count; i++) {
        r->refs.items = arena_grow(&r->arena, r->refs.items, r->refs.count,
                                   &r->refs.capacity, sizeof *r->refs.items);
        r->refs.items[r->refs.count++] = x->refs.items[i];
    }
}

static void take_caps(struct exchange *x)
{
    struct repo *r = x->repo;
    struct err e;

    r->caps = x->advert.caps;
    r->has_caps = true;
    r->needs_caps = false;
    if (r->caps.sha256) {
        err_set(&e, ERR_FETCH, "%.*s names objects by SHA-256: not supported",
                STR_ARG(r->name));
        r->dead = keep_err(r, &e);
        return;
    }
    if (r->caps.version != 0 && !r->caps.fetch) {
        err_set(&e, ERR_FETCH, "the server of %.*s offers no fetch",
                STR_ARG(r->name));
        r->dead = keep_err(r, &e);
        return;
    }
    r->place->caps = r->caps;
    r->place->has_caps = true;
    if (r->caps.version == 0) {
        r->all_refs_known = true;
        take_refs(x);
    }
}

/* False: a commit is not among what came. */
static bool take_trees(struct exchange *x, struct err *e)
{
    struct repo *r = x->repo;
    bool all = true;

    for (size_t i = 0; i < x->want_count; i++) {
        struct snapshot *s = snapshot_get(r, &x->wants[i]);
        const struct object *o = objects_find(&r->objects, &s->commit);
        struct err bad = {0};

        if (o == NULL) {
            s->trees = TREES_NEEDED;
            all = false;
        } else if (o->type == OBJECT_COMMIT &&
                   commit_tree(o->bytes, &s->root, &bad)) {
            s->trees = TREES_HERE;
            if (!s->is_walked)
                bundle_save(r, s);
        } else {
            if (bad.code == ERR_NONE)
                err_set(&bad, ERR_REF, "that is the id of a %s, not a commit",
                        object_type_name(o->type));
            s->why = keep_err(r, &bad);
            s->trees = TREES_FAILED;
        }
    }
    return all || err_set(e, ERR_DAMAGED, "the server left out a commit");
}

static void take_things(struct exchange *x)
{
    struct repo *r = x->repo;

    for (size_t i = 0; i < x->want_count; i++) {
        struct thing *t = thing_get(r, &x->wants[i]);
        struct err e;

        t->is_coming = false;
        if (thing_is_here(r, t) || ++t->tries < THING_TRIES)
            continue;
        err_set(&e, ERR_DAMAGED, "the server left out a part of the tree");
        t->why = keep_err(r, &e);
    }
}

/* The wants that did not come are wanted again. True: some are missing. */
static bool release_blobs(struct exchange *x)
{
    struct repo *r = x->repo;
    bool missing = false;

    for (size_t i = 0; i < x->blob_count; i++) {
        if (x->blobs[i]->state == BLOB_COMING) {
            x->blobs[i]->state = BLOB_MISSING;
            missing = true;
        }
    }
    for (struct ask *a = r->asks; a; a = a->next) {
        if (a->stage == ASK_OBJECT && a->object_coming) {
            const struct blob *b = map_find(&r->blobs, key_of(&a->pinned));

            a->object_coming = false;
            missing |= objects_find(&r->objects, &a->pinned) == NULL &&
                       (b == NULL || b->state != BLOB_HERE);
        }
    }
    return missing;
}

/* Nothing of it is under way any more. */
static void release(struct exchange *x)
{
    struct repo *r = x->repo;

    for (size_t i = 0; i < x->prefix_count; i++)
        mark_prefix(r, x->prefixes[i], '\0');
    for (size_t i = 0; i < x->want_count; i++) {
        if (x->lane == LANE_THINGS)
            thing_get(r, &x->wants[i])->is_coming = false;
        if (x->lane == LANE_TREES)
            snapshot_get(r, &x->wants[i])->trees = TREES_NEEDED;
    }
    if (x->lane == LANE_BLOBS)
        release_blobs(x);
}

static enum verdict take(struct exchange *x, struct err *e)
{
    switch (x->lane) {
    case LANE_CAPS:
        take_caps(x);
        return VERDICT_OK;
    case LANE_REFS:
        take_refs(x);
        return VERDICT_OK;
    case LANE_TREES:
        return take_trees(x, e) ? VERDICT_OK : VERDICT_LATER;
    case LANE_THINGS:
        take_things(x);
        return VERDICT_OK;
    case LANE_PROOF:
        proof_judge(x->repo, x->proving, &x->objects, x->wants, x->want_count);
        return VERDICT_OK;
    default:
        if (!release_blobs(x))
            return VERDICT_OK;
        err_set(e, ERR_DAMAGED, "the server left out what was asked for");
        return VERDICT_LATER;
    }
}

/* The only want of a request could not be had. */
static void fail_want(struct exchange *x, bool gone, const struct err *why)
{
    struct repo *r = x->repo;

    if (x->blob_count == 1 && oid_eq(&x->blobs[0]->id, &x->wants[0])) {
        x->blobs[0]->state = BLOB_FAILED;
        x->blobs[0]->why = why;
        return;
    }
    for (struct ask *a = r->asks; a; a = a->next) {
        if (a->stage == ASK_OBJECT && oid_eq(&a->pinned, &x->wants[0]))
            a->object_why = why;
        /* Its blobs one by one: then only the bad one fails. */
        else if (a->stage == ASK_FILES && oid_eq(&a->listing.id, &x->wants[0]))
            a->is_by_blob = true;
    }
    r->no_tree_wants |= gone;
    r->lanes[LANE_BLOBS].batch = FETCH_WANTS_MAX;
}

/* One want is at fault: halve the request until that one stands alone. */
static void single_out(struct exchange *x, const struct err *why)
{
    struct repo *r = x->repo;
    struct lane *lane = &r->lanes[x->lane];
    bool gone = exchange_fault(x) == WIRE_NO_OBJECT;
    const struct err *kept;

    if (x->want_count > 1 && x->lane != LANE_PROOF) {
        lane->batch = (x->want_count + 1) / 2;
        return;
    }
    kept = keep_err(r, why);
    if (x->lane == LANE_TREES) {
        struct snapshot *s = snapshot_get(r, &x->wants[0]);

        s->trees = TREES_FAILED;
        s->is_gone = gone;
        s->why = kept;
    } else if (x->lane == LANE_THINGS) {
        thing_get(r, &x->wants[0])->why = kept;
    } else if (x->lane == LANE_PROOF) {
        x->proving->proof = PROOF_REFUSED;
        x->proving->why = kept;
    } else {
        fail_want(x, gone, kept);
    }
}

static void try_later(struct exchange *x, struct err *why)
{
    struct lane *lane = &x->repo->lanes[x->lane];
    uint64_t wait = (uint64_t)x->call.retry_after_s * 1000;
    uint64_t backoff = (uint64_t)BACKOFF_MS << lane->tries;

    /* A silence has cost half a minute already: once more, not three times. */
    lane->tries += http_was_slow(&x->call) ? 2 : 1;
    if (lane->tries >= TRIES_MAX) {
        if (!http_was_slow(&x->call))
            err_wrap(why, "tried %u times", lane->tries);
        x->repo->dead = keep_err(x->repo, why);
        return;
    }
    if (wait < backoff)
        wait = backoff;
    lane->not_before_ms = proc_now_ms() + wait + (uint64_t)random() % JITTER_MS;
}

static void say_request(const struct exchange *x)
{
    static const char *const names[] = {
        [LANE_CAPS] = "info/refs", [LANE_REFS] = "ls-refs",
        [LANE_TREES] = "trees",    [LANE_THINGS] = "objects",
        [LANE_BLOBS] = "blobs",    [LANE_PROOF] = "history",
    };

    fprintf(
        stderr, "mapm-fetch: %s %.*s: %zu wanted, HTTP %ld, %llu B, %llu ms\n",
        names[x->lane], STR_ARG(x->repo->key), x->want_count + x->prefix_count,
        x->call.status, (unsigned long long)x->call.received,
        (unsigned long long)x->call.took_ms);
}

static bool finish(struct exchange *x, struct err *e)
{
    struct repo *r = x->repo;
    struct lane *lane = &r->lanes[x->lane];
    struct err why = {0};
    enum verdict v = remote_judge(x, &why);

    if (r->session->verbose)
        say_request(x);
    if (v == VERDICT_OK)
        v = take(x, &why);
    else
        release(x);
    r->is_dirty = true;
    switch (v) {
    case VERDICT_OK:
        lane->tries = lane->again = 0;
        lane->batch *= 2;
        return true;
    case VERDICT_AGAIN:
        if (++lane->again < AGAIN_MAX)
            return true;
        err_set(&why, ERR_FETCH, "the server of %.*s goes round in circles",
                STR_ARG(r->name));
        break;
    case VERDICT_LATER:
        try_later(x, &why);
        return true;
    case VERDICT_BAD_WANT:
        single_out(x, &why);
        return true;
    case VERDICT_GONE:
        *e = why;
        return false;
    case VERDICT_DEAD:
        break;
    }
    r->dead = keep_err(r, &why);
    return true;
}

bool lane_finish(struct exchange *x, struct err *e)
{
    bool ok = finish(x, e);

    exchange_close(x);
    return ok;
}
