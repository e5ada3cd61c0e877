#include "base/fs.h"
#include "base/invariant.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "fs_open.h"

#define TEMP_MAX_TRIES     100
#define BATCH_LOCK_WAIT_MS 10000 /* for the removal by another process */

bool fs_write_all(int fd, struct str content, struct err *e)
{
    while (content.n) {
        ssize_t n = write(fd, content.p, content.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC; /* not expected, but do not loop forever */
        if (n <= 0)
            return err_errno(e, "write");
        content = str_from_index(content, (size_t)n);
    }
    return true;
}

/* A file that is being written; removed unless it is published. */
struct draft {
    int fd;
    int dirfd;
    const char *name; /* NULL: nothing to remove */
};

static void draft_discard(struct draft *d)
{
    fs_close(&d->fd);
    if (d->name)
        unlinkat(d->dirfd, d->name, 0);
}

static int create_new(int dirfd, const char *name)
{
    return fs_openat(dirfd, name,
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     0600);
}

/* Creates the file with what `write` puts into it. */
static bool create(int dirfd, const char *path, mode_t mode,
                   bool (*write)(int fd, const void *ctx, struct err *e),
                   const void *ctx, struct err *e)
{
    CLEANUP_PLACE struct fs_place place = {0};
    CLEANUP(draft_discard) struct draft d = {.fd = -1};

    if (!fs_place(dirfd, path, &place))
        return fs_failed(e, "create", path);
    d.dirfd = place.fd;
    d.fd = create_new(place.fd, place.name);
    if (d.fd < 0)
        return fs_failed(e, "create", path);
    d.name = place.name;
    if (!write(d.fd, ctx, e))
        return err_wrap(e, "create %s", path);
    if (fchmod(d.fd, mode) < 0)
        return err_errno(e, "set the mode of %s", path);
    if (!fs_close_checked(&d.fd, path, e))
        return false;
    d.name = NULL;
    return true;
}

static bool write_content(int fd, const void *ctx, struct err *e)
{
    const struct str *text = ctx;

    return fs_write_all(fd, *text, e);
}

bool fs_create_at(int dirfd, const char *path, mode_t mode, struct str content,
                  struct err *e)
{
    return create(dirfd, path, mode, write_content, &content, e);
}

struct blocks {
    size_t max;
    bool (*next)(void *ctx, struct buf *block);
    void *ctx;
};

static bool write_blocks(int fd, const void *ctx, struct err *e)
{
    const struct blocks *b = ctx;
    CLEANUP(buf_done) struct buf block = {0};
    size_t written = 0;
    bool more = true;

    buf_init(&block, b->max);
    while (more) {
        more = b->next(b->ctx, &block);
        written += block.n;
        if (block.overflowed || written > b->max)
            return err_set(e, ERR_LIMIT, "larger than %zu bytes", b->max);
        if (!fs_write_all(fd, buf_str(&block), e))
            return false;
        buf_clear(&block);
    }
    return true;
}

bool fs_create_blocks_at(int dirfd, const char *path, mode_t mode, size_t max,
                         bool (*next)(void *ctx, struct buf *block), void *ctx,
                         struct err *e)
{
    const struct blocks b = {max, next, ctx};

    return create(dirfd, path, mode, write_blocks, &b, e);
}

/* Checks the file to replace and gets its mode; `*mode` is unchanged
 * if there is none. */
static bool check_target(const struct fs_place *place, const char *path,
                         mode_t *mode, struct err *e)
{
    struct stat st;

    if (fstatat(place->fd, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT || fs_failed(e, "replace", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_REFUSED, "replace %s: not a regular file", path);
    *mode = st.st_mode & 0777;
    return true;
}

static bool draft_open(struct draft *d, char name[32], struct err *e)
{
    for (int i = 0; i < TEMP_MAX_TRIES; i++) {
        uint64_t random;

        if (getrandom(&random, sizeof random, GRND_NONBLOCK) !=
            (ssize_t)sizeof random) {
            struct timespec now; /* a unique name is sufficient: O_EXCL
                                    protects */

            clock_gettime(CLOCK_MONOTONIC, &now);
            random = (uint64_t)now.tv_nsec << 32 | (uint32_t)getpid();
        }
        snprintf(name, 32, FS_TEMP_PREFIX "%016llx",
                 (unsigned long long)random);
        d->fd = create_new(d->dirfd, name);
        if (d->fd >= 0) {
            d->name = name;
            return true;
        }
        if (errno != EEXIST)
            break;
    }
    return fs_failed(e, "create", name);
}

struct content {
    bool (*write)(void *ctx, int fd, struct err *e);
    void *ctx;
};

/* Writes a temporary file for `path`; it is open. */
static bool draft_write(struct draft *d, char name[32], const char *path,
                        mode_t mode, const struct content *content,
                        struct err *e)
{
    if (!draft_open(d, name, e) || !content->write(content->ctx, d->fd, e))
        return err_wrap(e, "replace %s", path);
    return fchmod(d->fd, mode) == 0 || err_errno(e, "set the mode of %s", path);
}

static bool replace_at(int dirfd, const char *path, mode_t mode,
                       const struct content *content, struct err *e)
{
    CLEANUP_PLACE struct fs_place place = {0};
    char name[32];
    CLEANUP(draft_discard) struct draft d = {.fd = -1};

    if (!fs_place(dirfd, path, &place))
        return fs_failed(e, "replace", path);
    if (!check_target(&place, path, &mode, e))
        return false;
    d.dirfd = place.fd;
    if (!draft_write(&d, name, path, mode, content, e) ||
        !fs_sync(d.fd, path, e) || !fs_close_checked(&d.fd, path, e))
        return false;
    if (renameat(place.fd, name, place.fd, place.name) < 0)
        return err_errno(e, "replace %s", path);
    d.name = NULL; /* renamed: nothing left to discard */
    if (place.fd != AT_FDCWD)
        return fs_sync_dir(place.fd, path, e);

    CLEANUP_FD int here = -1;
    return fs_open_dir(".", &here, e) && fs_sync_dir(here, path, e);
}

static bool write_text(void *ctx, int fd, struct err *e)
{
    const struct str *text = ctx;

    return fs_write_all(fd, *text, e);
}

bool fs_replace_at(int dirfd, const char *path, mode_t mode, struct str content,
                   struct err *e)
{
    struct content c = {write_text, &content};

    return replace_at(dirfd, path, mode, &c, e);
}

/* --- several files --------------------------------------------------------- */

static bool is_draft_name(const char *name)
{
    const size_t n = sizeof FS_TEMP_PREFIX - 1;

    return strncmp(name, FS_TEMP_PREFIX, n) == 0 &&
           strspn(name + n, "0123456789abcdef") == 16 && name[n + 16] == '\0';
}

static void remove_drafts(int dirfd)
{
    int fd = fs_openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!folder) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(folder)))
        if (is_draft_name(entry->d_name))
            unlinkat(dirfd, entry->d_name, 0); /* not a folder */
    closedir(folder);
}

