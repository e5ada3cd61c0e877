#include "scan.h"

#include "base/fs.h"
#include "base/proc.h"
#include "base/threads.h"
#include "mapm/limits.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "listing.h"

/* The scan of a root: unchanged skills keep their record, others are read.
 * Threads share the files; each has an arena of its own for records. */

#define YOUNG_SECONDS     1
#define GLANCE_MIN_SKILLS 256 /* fewer are checked in less than 0.5 ms */

struct changes {
    const struct scan *scan;
    int64_t now;
    struct scan_entry **folders; /* to be read */
    struct record *known;        /* previous record of each; no bytes if
                                  * there is none */
    size_t count, known_capacity;
    struct arena *arenas; /* arenas of the new records, one per thread */
};

/* --- reading ---------------------------------------------------------------------------- */

/* Validates a skill; the new record is allocated in `fresh`. */
static void validate(const struct changes *changes, struct arena *fresh,
                     struct scan_entry *s, const struct record *known)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct record record;
    struct skill_place place = {
        .bounds = &changes->scan->bounds,
        .metis = changes->scan->options->metis,
        .options = changes->scan->options,
        .folder = s->name,
        .skill = s->skill,
        .program = s->program,
        .fingerprinted = record_program(known),
        .now = changes->now,
    };

    skill_validate(&place, &a, &record);
    buf_init(&b, SIZE_MAX / 2);
    record_put(&b, &record);
    s->fresh = arena_str(fresh, buf_str(&b));
}

static bool validate_changed(void *ctx, size_t thread, size_t index,
                             struct err *e)
{
    const struct changes *changes = ctx;

    if (proc_is_asked_to_end())
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    validate(changes, &changes->arenas[thread], changes->folders[index],
             &changes->known[index]);
    return true;
}

/* --- what changed ------------------------------------------------------------------------- */

/* Reads the fingerprint of the declared program or SKILL.star, or copies that
 * of the record without `programs`. */
static void fingerprint_program(const struct scan *scan, struct scan_entry *s,
                                const struct record *known)
{
    if (!scan->options->programs && known->bytes.n)
        s->program = known->program;
    else if (!scan->options->programs || known->field[RECORD_PROGRAM].n)
        fingerprint_file(scan->fd, s->name, record_program(known), true,
                         &s->program);
}

/* Compares without parsing the record, unless it declares another program. */
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

static void add_changed(struct changes *changes, struct scan_entry *s,
                        const struct record *before, struct arena *a)
{
    changes->known =
        arena_grow(a, changes->known, changes->count, &changes->known_capacity,
                   sizeof *changes->known);
    changes->known[changes->count] = *before;
    changes->folders[changes->count++] = s;
}

/* Both are sorted by bytes. An unchanged skill keeps its record. */
static void find_changed(const struct scan *scan, struct scan_entry **folders,
                         size_t count, struct arena *a, struct changes *changes)
{
    const struct records *known = &scan->before;
    size_t k = 0;

    changes->folders = arena_array(a, count + 1, sizeof *changes->folders);
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
        add_changed(changes, s, &before, a);
    }
}

/* --- the bytes ------------------------------------------------------------------------------ */

/* The times of a root say nothing of its groups. */
static struct fingerprint root_to_keep(const struct scan *scan,
                                       const struct record_batch *out)
{
    struct fingerprint none = {0};

    return out->group_count ? none : scan->root_then;
}

/* Records take some megabytes, so each is written once, in its final place. */
static bool write_records(const struct scan *scan, struct scan_entry **folders,
                          size_t count, struct arena *a,
                          struct record_batch *out, struct err *e)
{
    CLEANUP(buf_done) struct buf head = {0};
    struct fingerprint root;
    size_t bytes;
    char *p, *at;

    root = root_to_keep(scan, out);
    buf_init(&head, SIZE_MAX / 2);
    records_begin(&head, &scan->of, &root, count);
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
    out->rewritten = !str_eq(str_make(p, bytes), scan->known);
    if (!records_parse(str_make(p, bytes), &scan->of, a, &out->records))
        return err_set(e, ERR_FAILED, "its metadata does not read back");
    return true;
}

