#include "look.h"

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

struct crew {
    const struct look *look;
    int64_t now;
    struct seen **folders; /* to be read */
    struct record *known;  /* of each; without bytes: none */
    size_t count, known_capacity;
    atomic_size_t next;
    atomic_bool interrupted;
};

struct worker {
    struct crew *crew;
    struct arena a; /* of the new records */
    pthread_t thread;
};

/* --- reading ---------------------------------------------------------------------------- */

static void judge(struct worker *w, struct seen *s, const struct record *known)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct record record;
    struct skill_place place = {
        .shelter = &w->crew->look->shelter,
        .metis = w->crew->look->options->metis,
        .folder = s->name,
        .skill = s->skill,
        .program = s->program,
        .looked_at = record_program(known),
        .now = w->crew->now,
    };

    judge_skill(&place, &a, &record);
    buf_init(&b, SIZE_MAX / 2);
    record_put(&b, &record);
    s->fresh = arena_str(&w->a, buf_str(&b));
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct crew *crew = w->crew;
    size_t i;

    while ((i = atomic_fetch_add(&crew->next, 1)) < crew->count) {
        if (proc_is_asked_to_end())
            atomic_store(&crew->interrupted, true);
        if (atomic_load(&crew->interrupted))
            break;
        judge(w, crew->folders[i], &crew->known[i]);
    }
    return NULL;
}

/* This thread is the first of them; it does what no other can be had for. */
static void judge_all(struct crew *crew, struct worker *workers, size_t wanted)
{
    size_t started = 1;

    for (size_t i = 0; i < wanted; i++)
        workers[i] = (struct worker){.crew = crew};
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
static void stamp_program(const struct look *look, struct seen *s,
                          const struct record *known)
{
    if (!look->options->programs && known->bytes.n)
        s->program = known->program;
    else if (!look->options->programs || known->field[RECORD_PROGRAM].n)
        stamp_file(look->fd, s->name, record_program(known), true, &s->program);
}

/* Without taking it apart, as long as no other program was declared. */
static bool is_as_before(const struct look *look, const struct seen *s,
                         size_t k)
{
    uint32_t flags = record_flags(&look->before, k);
    struct stamp skill, program;

    record_stamps(&look->before, k, &skill, &program);
    if (flags & RECORD_YOUNG || !stamp_eq(&skill, &s->skill))
        return false;
    if (!look->options->programs)
        return true;
    return !(flags & RECORD_DECLARED) && stamp_eq(&program, &s->program);
}

static void add_changed(struct crew *crew, struct seen *s,
                        const struct record *before, struct arena *a)
{
    crew->known = arena_grow(a, crew->known, crew->count, &crew->known_capacity,
                             sizeof *crew->known);
    crew->known[crew->count] = *before;
    crew->folders[crew->count++] = s;
}

/* Both are sorted by bytes. Who is as before gets its record back. */
static void find_changed(const struct look *look, struct seen **folders,
                         size_t count, struct arena *a, struct crew *crew)
{
    const struct records *known = &look->before;
    size_t k = 0;

    crew->folders = arena_array(a, count + 1, sizeof *crew->folders);
    for (size_t i = 0; i < count; i++) {
        struct seen *s = folders[i];
        struct record before = {0};
        int order = -1;

        while (k < known->count &&
               (order = str_cmp(record_folder(known, k), s->name)) < 0)
            k++;
        if (k < known->count && order == 0) {
            s->fresh = record_bytes(known, k);
            if (is_as_before(look, s, k))
                continue;
            before = record_get(known, k);
        }
        stamp_program(look, s, &before);
        if (before.flags & RECORD_DECLARED && !(before.flags & RECORD_YOUNG) &&
            stamp_eq(&before.skill, &s->skill) &&
            stamp_eq(&before.program, &s->program))
            continue;
        add_changed(crew, s, &before, a);
    }
}

/* --- the bytes ------------------------------------------------------------------------------ */

/* Some megabytes: each written once, where it stays. */
static bool write_records(const struct look *look, struct seen **folders,
                          size_t count, struct arena *a, struct shelf *out,
                          struct err *e)
{
    CLEANUP(buf_done) struct buf head = {0};
    size_t bytes;
    char *p, *at;

    buf_init(&head, SIZE_MAX / 2);
    records_begin(&head, &look->of, count);
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
    out->rewritten = !str_eq(str_of(p, bytes), look->known);
    if (!records_parse(str_of(p, bytes), &look->of, a, &out->records))
        return err_set(e, ERR_FAILED, "its metadata does not read back");
    return true;
}

static bool read_changed(struct look *look, struct crew *crew,
                         struct seen **folders, size_t count, struct arena *a,
                         struct shelf *out, struct err *e)
{
    struct worker workers[LIBRARY_THREADS_MAX];
    size_t threads = threads_for(crew->count);
    bool ok;

    judge_all(crew, workers, threads);
    if (crew->interrupted)
        ok = err_set(e, ERR_INTERRUPTED, "interrupted");
    else
        ok = write_records(look, folders, count, a, out, e);
    for (size_t i = 0; i < threads; i++)
        arena_done(&workers[i].a);
    return ok;
}

/* --- a root ----------------------------------------------------------------------------------- */

static bool fail_named(const struct look *look, const char *path, struct err *e)
{
    if (look->root->named) { /* X7 */
        err_wrap(e, "cannot read the folder of skills %s", path);
        return e->code != ERR_REFUSED &&
               err_hint(e, "a folder named on the command line has to be "
                           "there");
    }
    if (e->code != ERR_NOT_FOUND)
        say(look->options, LIBRARY_WARNING, "skipping the skills in %s: %s",
            path, err_first(e));
    err_clear(e);
    return true;
}

bool look_begin(struct look *look, struct arena *a, struct err *e)
{
    const char *path = str_c(look->root->path, a);

    look->fd = -1;
    if (!shelter_open(look->root, a, &look->shelter, &look->fd, e))
        return fail_named(look, path, e);
    look->of = (struct records_of){look->options->metis,
                                   shelter_links(&look->shelter)};
    if (!listing_begin(look->options, look->root, look->fd, &look->listed,
                       &look->listing, e))
        return err_wrap(e, "read the skills in %s", path);
    records_parse(look->known, &look->of, a, &look->before);
    return true;
}

bool look_end(struct look *look, struct arena *a, struct shelf *out,
              struct err *e)
{
    struct crew crew = {.look = look, .now = time(NULL)};
    struct seen **folders;
    size_t count;
    bool ok;

    *out = (struct shelf){.shelter = look->shelter};
    if (look->fd < 0)
        return true;
    ok = listing_end(look->listing, &folders, &count, e);
    if (ok)
        find_changed(look, folders, count, &look->listed, &crew);
    if (ok && crew.count == 0 && look->before.count == count &&
        look->before.bytes.n)
        out->records = look->before;
    else if (ok)
        ok = read_changed(look, &crew, folders, count, a, out, e);
    return ok ||
           err_wrap(e, "read the skills in %.*s", STR_ARG(look->root->path));
}

void look_done(struct look *look)
{
    if (!look->options)
        return;
    listing_done(look->listing);
    fs_close(&look->fd);
    arena_done(&look->listed);
    look->options = NULL;
}
