#include "team_store.h"

#include "base/proc.h"
#include "mapm/team_bundle.h"

#include <stdarg.h>
#include <stdio.h>

#include "team_source.h"

#define ANNOUNCED_PART  16   /* 1/16 of the items is announced at once */
#define HEAD_GZIP_BYTES 128  /* a header of a tar, compressed */
#define TAR_GZIP_BYTES  4096 /* the rest of an archive */

enum item_state { ITEM_QUEUED, ITEM_COMING, ITEM_HERE, ITEM_MISSING };

enum item_kind {
    ITEM_PACKAGE,
    ITEM_PROOF,
    ITEM_MARKET,   /* the proof of a marketplace, with its text as a file */
    ITEM_TREE,     /* a tree that proofs lack */
    ITEM_ARTIFACT, /* a skill of an agent index */
};

/* An object name that is requested once per run. */
struct team_item {
    struct str name;
    enum item_kind kind;
    struct hash digest; /* of a package or an artifact; of a proof that is HERE,
                         * that of its .tar.gz */
    struct repo *repo;  /* of a proof, a marketplace and a tree */
    struct oid id;      /* of these: the commit, or the tree */
    enum item_state state;
    size_t next;    /* index of the next source to try */
    uint32_t *asks; /* sequence numbers of asks for an artifact */
    size_t ask_count, ask_capacity;
    struct team_part *files; /* files of a package or an artifact, if HERE */
    size_t count;
    struct team_item **trees; /* of a proof, if HERE: those that it lacks */
    size_t tree_count;
    struct team_item *next_item; /* in the queue of a source */
};

struct team_store {
    struct session *session;
    struct arena arena;
    struct team_source sources[TEAM_REMOTES_MAX];
    size_t count;
    bool only, is_bundle;
    struct map items;      /* name -> struct team_item */
    struct team_get *over; /* finished gets, to be processed in the next step */
    size_t open;           /* items that are not finished */
    size_t news; /* items that were finished since the last announce */
};

/* --- sources -------------------------------------------------------------- */

const struct team_source_kind *team_source_kind(const struct team_remote *t)
{
    return t->kind == TEAM_FOLDER ? &team_folder : &team_registry;
}

void team_store_open(struct session *s, const struct team_remotes *stores)
{
    struct team_store *t;

    if (stores->count == 0 && !stores->only)
        return;
    t = arena_new(&s->arena, struct team_store);
    t->session = s;
    t->only = stores->only;
    map_init(&t->items, &t->arena);
    for (size_t i = 0; i < stores->count; i++) {
        const struct team_remote *remote = &stores->items[i];

        t->sources[t->count++] = (struct team_source){
            .kind = team_source_kind(remote), .session = s, .remote = *remote};
    }
    s->team = t;
}

bool team_store_open_bundle(struct session *s, int fd, struct err *e)
{
    struct team_bundle *b = arena_new(&s->arena, struct team_bundle);
    struct team_store *t;

    team_store_open(s, &(struct team_remotes){.only = true});
    t = s->team;
    t->is_bundle = true;
    t->sources[t->count++] =
        (struct team_source){.kind = &team_bundle_kind,
                             .session = s,
                             .state = b,
                             .remote = {.url = STR("in the bundle")}};
    return team_bundle_open(fd, &s->arena, b, e);
}

void team_get_log(const struct team_get *g, const char *format, ...)
{
    char text[512];
    va_list args;

    if (!g->source->session->verbose)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "mapm-fetch: store %.*s: %.*s: %s\n",
            STR_ARG(g->source->remote.url), STR_ARG(g->name), text);
}

void team_get_over(struct team_get *g, enum team_got got, const struct err *why)
{
    struct team_store *t = g->source->session->team;

    g->got = got;
    if (why)
        g->why = *why;
    g->next = t->over;
    t->over = g;
}

static const struct team_limits *limits_of(const struct team_store *t,
                                           const struct team_item *item)
{
    return item->kind == ITEM_MARKET     ? &team_market_limits
           : item->kind == ITEM_ARTIFACT ? &team_artifact_limits
           : t->is_bundle                ? &team_bundle_limits
                                         : &team_proof_limits;
}

