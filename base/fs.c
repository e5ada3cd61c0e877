#include "base/fs.h"

#include "base/arena.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "fs_open.h"

#define LOCK_PAUSE_MAX_MS 100
#define BLOCK_BYTES       65536u

void fs_close(int *fd)
{
    int saved = errno;

    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = saved;
}

bool fs_open_dir(const char *path, int *fd, struct err *e)
{
    int opened =
        fs_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

    if (opened < 0)
        return fs_failed(e, "open", path);
    *fd = opened;
    return true;
}

bool fs_open_dir_at(int dirfd, const char *path, int *fd, struct err *e)
{
    int opened = fs_beneath(dirfd, path, O_RDONLY | O_DIRECTORY, 0);

    if (opened < 0)
        return fs_failed(e, "open", *path ? path : ".");
    *fd = opened;
    return true;
}

/* Asks for the path of the open file. realpath() takes a call for each part of
 * the path and of the targets of links. */
static bool find_real_path(const char *path, char *real, size_t size)
{
    CLEANUP_FD int fd = fs_openat(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);

    return fd >= 0 && fs_path_of(fd, real, size) == real &&
           fs_has_no_links(real);
}

bool fs_real_path(const char *path, struct arena *a, struct str *out,
                  struct err *e)
{
    char real[PATH_MAX];
    struct str text = str_cstr(path);

    /* In most cases the path has no link, which one call tells. */
    if (path[0] == '/' && fs_path_is_relative_clean(str_from_index(text, 1))) {
        if (fs_has_no_links(path)) {
            *out = arena_str(a, text);
            return true;
        }
        if (errno == ENOENT || errno == ENOTDIR)
            return fs_failed(e, "open", path);
    }
    if (!find_real_path(path, real, sizeof real) && !realpath(path, real))
        return fs_failed(e, "open", path);
    *out = arena_str(a, str_cstr(real));
    return true;
}

/* Takes ownership of `opened`, also on failure. */
static bool must_be_regular(int opened, const char *path, int *fd,
                            struct stat *st, struct err *e)
{
    CLEANUP_FD int held = opened;
    struct stat found;

    if (opened < 0)
        return fs_failed(e, "open", path);
    if (fstat(opened, &found) < 0)
        return err_errno(e, "examine %s", path);
    if (!S_ISREG(found.st_mode))
        return err_set(e, ERR_REFUSED, "open %s: not a regular file", path);
    if (st)
        *st = found;
    *fd = opened;
    held = -1;
    return true;
}

/* O_NONBLOCK: opening a FIFO without a writer must not block. */
#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

bool fs_open_file_at(int dirfd, const char *path, int *fd, struct stat *st,
                     struct err *e)
{
    return must_be_regular(fs_beneath(dirfd, path, READ_FLAGS | O_NOFOLLOW, 0),
                           path, fd, st, e);
}

bool fs_read_fd(int fd, size_t max_bytes, struct arena *a, struct str *out,
                struct err *e)
{
    size_t capacity = 4096, used = 0;
    struct stat st;
    char *p;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        if ((uint64_t)st.st_size > max_bytes)
            return err_set(e, ERR_LIMIT, "larger than %zu bytes", max_bytes);
        capacity = (size_t)st.st_size + 1; /* one more byte to detect the end */
    }
    p = arena_alloc(a, capacity + 1);
    for (;;) {
        ssize_t n = read(fd, p + used, capacity - used);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fs_failed_fd(e, "read", fd);
        used += (size_t)n;
        if (used > max_bytes)
            return err_set(e, ERR_LIMIT, "larger than %zu bytes", max_bytes);
        if (n == 0)
            break;
        if (used == capacity) {
            char *larger = arena_alloc(a, capacity * 2 + 1);

            memcpy(larger, p, used);
            p = larger;
            capacity *= 2;
        }
    }
    p[used] = '\0';
    *out = str_make(p, used);
    return true;
}

