#include "scan.h"

#include "base/fs.h"
#include "base/proc.h"
#include "base/text.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "listing.h"

/*
 * A root, looked at: what is as it was keeps its record, the rest is read. Files
 * are shared among threads, a record is made in the memory of its thread.
 */

struct thread_pool {
    const struct scan *scan;
    int64_t now;
    struct scan_entry **folders; /* to be read */
    struct record *known;        /* of each; without bytes: none */
    size_t count, known_capacity;
    atomic_size_t next;
    atomic_bool interrupted;
};

struct worker {
    struct thread_pool *pool;
    struct arena a; /* of the new records */
    pthread_t thread;
};

/* --- reading ---------------------------------------------------------------------------- */

static void validate(struct worker *w, struct scan_entry *s,
                     const struct record *known)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct record record;
    struct skill_place place = {
        .bounds = &w->pool->scan->bounds,
        .metis = w->pool->scan->options->metis,
        .folder = s->name,
        .skill = s->skill,
        .program = s->program,
        .fingerprinted = record_program(known),
        .now = w->pool->now,
    };

    skill_validate(&place, &a, &record);
    buf_init(&b, SIZE_MAX / 2);
    record_put(&b, &record);
    s->fresh = arena_str(&w->a, buf_str(&b));
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct thread_pool *pool = w->pool;
    size_t i;

    while ((i = atomic_fetch_add(&pool->next, 1)) < pool->count) {
        if (proc_is_asked_to_end())
            atomic_store(&pool->interrupted, true);
        if (atomic_load(&pool->interrupted))
            break;
        validate(w, pool->folders[i], &pool->known[i]);
    }
    return NULL;
}

