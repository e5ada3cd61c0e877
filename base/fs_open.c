#include "fs_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A concurrent rename makes RESOLVE_BENEATH fail with EAGAIN: retry. */
#define AGAIN_MAX_TIMES 64

/* Copies the next component of *path to `name`; returns 0 at the end, -1
 * with errno on error. */
static int next_component(const char **path, char name[FS_NAME_MAX_BYTES + 1])
{
    size_t n;

    for (;;) {
        *path += strspn(*path, "/");
        n = strcspn(*path, "/");
        if (n != 1 || **path != '.')
            break;
        *path += 1;
    }
    if (n > FS_NAME_MAX_BYTES) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (n == 2 && memcmp(*path, "..", 2) == 0) {
        errno = EXDEV;
        return -1;
    }
    memcpy(name, *path, n);
    name[n] = '\0';
    *path += n;
    return n != 0;
}

static bool leads_up(const char *path)
{
    char name[FS_NAME_MAX_BYTES + 1];
    int more;

    while ((more = next_component(&path, name)) > 0)
        ;
    return more < 0;
}

int fs_openat(int dirfd, const char *path, int flags, mode_t mode)
{
    int fd;

    do
        fd = openat(dirfd, path, flags, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* O_DIRECTORY reports ENOTDIR for a symbolic link: distinguish the two. */
static void find_link(int dirfd, const char *name)
{
    struct stat st;

    if (errno != ENOTDIR)
        return;
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(st.st_mode))
        errno = ELOOP;
    else
        errno = ENOTDIR;
}

/* Opens one component at a time, for kernels and sandboxes without openat2. */
static int walk(int dirfd, const char *path, int flags, mode_t mode)
{
    char name[FS_NAME_MAX_BYTES + 1], after[FS_NAME_MAX_BYTES + 1];
    CLEANUP_FD int held = -1;
    int at = dirfd, fd, more;

    if (*path == '/') {
        held = at = fs_openat(AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
        if (held < 0)
            return -1;
    }
    if (next_component(&path, name) == 0)
        return fs_openat(at, ".", flags, mode);
    for (;;) {
        more = next_component(&path, after);
        if (more < 0)
            return -1;
        fd = fs_openat(at, name,
                       more ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
                            : flags | O_NOFOLLOW,
                       more ? 0 : mode);
        if (fd < 0)
            find_link(at, name);
        if (fd < 0 || !more)
            return fd;
        fs_close(&held);
        held = at = fd;
        memcpy(name, after, sizeof name);
    }
}

/* An absolute path is trusted and not limited to a directory. */
static int open_without_links(int dirfd, const char *path, int flags,
                              mode_t mode)
{
    struct open_how how = {
        .flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
                   (*path == '/' ? 0 : RESOLVE_BENEATH),
    };
    long fd;

    for (int again = 0; again < AGAIN_MAX_TIMES; again += errno == EAGAIN) {
        fd = syscall(SYS_openat2, dirfd, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return (int)fd;
}

bool fs_has_no_links(const char *path)
{
    CLEANUP_FD int fd = open_without_links(AT_FDCWD, path, O_PATH, 0);

    return fd >= 0;
}

int fs_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
    int fd;

    if (leads_up(path))
        return -1;
    if (*path == '\0')
        path = ".";
    fd = open_without_links(dirfd, path, flags, mode);
    /* Old container sandboxes return EPERM for unknown system calls. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return walk(dirfd, path, flags | O_CLOEXEC, mode);
    return fd;
}

bool fs_place(int dirfd, const char *path, struct fs_place *place)
{
    size_t n = strlen(path), from;
    char parent[4096];
    const char *last;

    *place = (struct fs_place){.fd = dirfd};
    while (n > 1 && path[n - 1] == '/')
        n--;
    for (from = n; from && path[from - 1] != '/'; from--)
        ;
    last = path + from;
    if (next_component(&last, place->name) <= 0) {
        if (!place->name[0])
            errno = EINVAL;
        return false;
    }
    if (from == 0)
        return true;
    if (from >= sizeof parent) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(parent, path, from);
    parent[from] = '\0';
    place->fd = fs_beneath(dirfd, parent, O_RDONLY | O_DIRECTORY, 0);
    place->mine = place->fd >= 0;
    return place->mine;
}

void fs_place_done(struct fs_place *place)
{
    if (place->mine)
        fs_close(&place->fd);
    place->mine = false;
}

bool fs_failed(struct err *e, const char *verb, const char *path)
{
    switch (errno) {
    case ELOOP:
        return err_set(e, ERR_REFUSED, "%s %s: a symbolic link is in the way",
                       verb, path);
    case EXDEV:
        return err_set(e, ERR_REFUSED, "%s %s: leads out of its folder", verb,
                       path);
    case ENXIO:
        return err_set(e, ERR_REFUSED, "%s %s: not a regular file", verb, path);
    case ENOENT:
    case ENOTDIR:
        return err_set(e, ERR_NOT_FOUND, "%s %s: %s", verb, path,
                       errno == ENOENT ? "no such file or folder"
                                       : "not a folder");
    default:
        return err_errno(e, "%s %s", verb, path);
    }
}

const char *fs_path_of(int fd, char *out, size_t size)
{
    char link[32];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, out, size - 1);
    if (n < 0)
        return "an open file";
    out[n] = '\0';
    return out;
}

bool fs_failed_fd(struct err *e, const char *verb, int fd)
{
    char path[PATH_MAX];
    int code = errno;
    const char *name = fs_path_of(fd, path, sizeof path);

    errno = code;
    return err_errno(e, "%s %s", verb, name);
}

bool fs_close_checked(int *fd, const char *path, struct err *e)
{
    int closing = *fd;

    *fd = -1;
    /* Linux closes the descriptor even if it returns EINTR. */
    if (close(closing) < 0 && errno != EINTR)
        return err_errno(e, "close %s", path);
    return true;
}

bool fs_sync_dir(int fd, const char *path, struct err *e)
{
    if (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP)
        return true;
    return err_errno(e, "sync the folder of %s", path);
}