bool fs_read_upto(int fd, char *p, size_t room, size_t *n, struct err *e)
{
    while (*n < room) {
        ssize_t got = read(fd, p + *n, room - *n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fs_failed_fd(e, "read", fd);
        if (got == 0)
            break;
        *n += (size_t)got;
    }
    return true;
}

bool fs_hash_fd(int fd, uint64_t max_bytes, uint64_t *size, struct hash *out,
                struct err *e)
{
    struct hash_state state;
    CLEANUP_HEAP char *block = heap_resize(NULL, BLOCK_BYTES);
    size_t n;

    *size = 0;
    hash_init(&state);
    do {
        n = 0;
        if (!fs_read_upto(fd, block, BLOCK_BYTES, &n, e))
            return false;
        hash_add(&state, str_make(block, n));
        *size += n;
    } while (n == BLOCK_BYTES && *size <= max_bytes);
    *out = hash_end(&state);
    return true;
}

static bool read_whole(int fd, const char *path, size_t max_bytes,
                       struct arena *a, struct str *out, struct err *e)
{
    if (!fs_read_fd(fd, max_bytes, a, out, e))
        return err_wrap(e, "read %s", path);
    return true;
}

bool fs_read_file_at(int dirfd, const char *path, size_t max_bytes,
                     struct arena *a, struct str *out, struct err *e)
{
    CLEANUP_FD int fd = -1;

    return fs_open_file_at(dirfd, path, &fd, NULL, e) &&
           read_whole(fd, path, max_bytes, a, out, e);
}

bool fs_read_optional_at(int dirfd, const char *path, size_t max_bytes,
                         struct arena *a, struct str *out, struct err *e)
{
    if (fs_read_file_at(dirfd, path, max_bytes, a, out, e))
        return true;
    if (e->code != ERR_NOT_FOUND)
        return false;
    err_clear(e);
    *out = STR("");
    return true;
}

bool fs_open_user_file(const char *path, int *fd, struct err *e)
{
    int opened = fs_openat(AT_FDCWD, path, READ_FLAGS, 0);

    return must_be_regular(opened, path, fd, NULL, e);
}

bool fs_read_user_file(const char *path, size_t max_bytes, struct arena *a,
                       struct str *out, struct err *e)
{
    CLEANUP_FD int fd = -1;

    return fs_open_user_file(path, &fd, e) &&
           read_whole(fd, path, max_bytes, a, out, e);
}

bool fs_stat_at(int dirfd, const char *path, struct stat *st)
{
    CLEANUP_PLACE struct fs_place place = {0};

    if (*path == '\0' || strcmp(path, ".") == 0)
        return fstatat(dirfd, ".", st, AT_SYMLINK_NOFOLLOW) == 0;
    return fs_place(dirfd, path, &place) &&
           fstatat(place.fd, place.name, st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool fs_exists_at(int dirfd, const char *path)
{
    struct stat st;

    return fs_stat_at(dirfd, path, &st);
}

bool fs_find_mount(int dirfd, const char *path, struct fs_mount *out)
{
    struct statx st;

    if (statx(dirfd, path, AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &st) < 0)
        return false;
    out->device = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
    out->id = st.stx_mask & STATX_MNT_ID ? st.stx_mnt_id : 0;
    return true;
}

bool fs_mount_eq(const struct fs_mount *x, const struct fs_mount *y)
{
    return x->device == y->device && x->id == y->id;
}

bool fs_is_read_only(int dirfd)
{
    return faccessat(dirfd, ".", W_OK, AT_EACCESS) < 0 &&
           (errno == EROFS || errno == EACCES);
}

/* Returns 1 if locked, 0 if another process holds the lock, -1 with
 * errno on error. */
static int try_lock(int fd, bool exclusive)
{
    while (flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK)
            return 0;
        if (errno != EINTR)
            return -1;
    }
    return 1;
}

bool fs_lock(int fd, bool exclusive, unsigned wait_ms, void (*waiting)(void *),
             void *ctx, struct err *e)
{
    uint64_t start = proc_now_ms(), now = start;
    int pause_ms = 1;

    for (;;) {
        int got = try_lock(fd, exclusive);

        if (got > 0)
            return true;
        if (got < 0)
            return err_errno(e, "lock");
        if (proc_interrupted())
            return err_set(e, ERR_INTERRUPTED, "interrupted");
        if (now - start >= wait_ms)
            return err_set(e, ERR_BUSY, "locked by another mapm process");
        if (waiting)
            waiting(ctx);
        waiting = NULL;
        /* Use poll, which a signal interrupts, instead of a blocking flock,
         * which would miss a signal just before the call. */
        poll(NULL, 0, pause_ms);
        pause_ms =
            pause_ms * 2 < LOCK_PAUSE_MAX_MS ? pause_ms * 2 : LOCK_PAUSE_MAX_MS;
        now = proc_now_ms();
    }
}

bool fs_path_is_relative_clean(struct str path)
{
    struct str part;

    if (path.n == 0 || str_has_char(path, '\0'))
        return false;
    while (str_cut(&path, '/', &part))
        if (part.n == 0 || part.n > FS_NAME_MAX_BYTES || str_is(part, ".") ||
            str_is(part, ".."))
            return false;
    return true;
}

bool fs_path_is_within(struct str path, struct str folder)
{
    if (folder.n == 0)
        return false;
    while (str_ends(folder, STR("/")))
        folder.n--;
    return str_starts(path, folder) &&
           (path.n == folder.n || path.p[folder.n] == '/');
}

struct str fs_join(struct str dir, struct str p, struct arena *a)
{
    if (dir.n == 0 || str_starts(p, STR("/")))
        return arena_str(a, p);
    if (p.n == 0)
        return arena_str(a, dir);
    if (str_ends(dir, STR("/")))
        return str_join(dir, p, a);
    return str_concat((const struct str[]){dir, STR("/"), p}, 3, a);
}

struct str fs_normalize(struct str absolute, struct arena *a)
{
    char *out = arena_alloc(a, absolute.n + 2);
    struct str rest = absolute, part;
    size_t n = 0;

    if (!rest.p)
        rest = STR("");
    while (str_cut(&rest, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            while (n && out[--n] != '/')
                ;
            continue;
        }
        out[n++] = '/';
        memcpy(out + n, part.p, part.n);
        n += part.n;
    }
    if (n == 0)
        out[n++] = '/';
    out[n] = '\0';
    return str_make(out, n);
}