/* Returns the maximum size of the .tar.gz: for a proof that of its files, and an
 * allowance for the archive and for compression that saves nothing. */
static size_t max_bytes(const struct team_store *t,
                        const struct team_item *item)
{
    const struct team_limits *l = limits_of(t, item);

    return item->kind != ITEM_PACKAGE
               ? (size_t)(l->max_bytes + l->max_bytes / 1000) +
                     l->max_files * HEAD_GZIP_BYTES + TAR_GZIP_BYTES
               : TEAM_OBJECT_MAX_BYTES;
}

static bool is_finished(const struct team_item *item)
{
    return item->state == ITEM_HERE || item->state == ITEM_MISSING;
}

/* Returns whether the item, or a tree that it lacks, is not finished. */
static bool is_open(const struct team_item *item)
{
    if (!item)
        return false;
    for (size_t i = 0; i < item->tree_count; i++)
        if (!is_finished(item->trees[i]))
            return true;
    return !is_finished(item);
}

static bool is_missing(const struct team_item *item)
{
    if (!item)
        return false;
    for (size_t i = 0; i < item->tree_count; i++)
        if (item->trees[i]->state == ITEM_MISSING)
            return true;
    return item->state == ITEM_MISSING;
}

/* --- finished gets -------------------------------------------------------- */

static const struct str bundle_name = STR_INIT("the bundle or vendor folder");

static void warn(struct team_store *t, const struct team_get *g,
                 const char *what, const char *why)
{
    CLEANUP(arena_done) struct arena scratch = {0};

    struct str name =
        arena_join(STR("the store"), " ", g->source->remote.url, &scratch);

    link_warn(&t->session->link,
              arena_printf(&scratch, "%.*s %s: %s",
                           STR_ARG(t->is_bundle ? bundle_name : name), what,
                           why));
}

static void abandon(struct team_store *t, struct team_get *g)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const char *why = err_first(&g->why), *hint = g->why.hint;

    if (g->source->is_dead)
        return;
    g->source->is_dead = true;
    if (*hint)
        why = arena_printf(&scratch, "%s (%s)", why, hint).p;
    warn(t, g, "is skipped from now on", why);
}

static void refuse(struct team_store *t, const struct team_item *item,
                   const struct team_get *g, const struct err *why)
{
    CLEANUP(arena_done) struct arena scratch = {0};

    warn(t, g,
         str_dup0(arena_printf(&scratch, "has something else as %.*s",
                               STR_ARG(item->name)),
                  &scratch),
         err_first(why));
}

static void record_forbidden(struct team_store *t, struct team_get *g)
{
    if (!g->is_forbidden || g->source->is_noted)
        return;
    g->source->is_noted = true;
    warn(t, g, "answers with HTTP 403",
         "that is taken as that it does not have the package");
}

static void report_artifact(struct team_store *t, const struct team_item *item,
                            uint32_t seq)
{
    char hex[OID_HEX_CHARS + 1];
    struct fetch_event ev = {.kind = FETCH_FAILED};
    struct fetch_file file = {.path = STR("artifact")};
    struct err why = {0};

    if (item->state == ITEM_HERE) {
        oid_format(&item->files->id, hex);
        file.oid = str_cstr(hex);
        file.hash = item->files->hash;
        file.size = item->files->size;
        file.offset = item->files->offset;
        ev.kind = FETCH_DONE;
        ev.files = &file;
        ev.file_count = 1;
    } else {
        err_set(&why, ERR_NOT_FOUND, "no store has the artifact sha256:%s",
                hash_hex(&item->digest, &t->arena).p);
        ev.err = &why;
    }
    session_report_progress(t->session, true);
    link_event(&t->session->link, seq, &ev);
}

static void finish_item(struct team_store *t, struct team_item *item,
                        enum item_state state)
{
    item->state = state;
    t->open--;
    t->news++;
    for (size_t i = 0; i < item->ask_count; i++)
        report_artifact(t, item, item->asks[i]);
}

/* Adds the item to the queue of the next source that works; without one it is
 * missing. */
