#include "journal.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define JOURNAL_MODE 0600
#define BLOCK_BYTES  (256u * 1024)
/* Maximum wait for the workers of a killed process to end. */
#define LOCK_WAIT_MS      5000
#define JOURNALS_MAX      (2 * BATCH_MAX_SHARDS)
#define JOURNAL_MAX_BYTES (1ull << 40)

/* `size` is the size of complete records. Bytes after it were written by a
 * process that was killed during the write; they are truncated before the next
 * record is written. */
struct batch_journal_shared {
    pthread_mutex_t mutex;
    _Atomic uint64_t size;
    uint64_t first;
};

uint64_t batch_journal_size(const struct batch_journal *j)
{
    return j->shared->size;
}

uint64_t batch_journal_first(const struct batch_journal *j)
{
    return j->shared->first;
}

/* --- reading ---------------------------------------------------------------- */

struct reading {
    const struct batch_journal *j;
    uint64_t at, end; /* offset of the next record; size of the file */
    struct buf block; /* bytes of the file from `at` on */
};

static bool read_more(struct reading *r, size_t want, struct err *e)
{
    uint64_t left = r->end - r->at - r->block.n;
    size_t room = want > r->block.n ? want - r->block.n : 0;
    char *p;

    if (room < BLOCK_BYTES)
        room = BLOCK_BYTES;
    if (room > left)
        room = (size_t)left;
    p = buf_reserve(&r->block, room);
    while (room) {
        ssize_t n = pread(r->j->fd, p, room, (off_t)(r->at + r->block.n));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, "read %s", r->j->path);
        if (n == 0)
            return err_set(e, ERR_DAMAGED, "%s was cut off", r->j->path);
        p += n;
        r->block.n += (size_t)n;
        room -= (size_t)n;
    }
    return true;
}

static void drop(struct reading *r, size_t n)
{
    if (!n)
        return;
    memmove(r->block.p, r->block.p + n, r->block.n - n);
    r->block.n -= n;
    r->at += n;
}

/* Reads the next record. Sets `*found` to false if there is no complete record
 * at r->at. */
static bool next_frame(struct reading *r, size_t *from, struct str *payload,
                       bool *found, struct err *e)
{
    for (;;) {
        size_t need;
        enum batch_journal_frame f = batch_journal_frame(
            str_from_index(buf_str(&r->block), *from), payload, &need);

        *found = f == JOURNAL_WHOLE;
        if (*found)
            *from += need;
        if (f != JOURNAL_MORE)
            return true;
        drop(r, *from);
        *from = 0;
        if (need > r->end - r->at)
            return true;
        if (!read_more(r, need, e))
            return false;
    }
}

static bool damaged(const struct batch_journal *j, uint64_t at, struct err *e)
{
    err_set(e, ERR_DAMAGED, "%s: byte %llu: not a record of a journal", j->path,
            (unsigned long long)at);
    return err_hint(e, "it cannot be continued; another folder for --journal "
                       "starts over, and repeats commands");
}

static bool take_record(const struct batch_journal *j, uint64_t at,
                        struct str payload,
                        const struct batch_journal_each *each, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct batch_journal_record record;
    struct err why = {0};

    if (!batch_journal_parse(payload, &a, &record, &why))
        return damaged(j, at, e);
    return each->take(each->ctx, at, &record, e);
}

/* Reads all records. Sets `*whole` if every byte belongs to a record. */
static bool read_records(struct reading *r,
                         const struct batch_journal_each *each, bool *whole,
                         struct err *e)
{
    size_t from = 0;

    for (;;) {
        uint64_t at = r->at + from;
        struct str payload;

        *whole = at == r->end;
        if (*whole)
            return true;
        if (!next_frame(r, &from, &payload, whole, e))
            return false;
        at = r->at + from;
        if (!*whole) {
            drop(r, from); /* r->at is what cannot be read */
            return true;
        }
        if (!take_record(r->j, at - payload.n - JOURNAL_HEADER_BYTES - 1,
                         payload, each, e))
            return false;
    }
}

static void reading_init(struct reading *r, const struct batch_journal *j,
                         uint64_t at, uint64_t end)
{
    *r = (struct reading){.j = j, .at = at, .end = end};
    buf_init(&r->block, BATCH_RECORD_MAX_BYTES + 2 * BLOCK_BYTES);
}