/* This thread is the first of them; it does what no other can be had for. */
static void validate_all(struct thread_pool *pool, struct worker *workers,
                         size_t wanted)
{
    size_t started = 1;

    for (size_t i = 0; i < wanted; i++)
        workers[i] = (struct worker){.pool = pool};
    while (started < wanted && pthread_create(&workers[started].thread, NULL,
                                              work, &workers[started]) == 0)
        started++;
    work(&workers[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
}

/* --- what changed ------------------------------------------------------------------------- */

/* The program that was declared, or SKILL.star, or, when nobody asks for it
 * this time, what was seen of it before. */
static void fingerprint_program(const struct scan *scan, struct scan_entry *s,
                                const struct record *known)
{
    if (!scan->options->programs && known->bytes.n)
        s->program = known->program;
    else if (!scan->options->programs || known->field[RECORD_PROGRAM].n)
        fingerprint_file(scan->fd, s->name, record_program(known), true,
                         &s->program);
}

/* Without taking it apart, as long as no other program was declared. */
static bool is_as_before(const struct scan *scan, const struct scan_entry *s,
                         size_t k)
{
    uint32_t flags = record_flags(&scan->before, k);
    struct fingerprint skill, program;

    record_fingerprints(&scan->before, k, &skill, &program);
    if (flags & RECORD_YOUNG || !fingerprint_eq(&skill, &s->skill))
        return false;
    if (!scan->options->programs)
        return true;
    return !(flags & RECORD_DECLARED) && fingerprint_eq(&program, &s->program);
}

static void add_changed(struct thread_pool *pool, struct scan_entry *s,
                        const struct record *before, struct arena *a)
{
    pool->known = arena_grow(a, pool->known, pool->count, &pool->known_capacity,
                             sizeof *pool->known);
    pool->known[pool->count] = *before;
    pool->folders[pool->count++] = s;
}

/* Both are sorted by bytes. Who is as before gets its record back. */
static void find_changed(const struct scan *scan, struct scan_entry **folders,
                         size_t count, struct arena *a,
                         struct thread_pool *pool)
{
    const struct records *known = &scan->before;
    size_t k = 0;

    pool->folders = arena_array(a, count + 1, sizeof *pool->folders);
    for (size_t i = 0; i < count; i++) {
        struct scan_entry *s = folders[i];
        struct record before = {0};
        int order = -1;

        while (k < known->count &&
               (order = str_cmp(record_folder(known, k), s->name)) < 0)
            k++;
        if (k < known->count && order == 0) {
            s->fresh = record_bytes(known, k);
            if (is_as_before(scan, s, k))
                continue;
            before = record_get(known, k);
        }
        fingerprint_program(scan, s, &before);
        if (before.flags & RECORD_DECLARED && !(before.flags & RECORD_YOUNG) &&
            fingerprint_eq(&before.skill, &s->skill) &&
            fingerprint_eq(&before.program, &s->program))
            continue;
        add_changed(pool, s, &before, a);
    }
}

/* --- the bytes ------------------------------------------------------------------------------ */

/* Some megabytes: each written once, where it stays. */
static bool write_records(const struct scan *scan, struct scan_entry **folders,
                          size_t count, struct arena *a,
                          struct record_batch *out, struct err *e)
{
    CLEANUP(buf_done) struct buf head = {0};
    size_t bytes;
    char *p, *at;

    buf_init(&head, SIZE_MAX / 2);
    records_begin(&head, &scan->of, count);
    bytes = head.n;
    for (size_t i = 0; i < count; i++)
        bytes += folders[i]->fresh.n;
    if (bytes > LIBRARY_MAX_BYTES)
        return err_set(e, ERR_LIMIT,
                       "the metadata of all its skills is longer than %d bytes",
                       LIBRARY_MAX_BYTES);
    at = p = arena_alloc(a, bytes + 1);
    at = mempcpy(at, head.p, head.n);
    for (size_t i = 0; i < count; i++)
        at = mempcpy(at, folders[i]->fresh.p, folders[i]->fresh.n);
    out->rewritten = !str_eq(str_of(p, bytes), scan->known);
    if (!records_parse(str_of(p, bytes), &scan->of, a, &out->records))
        return err_set(e, ERR_FAILED, "its metadata does not read back");
    return true;
}

static bool read_changed(struct scan *scan, struct thread_pool *pool,
                         struct scan_entry **folders, size_t count,
                         struct arena *a, struct record_batch *out,
                         struct err *e)
{
    struct worker workers[LIBRARY_THREADS_MAX];
    size_t threads = threads_for(pool->count);
    bool ok;

    validate_all(pool, workers, threads);
    if (pool->interrupted)
        ok = err_set(e, ERR_INTERRUPTED, "interrupted");
    else
        ok = write_records(scan, folders, count, a, out, e);
    for (size_t i = 0; i < threads; i++)
        arena_done(&workers[i].a);
    return ok;
}

/* --- a root ----------------------------------------------------------------------------------- */

static bool fail_named(const struct scan *scan, const char *path, struct err *e)
{
    if (scan->root->named) { /* X7 */
        err_wrap(e, "cannot read the folder of skills %s", path);
        return e->code != ERR_REFUSED &&
               err_hint(e, "a folder named on the command line has to be "
                           "there");
    }
    if (e->code != ERR_NOT_FOUND)
        report_note(scan->options, LIBRARY_WARNING,
                    "skipping the skills in %s: %s", path, err_first(e));
    err_clear(e);
    return true;
}

bool scan_begin(struct scan *scan, struct arena *a, struct err *e)
{
    const char *path = str_c(scan->root->path, a);

    scan->fd = -1;
    if (!root_open(scan->root, a, &scan->bounds, &scan->fd, e))
        return fail_named(scan, path, e);
    scan->of = (struct records_of){scan->options->metis,
                                   root_bounds_hash(&scan->bounds)};
    if (!listing_begin(scan->options, scan->root, scan->fd, &scan->listed,
                       &scan->listing, e))
        return err_wrap(e, "read the skills in %s", path);
    records_parse(scan->known, &scan->of, a, &scan->before);
    return true;
}

bool scan_end(struct scan *scan, struct arena *a, struct record_batch *out,
              struct err *e)
{
    struct thread_pool pool = {.scan = scan, .now = time(NULL)};
    struct scan_entry **folders;
    size_t count;
    bool ok;

    *out = (struct record_batch){.bounds = scan->bounds};
    if (scan->fd < 0)
        return true;
    ok = listing_end(scan->listing, &folders, &count, e);
    if (ok)
        find_changed(scan, folders, count, &scan->listed, &pool);
    if (ok && pool.count == 0 && scan->before.count == count &&
        scan->before.bytes.n)
        out->records = scan->before;
    else if (ok)
        ok = read_changed(scan, &pool, folders, count, a, out, e);
    return ok ||
           err_wrap(e, "read the skills in %.*s", STR_ARG(scan->root->path));
}

void scan_done(struct scan *scan)
{
    if (!scan->options)
        return;
    listing_done(scan->listing);
    fs_close(&scan->fd);
    arena_done(&scan->listed);
    scan->options = NULL;
}