static void queue(struct team_store *t, struct team_item *item)
{
    struct team_source *source;

    while (item->next < t->count && t->sources[item->next].is_dead)
        item->next++;
    if (item->next == t->count) {
        finish_item(t, item, ITEM_MISSING);
        return;
    }
    source = &t->sources[item->next++];
    item->state = ITEM_QUEUED;
    item->next_item = NULL;
    if (source->last)
        source->last->next_item = item;
    else
        source->first = item;
    source->last = item;
}

static struct team_item *take_queued(struct team_source *source)
{
    struct team_item *item = source->first;

    source->first = item->next_item;
    if (!source->first)
        source->last = NULL;
    return item;
}

/* Returns the item of the name; a new one is asked for. */
static struct team_item *item_get(struct team_store *t, struct str name,
                                  enum item_kind kind)
{
    struct team_item *item = map_find(&t->items, name);

    if (item)
        return item;
    item = arena_new(&t->arena, struct team_item);
    item->name = arena_str(&t->arena, name);
    item->kind = kind;
    map_put(&t->items, item->name, item);
    t->open++;
    queue(t, item);
    return item;
}

/* Asks for a tree that proofs lack, unless it is there. */
static struct team_item *tree_item(struct team_store *t, struct repo *r,
                                   const struct oid *id)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    char hex[OID_HEX_CHARS + 1];
    struct team_item *item;

    oid_format(id, hex);
    item =
        item_get(t, team_tree_name(r->key, str_cstr(hex), &scratch), ITEM_TREE);
    item->repo = r;
    item->id = *id;
    return item;
}

/* Packages of a commit may share a proof, whose objects the repository has once
 * it was read. */
static const struct team_item *known_proof(const struct team_item *item)
{
    return item->kind == ITEM_PROOF ? snapshot_get(item->repo, &item->id)->proof
                                    : NULL;
}

static void take_known(struct team_item *item)
{
    const struct team_item *known = known_proof(item);

    item->digest = known->digest;
    item->trees = known->trees;
    item->tree_count = known->tree_count;
}

static bool verify_proof(struct team_store *t, struct team_item *item,
                         struct str gz, struct err *why)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct team_item *known = known_proof(item);
    struct team_proof p = {.repo = item->repo,
                           .commit = item->id,
                           .limits = limits_of(t, item),
                           .is_market = item->kind == ITEM_MARKET,
                           .a = &scratch};

    item->digest = hash_of(gz);
    if (known && hash_eq(&known->digest, &item->digest)) {
        take_known(item);
        return true;
    }
    if (!team_verify_proof(&p, gz, why))
        return false;
    item->files = arena_array(&t->arena, p.count + 1, sizeof *item->files);
    for (; item->count < p.count; item->count++)
        item->files[item->count] = p.files[item->count];
    item->trees =
        arena_array(&t->arena, p.tree_count + 1, sizeof(struct team_item *));
    for (; item->tree_count < p.tree_count; item->tree_count++)
        item->trees[item->tree_count] =
            tree_item(t, item->repo, &p.trees[item->tree_count].id);
    snapshot_get(item->repo, &item->id)->proof = item;
    return true;
}

static bool verify(struct team_store *t, struct team_item *item,
                   const struct team_get *g, struct err *why)
{
    struct str gz = buf_str(&g->bytes);

    switch (item->kind) {
    case ITEM_PACKAGE:
        return team_verify_object(t->session, gz, &item->digest, &t->arena,
                                  &item->files, &item->count, why);
    case ITEM_ARTIFACT:
        return team_verify_artifact(t->session, gz, &item->digest, &t->arena,
                                    &item->files, &item->count, why);
    case ITEM_TREE:
        return team_verify_tree(item->repo, gz, &item->id, why);
    default:
        return verify_proof(t, item, gz, why);
    }
}

static bool take(struct team_store *t, struct team_item *item,
                 struct team_get *g, struct err *e)
{
    struct err why = {0};

