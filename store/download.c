#include "download.h"

#include "base/fs.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "packs.h"

/*
 * One download for many processes (F11): a lock per repository, a file in
 * store/locks/. The file's content is the answers of the last holder:
 *
 *     mapm-refs-1 BOOT-ID NANOSECONDS SHA-256 LF  of all lines below it
 *     COMMIT SP REST LF …
 *
 * An answer counts for a process that was running already when the holder
 * took the lock, which it did before it sent a request: BOOT-ID names the
 * boot, NANOSECONDS is CLOCK_BOOTTIME. The kernel releases the lock of a
 * process that died.
 */

#define BOOT_ID_PATH "/proc/sys/kernel/random/boot_id"
#define HEADER_BYTES 160
#define MAGIC        "mapm-refs-1"

uint64_t download_now_ns(void)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- the text ------------------------------------------------------------- */

/* Cuts the header off `text`. Returns true if the text is complete, of this
 * boot and not older than `since_ns`. */
static bool cut_header(struct str *text, struct str boot, uint64_t since_ns,
                       struct hash *named)
{
    struct str line, magic, id, time;
    uint64_t ns;

    return boot.n && str_cut(text, '\n', &line) && text->p &&
           str_cut(&line, ' ', &magic) && str_is(magic, MAGIC) &&
           str_cut(&line, ' ', &id) && str_eq(id, boot) &&
           str_cut(&line, ' ', &time) && str_number(time, INT64_MAX, &ns) &&
           ns >= since_ns && hash_parse(line, named);
}

void download_read(struct str text, struct str boot, uint64_t since_ns,
                   struct arena *a, struct map *told)
{
    struct hash named, real;
    struct str line;

    map_init(told, a);
    if (!cut_header(&text, boot, since_ns, &named))
        return;
    real = hash_of(text);
    if (!hash_eq(&named, &real))
        return;
    while (text.n && str_cut(&text, '\n', &line)) {
        size_t space = str_find_char(line, ' ');
        struct str *commit;

        if (space == SIZE_MAX || map_has(told, str_from_index(line, space + 1)))
            continue;
        commit = arena_new(a, struct str);
        *commit = str_slice(line, 0, space);
        map_put(told, str_from_index(line, space + 1), commit);
    }
}

/* --- the lock ------------------------------------------------------------- */

static struct download *find(const struct store *s, struct str repository)
{
    return map_find(&s->downloads, repository);
}

static struct str boot_id(struct arena *a)
{
    struct err ignored = {0};
    struct str text;

    if (!fs_read_file_at(AT_FDCWD, BOOT_ID_PATH, 64, a, &text, &ignored))
        return str_make("", 0);
    return str_trim(text);
}

static int open_lock(const struct store *s, struct str repository)
{
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
    char path[] = "locks/0123456789abcdef0123456789abcdef";
    char hex[HASH_HEX_CHARS + 1];
    struct hash h = hash_of(repository);
    int fd;

    hash_format(&h, hex);
    memcpy(path + 6, hex, sizeof path - 7);
    fd = fs_openat(s->store_fd, path, flags, 0600);
    if (fd >= 0)
        return fd;
    /* Replaces anything but a folder of this name. */
    (void)fs_repair_at(s->store_fd, "locks", S_IFDIR, 0700);
    if (mkdirat(s->store_fd, "locks", 0700) < 0 && errno != EEXIST)
        return -1;
    return fs_openat(s->store_fd, path, flags, 0600);
}

static unsigned count_locks(const struct store *s)
{
    unsigned n = 0;

    for (size_t i = 0; i < s->downloads.count; i++) {
        const struct download *d = s->downloads.entries[i].value;

        n += d->state == DOWNLOAD_LOCKED;
    }
    return n;
}

/* With `fd` < 0, the repository is downloaded without the lock, and its refs
 * are not published, because they may be older than a lock that another process
 * takes later. */
static void add(struct store *s, struct str repository, int fd)
{
    struct download *d = find(s, repository);

    if (d == NULL) {
        d = arena_new(&s->arena, struct download);
        map_put(&s->downloads, arena_str(&s->arena, repository), d);
    }
    d->fd = fd;
    d->state = fd < 0 ? DOWNLOAD_ALONE : DOWNLOAD_LOCKED;
    d->since_ns = download_now_ns();
}

bool store_begin_download(struct store *s, struct str repository,
                          void (*waiting)(void *ctx), void *ctx, bool *taken,
                          struct err *e)
{
    CLEANUP_FD int fd = -1;
    const struct download *d = find(s, repository);
    unsigned locked, wait_ms;
    struct err problem = {0};

