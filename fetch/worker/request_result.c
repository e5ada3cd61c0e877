#include "base/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

#define AGAIN_MAX        20
#define TRIES_MAX        4
#define BACKOFF_MS       200
#define JITTER_MS        100
#define THING_TRIES      3
#define STATUS_MAX_BYTES 100 /* for a status such as "HTTP 200" */

/* --- results -------------------------------------------------------------- */

static void take_refs(struct exchange *x)
{
    struct repo *r = x->repo;

    for (size_t i = 0; i < x->prefix_count; i++) {
        refs_mark(r, x->prefixes[i], PREFIX_KNOWN);
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

    if (x->advert.caps.sha256) {
        err_set(&e, ERR_FETCH, "%.*s names objects by SHA-256: not supported",
                STR_ARG(r->name));
        r->dead = repo_keep_err(r, &e);
        return;
    }
    if (x->advert.caps.version != 0 && !x->advert.caps.fetch) {
        err_set(&e, ERR_FETCH, "the server of %.*s offers no fetch",
                STR_ARG(r->name));
        r->dead = repo_keep_err(r, &e);
        return;
    }
    r->needs_caps = false;
    place_learn(r, &x->advert.caps);
    if (r->caps.version == 0) {
        r->all_refs_known = true;
        take_refs(x);
    }
}

/*
 * Reports a requested object that did not arrive. Ids are computed from the
 * content, so a file that was changed in the pack shows up as one missing
 * object and one that was not requested. Returns false.
 */
static bool fail_missing(const struct exchange *x, const char *type,
                         const struct oid *id, struct str path, struct err *e)
{
    char hex[OID_HEX_CHARS + 1];
    size_t unrequested =
        x->unrequested +
        (x->takes_all ? reachable_unrequested(&x->reachable) : 0);

    oid_format(id, hex);
    err_set(e, ERR_DAMAGED, "the server left out the %s %s%s%.*s%s", type, hex,
            path.n ? " (" : "", STR_ARG(path), path.n ? ")" : "");
    if (unrequested)
        err_wrap(e,
                 "the pack has %zu objects that were not requested: content "
                 "that does not match its id",
                 unrequested);
    return err_hint(e,
                    "try again; if it stays so, the repository is damaged on "
                    "its host (\"git fsck\" there shows it), or a proxy "
                    "changes what it sends");
}

/* Returns the path of a file with this id, or "". */
static struct str path_of(const struct repo *r, const struct oid *id)
{
    for (const struct ask *a = r->asks; a; a = a->next)
        for (size_t i = 0; a->stage == ASK_FILES && i < a->listing.count; i++)
            if (oid_eq(&a->listing.files[i].blob, id))
                return a->listing.files[i].path;
    return str_make("", 0);
}

/* Returns false if a requested commit is missing. A truncated response has the
 * commits and the first trees; the others are fetched one by one. */
static bool take_trees(struct exchange *x, struct err *e)
{
    struct repo *r = x->repo;
    bool all = true;
    size_t absent = 0;

    if (x->takes_all)
        place_count_whole(r, x->pack);
    for (size_t i = 0; i < x->want_count; i++) {
        struct snapshot *s = snapshot_get(r, &x->wants[i]);
        const struct object *o = objects_find(&r->objects, &s->commit);
        struct err bad = {0};

        s->is_walked |= x->is_cut;
        s->has_files |= x->takes_all && o;
        if (o == NULL && x->is_search) {
            snapshot_search_on(r, s);
        } else if (o == NULL) {
            s->trees = TREES_NEEDED;
            all &= x->is_cut;
            absent = i;
        } else if (o->type == OBJECT_COMMIT &&
                   commit_tree(o->bytes, &s->root, &bad)) {
            s->trees = TREES_HERE;
            s->is_served = true;
            /* A thin pack based on some trees of an older commit omits objects
             * that the server assumes to be present. */
            if (!s->is_walked && !bundle_save(r, s)) {
                s->is_walked = true;
                s->is_whole &= !x->is_thin;
            }
        } else {
            if (bad.code == ERR_NONE)
                err_set(&bad, ERR_REF, "that is the id of a %s, not a commit",
                        object_type_name(o->type));
            s->why = repo_keep_err(r, &bad);
            s->trees = TREES_FAILED;
        }
    }
    return all ||
           fail_missing(x, "commit", &x->wants[absent], str_make("", 0), e);
}

static void take_loose_objects(struct exchange *x)
{
    struct repo *r = x->repo;
    bool any = false;

    for (size_t i = 0; i < x->want_count; i++) {
        const struct object *o = objects_find(&r->objects, &x->wants[i]);

        any |= o != NULL;
        r->has_links |= o && o->type == OBJECT_BLOB;
    }
    for (size_t i = 0; i < x->want_count; i++) {
        struct loose_object *t = loose_object_get(r, &x->wants[i]);
        struct err e;

        t->is_coming = false;
        /* git omits a tree that is requested along with a tree that contains
         * it. */
        if (t->why || loose_object_is_here(r, t) || any ||
            ++t->tries < THING_TRIES)
            continue;
        fail_missing(x, "object", &t->id, str_make("", 0), &e);
        t->why = repo_keep_err(r, &e);
    }
}

/* Marks the blobs that did not arrive as missing. Returns the id of one of
 * them, or NULL. */
static const struct oid *release_blobs(struct exchange *x)
{
    struct repo *r = x->repo;
    const struct oid *missing = NULL;

    for (size_t i = 0; i < x->blob_count; i++) {
        if (x->blobs[i]->state == BLOB_COMING) {
            x->blobs[i]->state = BLOB_MISSING;
            missing = &x->blobs[i]->id;
        }
    }
    for (struct ask *a = r->asks; a; a = a->next) {
        if (a->stage == ASK_OBJECT && a->object_coming) {
            const struct blob *b = map_find(&r->blobs, oid_key(&a->pinned));

            a->object_coming = false;
            if (objects_find(&r->objects, &a->pinned) == NULL &&
                (b == NULL || b->state != BLOB_HERE))
                missing = &a->pinned;
        }
    }
    return missing;
}

/* Resets the state of everything that the failed request had asked for. */
static void release(struct exchange *x)
{
    struct repo *r = x->repo;

    for (size_t i = 0; i < x->prefix_count; i++)
        refs_mark(r, x->prefixes[i], '\0');
    for (size_t i = 0; i < x->want_count; i++) {
        if (x->kind == REQUEST_LOOSE_OBJECTS || x->kind == REQUEST_FOLDERS)
            loose_object_get(r, &x->wants[i])->is_coming = false;
        if (x->kind == REQUEST_TREES)
            snapshot_get(r, &x->wants[i])->trees = TREES_NEEDED;
    }
    if (x->kind == REQUEST_BLOBS)
        release_blobs(x);
}

static enum outcome take_blobs(struct exchange *x, struct err *e)
{
    const struct oid *missing = release_blobs(x);

    if (missing == NULL)
        return OUTCOME_OK;
    fail_missing(x, "object", missing, path_of(x->repo, missing), e);
    return OUTCOME_LATER;
}

static enum outcome take(struct exchange *x, struct err *e)
{
    switch (x->kind) {
    case REQUEST_CAPS:
        take_caps(x);
        return OUTCOME_OK;
    case REQUEST_REFS:
        take_refs(x);
        return OUTCOME_OK;
    case REQUEST_TREES:
        return take_trees(x, e) ? OUTCOME_OK : OUTCOME_LATER;
    case REQUEST_LOOSE_OBJECTS:
    case REQUEST_FOLDERS:
        take_loose_objects(x);
        return OUTCOME_OK;
    case REQUEST_REACHABILITY:
        if (x->checking_ancestry)
            ancestry_evaluate(x->repo, x->checking_ancestry);
        else
            reachability_evaluate(x->repo, x->checking, &x->objects, x->wants,
                                  x->want_count);
        return OUTCOME_OK;
    default:
        return take_blobs(x, e);
    }
}

/* Returns whether the server has just sent the commits whose objects it denies:
 * it does not send objects by id. */
static bool is_held_back(const struct repo *r)
{
    bool is_served = r->caps.any_object;

    for (const struct ask *a = r->asks; a; a = a->next)
        is_served &= a->snapshot == NULL || a->snapshot->is_served;
    return is_served;
}

/* Returns whether the commit may be requested by the id of an annotated tag. */
static bool is_of_tag(const struct repo *r, const struct oid *commit)
{
    const struct oid *id = advertised_id(r, commit);

    return id && !oid_eq(id, commit);
}

/* The only want of a request for files is unavailable. */
static void fail_want(struct exchange *x, bool gone, const struct err *why)
{
    struct repo *r = x->repo;

    if (x->blob_count == 1 && oid_eq(&x->blobs[0]->id, &x->wants[0])) {
        if (gone && is_held_back(r)) {
            place_refused_objects(r);
            return;
        }
        x->blobs[0]->state = BLOB_FAILED;
        x->blobs[0]->why = why;
        return;
    }
    for (struct ask *a = r->asks; a; a = a->next) {
        if (a->stage == ASK_OBJECT && oid_eq(&a->pinned, &x->wants[0]))
            a->object_why = why;
        /* Request its blobs one by one, so that only the bad one fails. */
        else if (a->stage == ASK_FILES &&
                 (a->is_by_folder || oid_eq(&a->listing.id, &x->wants[0])))
            a->is_by_blob = true;
    }
    r->no_tree_wants |= gone;
    r->slots[REQUEST_BLOBS].batch = FETCH_WANTS_MAX;
}

/* Returns the commit that the server rejects: the only one of the request, or
 * the one that its message names. NULL if it names none. */
static const struct oid *rejected_commit(const struct exchange *x,
                                         const struct err *why)
{
    char hex[OID_HEX_CHARS + 1];

    for (size_t i = 0; i < x->want_count; i++) {
        oid_format(&x->wants[i], hex);
        if (x->want_count == 1 || strstr(err_first(why), hex))
            return &x->wants[i];
    }
    return NULL;
}

static void fail_commit(struct repo *r, const struct oid *commit, bool gone,
                        const struct err *why)
{
    struct snapshot *s = snapshot_get(r, commit);

    if (gone && r->caps.any_object && is_of_tag(r, commit)) {
        place_refused_objects(r);
        return;
    }
    s->trees = TREES_FAILED;
    s->is_gone = gone;
    s->why = repo_keep_err(r, why);
}

/* Halves the batch until the want that the server rejects is alone. */
static void single_out(struct exchange *x, const struct err *why)
{
    struct repo *r = x->repo;
    struct request_slot *slot = &r->slots[x->kind];
    const struct oid *commit =
        x->kind == REQUEST_TREES ? rejected_commit(x, why) : NULL;
    bool is_hidden = exchange_fault(x) == WIRE_NO_WANT;
    bool gone = is_hidden || exchange_fault(x) == WIRE_NO_OBJECT;
    const struct err *kept;

    /* Another request may have found this out since this one was sent. */
    if (is_hidden && x->had_any) {
        if (r->caps.any_object)
            place_refused_objects(r);
        r->is_dirty = true;
        return;
    }
    if (commit) {
        fail_commit(r, commit, gone, why);
        return;
    }
    if (x->want_count > 1 && x->kind != REQUEST_REACHABILITY) {
        slot->batch = (x->want_count + 1) / 2;
        return;
    }
    kept = repo_keep_err(r, why);
    if (x->kind == REQUEST_LOOSE_OBJECTS || x->kind == REQUEST_FOLDERS) {
        if (gone && is_held_back(r))
            place_refused_objects(r);
        else
            loose_object_get(r, &x->wants[0])->why = kept;
    } else if (x->kind == REQUEST_REACHABILITY) {
        if (x->checking_ancestry) {
            x->checking_ancestry->state = ANCESTRY_REFUTED;
            x->checking_ancestry->why = kept;
            return;
        }
        x->checking->reachability = UNREACHABLE;
        x->checking->why = kept;
    } else {
        fail_want(x, gone, kept);
    }
}

static void try_later(struct exchange *x, struct err *why)
{
    struct request_slot *slot = &x->repo->slots[x->kind];
    uint64_t wait = (uint64_t)x->retry_after_s * 1000;
    uint64_t backoff = (uint64_t)BACKOFF_MS << slot->tries;

    /* A stalled request has already taken half a minute, so retry it only
     * once. */
    slot->tries += x->was_slow ? 2 : 1;
    if (slot->tries >= TRIES_MAX) {
        if (!x->was_slow)
            err_wrap(why, "tried %u times", slot->tries);
        x->repo->dead = repo_keep_err(x->repo, why);
        return;
    }
    if (wait < backoff)
        wait = backoff;
    slot->not_before_ms = proc_now_ms() + wait + (uint64_t)random() % JITTER_MS;
}

static void log_request(const struct exchange *x)
{
    static const char *const names[] = {
        [REQUEST_CAPS] = "info/refs",       [REQUEST_REFS] = "ls-refs",
        [REQUEST_TREES] = "trees",          [REQUEST_LOOSE_OBJECTS] = "objects",
        [REQUEST_FOLDERS] = "folders",      [REQUEST_BLOBS] = "blobs",
        [REQUEST_REACHABILITY] = "history",
    };

    CLEANUP(buf_done) struct buf status;

    buf_init(&status, STATUS_MAX_BYTES);
    x->transport->describe(x, &status);
    fprintf(stderr, "mapm-fetch: %s %.*s: %zu wanted, %.*s, %llu B, %llu ms\n",
            names[x->kind], STR_ARG(x->repo->key),
            x->want_count + x->prefix_count, STR_ARG(buf_str(&status)),
            (unsigned long long)x->received, (unsigned long long)x->took_ms);
}

static bool finish(struct exchange *x, struct err *e)
{
    struct repo *r = x->repo;
    struct request_slot *slot = &r->slots[x->kind];
    struct err why = {0};
    enum outcome v = exchange_evaluate(x, &why);

    if (r->session->verbose)
        log_request(x);
    slot->idle_bytes = x->fetch.bands.idle_bytes;
    if (v == OUTCOME_OK)
        v = take(x, &why);
    else
        release(x);
    r->is_dirty = true;
    if (x->is_thin && v != OUTCOME_OK) {
        r->no_thin = true; /* retry without a thin pack */
        if (v == OUTCOME_DEAD || v == OUTCOME_BAD_WANT)
            v = OUTCOME_AGAIN;
    }
    switch (v) {
    case OUTCOME_OK:
        slot->tries = slot->again = 0;
        slot->idle_bytes = 0;
        slot->batch *= 2;
        return true;
    case OUTCOME_AGAIN:
        if (++slot->again < AGAIN_MAX)
            return true;
        err_set(&why, ERR_FETCH, "the server of %.*s makes no progress",
                STR_ARG(r->name));
        break;
    case OUTCOME_LATER:
        try_later(x, &why);
        return true;
    case OUTCOME_BAD_WANT:
        single_out(x, &why);
        return true;
    case OUTCOME_GONE:
        *e = why;
        return false;
    case OUTCOME_DEAD:
        /* Not a git server at all: the first error is more useful. */
        if (x->kind == REQUEST_CAPS && r->refusal)
            why = *r->refusal;
        break;
    }
    r->dead = repo_keep_err(r, &why);
    return true;
}

bool request_finish(struct exchange *x, struct err *e)
{
    bool ok = finish(x, e);

    exchange_close(x);
    return ok;
}