    switch (g->got) {
    case TEAM_GOT:
        if (verify(t, item, g, &why)) {
            finish_item(t, item, ITEM_HERE);
            return true;
        }
        if (why.code == ERR_IO) {
            *e = why;
            return false;
        }
        refuse(t, item, g, &why);
        break;
    case TEAM_KNOWN:
        take_known(item);
        finish_item(t, item, ITEM_HERE);
        return true;
    case TEAM_REFUSED:
        refuse(t, item, g, &g->why);
        break;
    case TEAM_FAILED:
        abandon(t, g);
        break;
    default:
        record_forbidden(t, g);
    }
    queue(t, item);
    return true;
}

static uint64_t busy_ms(const struct team_source *source)
{
    uint64_t now = source->running ? proc_now_ms() - source->busy_since_ms : 0;

    return source->busy_ms + now;
}

static void close_get(struct team_get *g)
{
    struct team_source *source = g->source;
    uint64_t busy = busy_ms(source);
    size_t i = 0;

    source->received += TEAM_ANSWER_BYTES;
    while (source->gets[i] != g)
        i++;
    source->gets[i] = source->gets[--source->running];
    if (source->running == 0)
        source->busy_ms = busy;
    source->kind->close(g);
    buf_done(&g->bytes);
    heap_free(g);
}

static bool take_over(struct team_store *t, uint64_t *wait_ms, struct err *e)
{
    bool ok = true;

    while (ok && t->over) {
        struct team_get *g = t->over;
        struct team_item *item = g->item;

        t->over = g->next;
        ok = take(t, item, g, e);
        close_get(g);
        *wait_ms = 0;
    }
    return ok;
}

/* --- new gets ------------------------------------------------------------- */

static bool start_get(struct team_source *source, struct team_item *item,
                      struct err *e)
{
    struct team_get *g = heap_alloc(sizeof *g);
    const struct team_item *known = known_proof(item);

    g->source = source;
    g->name = item->name;
    g->known = known ? &known->digest : NULL;
    g->item = item;
    buf_init(&g->bytes, max_bytes(source->session->team, item));
    item->state = ITEM_COMING;
    if (source->running == 0)
        source->busy_since_ms = proc_now_ms();
    source->gets[source->running++] = g;
    return source->kind->start(g, e);
}

/* A source is too slow below a minimum rate, or once it has taken half of the
 * time of a run: the rest is for the git host. */
static bool is_too_slow(const struct team_source *source, struct err *why)
{
    uint64_t busy = busy_ms(source);

    if (busy > TEAM_SLOW_AFTER_MS &&
        source->received < busy * TEAM_RATE_MIN_BYTES / 1000)
        return !err_set(why, ERR_FETCH,
                        "less than %u KiB a second came in %u seconds",
                        TEAM_RATE_MIN_BYTES >> 10, (unsigned)(busy / 1000));
    if (busy > http_time_left(source->session->http))
        return !err_set(why, ERR_FETCH,
                        "it has taken %u seconds, half of what a run has",
                        (unsigned)(busy / 1000));
    return false;
}

/* Ends running gets of slow sources as failed, unless there is no git host to
 * fall back to. */
static void end_slow(struct team_store *t)
{
    if (t->only)
        return;
    for (size_t i = 0; i < t->count; i++) {
        struct team_source *source = &t->sources[i];
        struct err why = {0};

        for (size_t k = 0; k < source->running; k++)
            if (source->gets[k]->got == TEAM_RUNNING &&
                is_too_slow(source, &why))
                team_get_over(source->gets[k], TEAM_FAILED, &why);
    }
}

/* Starts gets of the source as far as it has room; the items of a dead one go to
 * the next. */
static bool start_gets(struct team_store *t, struct team_source *source,
                       struct err *e)
{
    while (source->first &&
           (source->is_dead || source->running < TEAM_MAX_STREAMS)) {
        struct team_item *item = take_queued(source);

        if (source->is_dead)
            queue(t, item);
        else if (!start_get(source, item, e))
            return false;
    }
    return true;
}

/* Advances the asks once a part of the items has finished, since each time
 * all of them are looked at. */
static void announce(struct team_store *t, uint64_t *wait_ms)
{
    struct map *repos = &t->session->repos;

    if (t->news == 0 || t->news * ANNOUNCED_PART < t->open)
        return;
    t->news = 0;
    *wait_ms = 0;
    for (size_t i = 0; i < repos->count; i++) {
        struct repo *r = repos->entries[i].value;

        r->is_dirty |= r->open_count > 0;
    }
}