    *taken = false;
    if (d && d->state != DOWNLOAD_NONE)
        return true;
    locked = count_locks(s);
    wait_ms = locked ? 0 : DOWNLOAD_WAIT_SECONDS * 1000;
    if (locked < DOWNLOAD_MAX_LOCKS)
        fd = open_lock(s, repository);
    if (fd < 0 || !fs_lock(fd, true, wait_ms, waiting, ctx, &problem)) {
        add(s, repository, -1);
        if (problem.code == ERR_INTERRUPTED)
            *e = problem;
        return problem.code != ERR_INTERRUPTED;
    }
    state_refresh(
        s->state); /* use refs that other processes have written since */
    packs_rescan(s);
    s->fans_listed = false;
    add(s, repository, fd);
    fd = -1;
    *taken = true;
    return true;
}

/* Reads what the last holder wrote, if its header is valid. Reads it once for
 * all lookups, because a catalog may have thousands of lines. */
static void read_answers(const struct store *s, struct download *d)
{
    struct str boot = boot_id(&d->arena), text = {"", 0}, header;
    struct err ignored = {0};
    char head[HEADER_BYTES];
    struct hash named;
    ssize_t n = pread(d->fd, head, sizeof head, 0);

    d->has_read = true;
    header = str_make(head, n > 0 ? (size_t)n : 0);
    if (!cut_header(&header, boot, s->opened_ns, &named) ||
        lseek(d->fd, 0, SEEK_SET) < 0 ||
        !fs_read_fd(d->fd, DOWNLOAD_REFS_MAX_BYTES, &d->arena, &text, &ignored))
        text = str_make("", 0);
    download_read(text, boot, s->opened_ns, &d->arena, &d->told);
}

bool store_find_fresh_ref(struct store *s, struct str repository,
                          struct str rest, struct arena *a, struct str *commit)
{
    struct download *d = find(s, repository);
    const struct str *told;

    if (d == NULL || d->state != DOWNLOAD_LOCKED)
        return false;
    if (!d->has_read)
        read_answers(s, d);
    told = map_find(&d->told, rest);
    if (told)
        *commit = arena_str(a, *told);
    return told != NULL;
}

void download_note_ref(struct store *s, struct str repository, struct str rest,
                       struct str commit)
{
    struct download *d = find(s, repository);

    if (d == NULL || d->state != DOWNLOAD_LOCKED || str_has_char(rest, '\n'))
        return;
    if (!d->has_lines)
        buf_init(&d->lines, DOWNLOAD_REFS_MAX_BYTES - HEADER_BYTES);
    d->has_lines = true;
    buf_printf(&d->lines, "%.*s %.*s\n", STR_ARG(commit), STR_ARG(rest));
}

/* A file torn by a crash or a full disk does not match its hash. */
static void write_answers(struct download *d)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str lines = buf_str(&d->lines), boot = boot_id(&a), text;
    char hex[HASH_HEX_CHARS + 1];
    struct hash h = hash_of(lines);
    struct err ignored = {0};

    if (boot.n == 0 || d->lines.overflowed)
        return;
    hash_format(&h, hex);
    text = arena_printf(&a, MAGIC " %.*s %" PRIu64 " %s\n%.*s", STR_ARG(boot),
                        d->since_ns, hex, STR_ARG(lines));
    if (ftruncate(d->fd, 0) < 0 || lseek(d->fd, 0, SEEK_SET) < 0 ||
        !fs_write_all(d->fd, text, &ignored))
        err_clear(&ignored); /* the next process then asks the host */
}

static void release(struct download *d)
{
    if (d->state != DOWNLOAD_LOCKED)
        return;
    if (d->has_lines)
        buf_done(&d->lines);
    d->has_lines = false;
    d->has_read = false;
    arena_done(&d->arena);
    fs_close(&d->fd); /* also releases the lock */
    d->state = DOWNLOAD_NONE;
}

void store_cancel_download(struct store *s, struct str repository)
{
    struct download *d = find(s, repository);

    if (d)
        release(d);
}

void store_end_downloads(struct store *s)
{
    for (size_t i = 0; i < s->downloads.count; i++)
        release(s->downloads.entries[i].value);
}

void downloads_publish(struct store *s)
{
    for (size_t i = 0; i < s->downloads.count; i++) {
        struct download *d = s->downloads.entries[i].value;

        if (d->state == DOWNLOAD_LOCKED && d->has_lines)
            write_answers(d);
    }
    store_end_downloads(s);
}