bool batch_journal_read(const struct batch_journal *j, uint64_t *at,
                        uint64_t end, const struct batch_journal_each *each,
                        struct err *e)
{
    struct reading r;
    bool whole, ok;

    reading_init(&r, j, *at, end);
    ok = read_records(&r, each, &whole, e) && (whole || damaged(j, r.at, e));
    buf_done(&r.block);
    *at = end;
    return ok;
}

/* --- opening ---------------------------------------------------------------- */

/* Finds the end of the complete records. Only an interrupted write leaves bytes
 * after the last LF. */
static bool find_end(const struct batch_journal *j, uint64_t size,
                     uint64_t *end, struct err *e)
{
    CLEANUP_HEAP char *block = heap_alloc(BLOCK_BYTES);

    while (size) {
        size_t n = size < BLOCK_BYTES ? (size_t)size : BLOCK_BYTES;
        ssize_t got = pread(j->fd, block, n, (off_t)(size - n));
        size_t last;

        if (got != (ssize_t)n)
            return err_errno(e, "read %s", j->path);
        last = str_find_last(str_make(block, n), '\n');
        size -= n;
        if (last != SIZE_MAX) {
            *end = size + last + 1;
            return true;
        }
    }
    *end = 0;
    return true;
}

static bool cut_torn(struct batch_journal *j, struct err *e)
{
    struct stat st;
    uint64_t end;

    if (fstat(j->fd, &st) < 0)
        return err_errno(e, "%s", j->path);
    if ((uint64_t)st.st_size > JOURNAL_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "%s is too large", j->path);
    if (!find_end(j, (uint64_t)st.st_size, &end, e))
        return false;
    if (end < (uint64_t)st.st_size && ftruncate(j->fd, (off_t)end) < 0)
        return err_errno(e, "%s", j->path);
    j->shared->size = end;
    return true;
}

static bool write_at(const struct batch_journal *j, uint64_t at,
                     struct str bytes, struct err *e)
{
    while (bytes.n) {
        ssize_t n = pwrite(j->fd, bytes.p, bytes.n, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, "write %s", j->path);
        bytes = str_from_index(bytes, (size_t)n);
        at += (uint64_t)n;
    }
    return true;
}

static bool write_head(struct batch_journal *j, int dir,
                       const struct batch_journal_head *head, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, BATCH_RECORD_MAX_BYTES);
    batch_journal_put_head(&b, head);
    if (!write_at(j, 0, buf_str(&b), e) || !batch_journal_sync(j, e) ||
        !fs_sync(dir, "the folder of the journal", e))
        return false;
    j->shared->first = b.n;
    j->shared->size = b.n;
    return true;
}

static bool check_head(const struct batch_journal *j,
                       const struct batch_journal_head *is,
                       const struct batch_journal_head *wanted, struct err *e)
{
    if (!str_eq(is->metaskill, wanted->metaskill))
        err_set(e, ERR_REFUSED, "%s is of the metaskill %.*s", j->path,
                STR_ARG(is->metaskill));
    else if (!str_eq(is->digest, wanted->digest))
        err_set(e, ERR_REFUSED,
                "%s is of another version of %.*s: it began with %.*s, and now "
                "it is %.*s",
                j->path, STR_ARG(is->metaskill), STR_ARG(is->digest),
                STR_ARG(wanted->digest));
    else if (is->shard != wanted->shard || is->shards != wanted->shards)
        err_set(e, ERR_REFUSED, "%s is of shard %u of %u", j->path, is->shard,
                is->shards);
    else
        return true;
    return err_hint(e, "another folder for --journal starts over");
}

static bool read_head(struct batch_journal *j,
                      const struct batch_journal_head *wanted, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct batch_journal_head head;
    struct reading r;
    struct str payload;
    struct err why = {0};
    size_t from = 0;
    bool found, ok;

    reading_init(&r, j, 0, j->shared->size);
    ok = next_frame(&r, &from, &payload, &found, e);
    if (ok && (!found || !batch_journal_parse_head(payload, &a, &head, &why)))
        ok = damaged(j, 0, e);
    else if (ok)
        ok = check_head(j, &head, wanted, e);
    j->shared->first = from;
    buf_done(&r.block);
    return ok;
}

