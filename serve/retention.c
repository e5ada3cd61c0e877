#include "retention.h"

#include "base/fs.h"
#include "mapm/mcp.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Number of files examined per pass; others follow when these are deleted. */
#define LOOK_MAX_FILES 10000

struct ended {
    const char *name;
    struct timespec when;
    uint64_t bytes;
};

struct scan {
    int dirfd;
    struct arena a;
    struct kept kept;
    struct ended *ended;
    size_t count, capacity;
};

/* --- one file --------------------------------------------------------------------- */

static uint64_t now_s(void)
{
    return (uint64_t)time(NULL);
}

/* Returns false for an expiry or size that no call can have: such a file is
 * damaged and would occupy space forever. */
static bool is_possible(const struct stat *st, uint64_t until)
{
    return until <= now_s() + MCP_STATE_MAX_SECONDS &&
           (uint64_t)st->st_size <= KEPT_FILE_MAX_BYTES;
}

/* Returns the expiry in the first line. For a draft without one, it is derived
 * from its time. */
static uint64_t expiry_of(int fd, const struct stat *st, bool is_draft)
{
    char line[24];
    ssize_t n = pread(fd, line, sizeof line, 0);
    size_t digits = 0;
    uint64_t until = 0;

    while (n > 0 && digits < (size_t)n && char_is_digit(line[digits]))
        digits++;
    if (is_draft)
        until = (uint64_t)st->st_mtime + MCP_STATE_MAX_SECONDS;
    else if (!str_number(str_make(line, digits), UINT64_MAX, &until))
        return 0;
    return is_possible(st, until) ? until : 0;
}

static bool has_ended(int fd, const struct stat *st)
{
    char end[2];

    return st->st_size > 2 &&
           pread(fd, end, sizeof end, st->st_size - 2) == sizeof end &&
           memcmp(end, "\n\n", sizeof end) == 0;
}

static int open_one(int dirfd, const char *name, struct stat *st)
{
    int fd = fs_openat(dirfd, name,
                       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);

    if (fd < 0 || (fstat(fd, st) == 0 && S_ISREG(st->st_mode)))
        return fd;
    close(fd);
    return -1;
}

/* Deletes a file unless it is locked, and so in use. */
static bool forget_free(int dirfd, const char *name, int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(dirfd, name, 0) == 0;
}

static void scan_file(struct scan *l, const char *name, bool is_draft)
{
    struct stat st;
    CLEANUP_FD int fd = open_one(l->dirfd, name, &st);

    if (fd < 0)
        return;
    if (expiry_of(fd, &st, is_draft) < now_s() &&
        forget_free(l->dirfd, name, fd))
        return;
    l->kept.files++;
    l->kept.bytes += (uint64_t)st.st_size;
    if (is_draft || !has_ended(fd, &st))
        return;
    l->ended =
        arena_grow(&l->a, l->ended, l->count, &l->capacity, sizeof *l->ended);
    l->ended[l->count++] =
        (struct ended){.name = arena_str(&l->a, str_cstr(name)).p,
                       .when = st.st_mtim,
                       .bytes = (uint64_t)st.st_size};
}

/* --- all of them ------------------------------------------------------------------ */

static void folder_close(DIR **d)
{
    if (*d)
        closedir(*d);
}

/* The pass is bounded, the folder is not: files behind LOOK_MAX_FILES are
 * examined after the ones before them were deleted. */
static void scan_all(struct scan *l)
{
    int fd = fs_openat(l->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    CLEANUP(folder_close) DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *one;
    size_t seen = 0;

    if (fd >= 0 && !d)
        close(fd);
    while (d && seen < LOOK_MAX_FILES && (one = readdir(d))) {
        struct str name = str_cstr(one->d_name);
        bool is_draft = str_ends(name, STR(KEPT_DRAFT_SUFFIX));

        if (!is_draft && !str_ends(name, STR(KEPT_SUFFIX)))
            continue;
        scan_file(l, one->d_name, is_draft);
        seen++;
    }
}

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const struct ended *)a)->when;
    const struct timespec *y = &((const struct ended *)b)->when;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static void drop_ended(struct scan *l, const struct ended *one)
{
    struct stat st;
    CLEANUP_FD int fd = open_one(l->dirfd, one->name, &st);

    if (fd < 0 || !forget_free(l->dirfd, one->name, fd))
        return;
    l->kept.files--;
    l->kept.bytes -= one->bytes;
}

static bool has_room(const struct kept *k, size_t files, uint64_t bytes)
{
    return k->files + files <= KEPT_MAX_FILES &&
           k->bytes + bytes <= KEPT_MAX_BYTES;
}

struct kept kept_scan(int dirfd, size_t more_files, uint64_t more_bytes)
{
    struct scan l = {.dirfd = dirfd};

    scan_all(&l);
    if (l.count && !has_room(&l.kept, more_files, more_bytes))
        qsort(l.ended, l.count, sizeof *l.ended, by_age);
    for (size_t i = 0;
         i < l.count && !has_room(&l.kept, more_files, more_bytes); i++)
        drop_ended(&l, &l.ended[i]);
    arena_done(&l.a);
    return l.kept;
}