bool team_store_advance(struct session *s, uint64_t *wait_ms, struct err *e)
{
    struct team_store *t = s->team;

    if (!t)
        return true;
    end_slow(t);
    if (!take_over(t, wait_ms, e))
        return false;
    for (size_t i = 0; i < t->count; i++)
        if (!start_gets(t, &t->sources[i], e))
            return false;
    if (!take_over(t, wait_ms, e))
        return false;
    announce(t, wait_ms);
    return true;
}

/* --- asks ----------------------------------------------------------------- */

/* Returns whether the ask is for the marketplace of a plugin, at the commit
 * that the lock names. */
static bool is_market(const struct ask *a)
{
    return a->in.kinds == DOC_MARKET && a->in.commit.n && !a->is_pinned;
}

bool team_store_is_wanted(const struct ask *a)
{
    struct hash digest;

    return a->repo->session->team && a->in.what == FETCH_PACKAGE &&
           (is_market(a) ||
            (a->is_pinned && hash_parse(a->in.digest, &digest)));
}

static struct team_item *object_item(struct ask *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct team_store *t = a->repo->session->team;
    struct team_item *item;
    struct hash digest;

    if (a->in.stored || is_market(a) || !hash_parse(a->in.digest, &digest))
        return NULL;
    item = item_get(t, team_object_name(&digest, &scratch), ITEM_PACKAGE);
    item->digest = digest;
    return item;
}

/*
 * Returns the path for the name of a proof. With a ref of several segments, the
 * path is not known before the trees are; so the name always uses the text
 * after the first segment.
 */
static struct str proof_path(const struct ask *a)
{
    size_t slash = str_find_char(a->in.rest, '/');

    if (a->in.is_short || a->in.rest.n == 0)
        return a->in.path;
    return slash == SIZE_MAX ? str_make("", 0)
                             : str_from_index(a->in.rest, slash + 1);
}

static bool needs_proof(const struct ask *a)
{
    const struct snapshot *s = a->snapshot;

    return s->trees != TREES_HERE || s->is_walked || is_market(a);
}

static struct team_item *proof_item(struct ask *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct repo *r = a->repo;
    struct team_item *item;

    if (!needs_proof(a))
        return NULL;
    item = item_get(
        r->session->team,
        team_proof_name(r->key, a->in.commit, proof_path(a),
                        is_market(a) ? STR(TEAM_MARKET_OBJECT) : a->in.object,
                        &scratch),
        is_market(a) ? ITEM_MARKET : ITEM_PROOF);
    if (!item->repo) {
        item->repo = r;
        item->id = a->snapshot->commit;
    }
    return item;
}

bool team_store_ask(struct session *s, const struct link_ask *in, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct team_store *t = s->team;
    struct team_item *item;
    struct hash digest;

    if (!t || !hash_parse(in->digest, &digest))
        return link_nonsense(e);
    item = item_get(t, team_artifact_name(&digest, &scratch), ITEM_ARTIFACT);
    item->digest = digest;
    if (is_finished(item)) {
        report_artifact(t, item, in->seq);
        return true;
    }
    item->asks = arena_grow(&t->arena, item->asks, item->ask_count,
                            &item->ask_capacity, sizeof *item->asks);
    item->asks[item->ask_count++] = in->seq;
    return true;
}

/* Adds the files as if the host had sent them. Files that the trees do not name
 * remain unused. */
static void send_files(struct repo *r, const struct team_item *item)
{
    for (size_t i = 0; i < item->count; i++) {
        const struct team_part *part = &item->files[i];
        struct blob *b = blob_get(r, &part->id);

        if (b->state != BLOB_NEW && b->state != BLOB_MISSING &&
            b->state != BLOB_FAILED)
            continue;
        b->hash = part->hash;
        b->size = part->size;
        b->offset = part->offset;
        b->is_lfs = part->is_lfs;
        b->state = BLOB_HERE;
    }
}