/* Rejects journals of another number of shards in the folder, such as
 * "3-of-8.journal": their shards have other inputs. */
static bool check_others(int dir, const char *path,
                         const struct batch_journal_head *head, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct fs_entry *list;
    size_t count;
    char ending[48];

    snprintf(ending, sizeof ending, "-of-%u.journal", head->shards);
    if (!fs_list_open(dir, JOURNALS_MAX, &a, &list, &count, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!str_ends(list[i].name, STR(".journal")) ||
            str_ends(list[i].name, str_cstr(ending)))
            continue;
        err_set(e, ERR_REFUSED,
                "%s: %s is for another number of shards than %u, with other "
                "inputs",
                path, list[i].name.p, head->shards);
        return err_hint(e, "use --shard as before; another folder for "
                           "--journal starts over");
    }
    return true;
}

static bool share(struct batch_journal *j, struct err *e)
{
    pthread_mutexattr_t kind;
    void *p = mmap(NULL, sizeof *j->shared, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return err_errno(e, "share memory with workers");
    j->shared = p;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&j->shared->mutex, &kind);
    pthread_mutexattr_destroy(&kind);
    return true;
}

static bool open_file(struct batch_journal *j, int dir, const char *name,
                      struct err *e)
{
    struct stat st;

    j->fd = fs_openat(dir, name,
                      O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                      JOURNAL_MODE);
    if (j->fd < 0 || fstat(j->fd, &st) < 0)
        return err_errno(e, "%s", j->path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_REFUSED, "%s is not a regular file", j->path);
    if (fs_lock(j->fd, true, LOCK_WAIT_MS, NULL, NULL, e))
        return true;
    return e->code == ERR_BUSY
               ? err_wrap(e, "%s: another process works at this shard", j->path)
               : false;
}

bool batch_journal_open(const char *dir, const struct batch_journal_head *head,
                        struct arena *a, struct batch_journal *out,
                        struct err *e)
{
    struct str name =
        arena_printf(a, "%u-of-%u.journal", head->shard, head->shards);
    CLEANUP_FD int folder = -1;

    *out = (struct batch_journal){.fd = -1};
    out->path = fs_join(str_cstr(dir), name, a).p;
    if (!fs_make_dirs(dir, 0755, e) || !fs_open_dir(dir, &folder, e) ||
        !check_others(folder, dir, head, e) || !share(out, e) ||
        !open_file(out, folder, name.p, e) || !cut_torn(out, e))
        return false;
    return out->shared->size ? read_head(out, head, e)
                             : write_head(out, folder, head, e);
}

void batch_journal_close(struct batch_journal *j)
{
    fs_close(&j->fd);
    if (j->shared)
        munmap(j->shared, sizeof *j->shared);
    j->shared = NULL;
}

/* --- appending -------------------------------------------------------------- */

/* Locks the mutex, also if its owner was killed. */
static void lock(struct batch_journal_shared *s)
{
    if (pthread_mutex_lock(&s->mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&s->mutex);
}

static bool append_locked(struct batch_journal *j, struct str bytes,
                          struct err *e)
{
    struct batch_journal_shared *s = j->shared;
    struct stat st;

    if (fstat(j->fd, &st) < 0)
        return err_errno(e, "%s", j->path);
    if ((uint64_t)st.st_size != s->size && ftruncate(j->fd, (off_t)s->size) < 0)
        return err_errno(e, "%s", j->path);
    if (!write_at(j, s->size, bytes, e))
        return false;
    s->size += bytes.n;
    return true;
}

bool batch_journal_append(struct batch_journal *j,
                          const struct batch_journal_record *r, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    bool ok;

    buf_init(&b, BATCH_RECORD_MAX_BYTES + JOURNAL_HEADER_BYTES + 1);
    batch_journal_put(&b, r);
    if (!buf_check(&b, "a record of the journal", e))
        return false;
    lock(j->shared);
    ok = append_locked(j, buf_str(&b), e);
    pthread_mutex_unlock(&j->shared->mutex);
    return ok;
}

bool batch_journal_sync(const struct batch_journal *j, struct err *e)
{
    if (fdatasync(j->fd) == 0)
        return true;
    return err_errno(e, "write %s to the disk", j->path);
}