static bool read_changed(struct scan *scan, struct changes *changes,
                         struct scan_entry **folders, size_t count,
                         struct arena *a, struct record_batch *out,
                         struct err *e)
{
    struct arena arenas[LIBRARY_THREADS_MAX] = {0};
    size_t threads = threads_for(changes->count);
    bool ok;

    changes->arenas = arenas;
    ok = threads_each(changes->count, threads, validate_changed, changes, e) &&
         write_records(scan, folders, count, a, out, e);
    for (size_t i = 0; i < threads; i++)
        arena_done(&arenas[i]);
    return ok;
}

/* --- a root ----------------------------------------------------------------------------------- */

static bool fail_named(const struct scan *scan, const char *path, struct err *e)
{
    if (scan->root->named) { /* X7 */
        if (!err_names(e, path))
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

static struct fingerprint fingerprint_root(int fd)
{
    struct fingerprint f = {0};
    struct stat st;

    if (fstat(fd, &st) == 0 && st.st_ctim.tv_sec < time(NULL) - YOUNG_SECONDS)
        f = fingerprint_of(&st);
    return f;
}

/* Returns whether the records are those of all skills, as far as the root and
 * the records themselves tell. */
static bool is_as_recorded(const struct scan *scan)
{
    const struct records *r = &scan->before;

    if (r->count < GLANCE_MIN_SKILLS || fingerprint_is_zero(&r->root) ||
        !fingerprint_eq(&r->root, &scan->root_then))
        return false;
    for (size_t i = 0; i < r->count; i++)
        if (record_flags(r, i) & RECORD_YOUNG)
            return false;
    return true;
}

bool scan_begin(struct scan *scan, struct arena *a, struct err *e)
{
    const char *path = str_dup0(scan->root->path, a);

    scan->fd = -1;
    if (!root_open(scan->root, a, &scan->bounds, &scan->fd, e))
        return fail_named(scan, path, e);
    scan->of = (struct records_of){scan->options->metis,
                                   root_bounds_hash(&scan->bounds)};
    scan->root_then = fingerprint_root(scan->fd);
    if (scan->glance &&
        records_parse(scan->known, &scan->of, a, &scan->before) &&
        is_as_recorded(scan))
        return true;
    if (!listing_begin(scan->options, scan->root, scan->fd, &scan->listed,
                       &scan->listing, e))
        return err_wrap(e, "read the skills in %s", path);
    if (!scan->before.bytes.p)
        records_parse(scan->known, &scan->of, a, &scan->before);
    return true;
}

/* Returns whether the records can stay, bytes and all. */
static bool is_unchanged(const struct scan *scan, const struct changes *changes,
                         size_t count, const struct record_batch *out)
{
    const struct records *before = &scan->before;
    struct fingerprint root = root_to_keep(scan, out);

    return changes->count == 0 && before->count == count && before->bytes.n &&
           (fingerprint_is_zero(&scan->root_then) ||
            fingerprint_eq(&before->root, &root));
}

bool scan_end(struct scan *scan, struct arena *a, struct record_batch *out,
              struct err *e)
{
    struct changes changes = {.scan = scan, .now = time(NULL)};
    struct scan_entry **folders;
    size_t count;
    bool ok;

    *out =
        (struct record_batch){.bounds = scan->bounds, .has_all_groups = true};
    if (scan->fd < 0)
        return true;
    if (!scan->listing) {
        out->records = scan->before;
        out->is_glanced = true;
        return true;
    }
    ok = listing_end(scan->listing, &folders, &count, e);
    out->has_all_groups =
        listing_groups(scan->listing, a, &out->groups, &out->group_count);
    if (ok)
        find_changed(scan, folders, count, &scan->listed, &changes);
    if (ok && is_unchanged(scan, &changes, count, out))
        out->records = scan->before;
    else if (ok)
        ok = read_changed(scan, &changes, folders, count, a, out, e);
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