bool team_store_step(struct ask *a)
{
    struct repo *r = a->repo;

    if (!a->is_of_team) {
        a->is_of_team = true;
        a->team_object = object_item(a);
        a->team_proof = proof_item(a);
    }
    if (is_open(a->team_object) || is_open(a->team_proof))
        return false;
    if (team_store_has_files(a))
        send_files(r, a->team_object);
    if (a->team_proof && a->team_proof->state == ITEM_HERE) {
        team_trees_use(r, a->snapshot);
        send_files(r, a->team_proof);
    }
    return true;
}

bool team_store_has_files(const struct ask *a)
{
    return a->team_object && a->team_object->state == ITEM_HERE;
}

bool team_store_holds(const struct repo *r)
{
    if (!r->session->team)
        return false;
    for (const struct ask *a = r->asks; a; a = a->next)
        if (a->stage == ASK_STORE)
            return true;
    return false;
}

/* --- runs without a git host ---------------------------------------------- */

static const struct team_item *missing_item(const struct ask *a)
{
    const struct team_item *item =
        is_missing(a->team_object) ? a->team_object : a->team_proof;

    return a->stage != ASK_OVER && is_missing(item) ? item : NULL;
}

static void warn_one(const struct ask *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct team_item *item = missing_item(a);
    struct session *s = a->repo->session;
    const char *absent = s->team->is_bundle ? "missing:" : "no store has";

    if (is_market(a)) {
        link_warn(&s->link,
                  arena_printf(&scratch, "%s the marketplace of %.*s at %.*s",
                               absent, STR_ARG(a->repo->key),
                               STR_ARG(a->in.commit)));
        return;
    }
    link_warn(&s->link,
              arena_printf(&scratch, "%s %s %.*s%s%.*s, sha256:%.*s", absent,
                           item->kind != ITEM_PACKAGE ? "the proof of"
                                                      : "the package",
                           STR_ARG(a->repo->key), a->rest.n ? " " : "",
                           STR_ARG(a->rest), STR_ARG(a->in.digest)));
}

/* Warns about each missing digest. A package fails with those that need it, so
 * its own error may not be shown. */
static void warn_missing(const struct repo *r)
{
    for (const struct ask *a = r->asks; a; a = a->next)
        if (missing_item(a))
            warn_one(a);
}

bool team_store_is_only(const struct session *s)
{
    return s->team && s->team->only;
}

/* Explains why a package does not come from a bundle or vendor folder. */
static void explain_absence(const struct ask *a, struct err *why)
{
    const struct team_item *item = missing_item(a);
    struct str repository = a->repo->key;

    if (!team_store_is_wanted(a)) {
        err_set(why, ERR_OFFLINE,
                "mapm.lock does not hold it, and its host %.*s must not be "
                "contacted",
                STR_ARG(repository));
        err_hint(why, "install it where the network is; mapm bundle, or mapm "
                      "vendor, then takes it along");
        return;
    }
    if (item && item->kind == ITEM_PACKAGE)
        err_set(why, ERR_OFFLINE, "its content is missing");
    else
        err_set(why, ERR_OFFLINE,
                "there is no proof that commit %.*s of %.*s contains it",
                STR_ARG(a->in.commit), STR_ARG(repository));
    err_hint(why, "the bundle or vendor folder is of another lock, or damaged: "
                  "mapm bundle, or mapm vendor, writes all of a lock");
}

static void explain_refusal(const struct ask *a, struct err *why)
{
    if (a->repo->session->team->is_bundle) {
        explain_absence(a, why);
        return;
    }
    err_set(why, ERR_OFFLINE, "%s %.*s must not be contacted",
            missing_item(a) ? "no store has it, and its host" : "its host",
            STR_ARG(a->repo->key));
    err_hint(why, "store: {only: true} asks no git host; mapm store push, "
                  "where the package is, fills a store");
}

void team_store_refuse_host(struct repo *r)
{
    warn_missing(r);
    for (struct ask *a = r->asks; a; a = a->next) {
        struct err why = {0};

        if (a->stage == ASK_OVER)
            continue;
        explain_refusal(a, &why);
        report_failed(a, &why);
    }
}