void fs_batch_sweep(int dirfd)
{
    struct err ignored = {0};

    if (fs_lock(dirfd, true, 0, NULL, NULL, &ignored))
        remove_drafts(dirfd);
    else
        err_clear(&ignored);
    /* without the lock, drafts of this process may be removed: its batch fails */
    (void)!fs_lock(dirfd, false, BATCH_LOCK_WAIT_MS, NULL, NULL, &ignored);
}

static void batch_clear(struct fs_batch *b)
{
    arena_done(&b->arena);
    *b = (struct fs_batch){.dirfd = b->dirfd};
}

void fs_batch_done(struct fs_batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        unlinkat(b->dirfd, b->drafts[i].p, 0);
    batch_clear(b);
}

bool fs_batch_add(struct fs_batch *b, const char *name, mode_t mode,
                  struct str content, struct err *e)
{
    CLEANUP_PLACE struct fs_place place = {0};
    struct content c = {write_text, &content};
    char temp[32];
    CLEANUP(draft_discard) struct draft d = {.fd = -1, .dirfd = b->dirfd};

    INVARIANT(b->count < FS_BATCH_MAX && !strchr(name, '/'));
    if (!fs_place(b->dirfd, name, &place))
        return fs_failed(e, "replace", name);
    if (!check_target(&place, name, &mode, e) ||
        !draft_write(&d, temp, name, mode, &c, e) ||
        !fs_close_checked(&d.fd, name, e))
        return false;
    d.name = NULL; /* removed with the batch */
    b->names[b->count] = arena_str(&b->arena, str_cstr(name));
    b->drafts[b->count++] = arena_str(&b->arena, str_cstr(temp));
    return true;
}

bool fs_batch_end(struct fs_batch *b, struct err *e)
{
    if (b->count == 0)
        return true;
    if (!fs_sync_files(b->dirfd, b->drafts, b->count, e))
        return false;
    for (; b->count; b->count--)
        if (renameat(b->dirfd, b->drafts[b->count - 1].p, b->dirfd,
                     b->names[b->count - 1].p) < 0)
            return err_errno(e, "replace %s", b->names[b->count - 1].p);
    batch_clear(b);
    return fs_sync_dir(b->dirfd, "the folder", e);
}

bool fs_replace_user_file_by(const char *path, mode_t mode,
                             bool (*write)(void *ctx, int fd, struct err *e),
                             void *ctx, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int fd = -1;
    struct content content = {write, ctx};
    struct str whole = str_cstr(path);
    size_t slash = str_find_last(whole, '/');
    struct str folder = STR("."), name = whole;

    if (slash != SIZE_MAX) {
        folder = str_slice(whole, 0, slash ? slash : 1);
        name = str_from_index(whole, slash + 1);
    }
    if (name.n == 0)
        return err_set(e, ERR_REFUSED, "%s: not the name of a file", path);
    return (fs_open_dir(str_dup0(folder, &a), &fd, e) &&
            replace_at(fd, str_dup0(name, &a), mode, &content, e)) ||
           err_wrap(e, "cannot write %s", path);
}

bool fs_replace_user_file(const char *path, mode_t mode, struct str content,
                          struct err *e)
{
    return fs_replace_user_file_by(path, mode, write_text, &content, e);
}
