#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fs_open.h"

/* Another process may add files during the removal. */
#define RESCAN_MAX_TIMES 16

static int open_child(int dirfd, const char *name)
{
    return fs_openat(dirfd, name,
                     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}

/* Creates one folder if it does not exist, and opens it. */
static bool step_into(int *fd, const char *name, mode_t mode, const char *path,
                      struct err *e)
{
    bool made = mkdirat(*fd, name, mode & 0777) == 0;
    int child;

    if (!made && errno != EEXIST)
        return fs_failed(e, "create the folder", path);
    child = fs_beneath(*fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (child < 0 && errno == ENOTDIR)
        return err_set(e, ERR_REFUSED,
                       "create the folder %s: %s is not a folder", path, name);
    if (child < 0)
        return fs_failed(e, "create the folder", path);
    fs_close(fd);
    *fd = child;
    if (made && fchmod(child, mode) < 0)
        return err_errno(e, "set the mode of %s", path);
    return true;
}

bool fs_make_dirs_at(int dirfd, const char *path, mode_t mode, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct str rest = str_cstr(path), part;
    char name[FS_NAME_MAX_BYTES + 1];

    if (*path == '/')
        return err_set(e, ERR_REFUSED, "create the folder %s: not relative",
                       path);
    if (!fs_open_dir_at(dirfd, ".", &fd, e))
        return err_wrap(e, "create the folder %s", path);
    while (str_cut(&rest, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (part.n > FS_NAME_MAX_BYTES || str_is(part, "..")) {
            errno = part.n == 2 ? EXDEV : ENAMETOOLONG;
            return fs_failed(e, "create the folder", path);
        }
        memcpy(name, part.p, part.n);
        name[part.n] = '\0';
        if (!step_into(&fd, name, mode, path, e))
            return false;
    }
    return true;
}

static bool make_one(const char *path, mode_t mode, struct err *e)
{
    struct stat st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return true;
    if (mkdir(path, mode & 0777) == 0) {
        /* independent of the umask; no other process knows the folder yet */
        if (chmod(path, mode) < 0)
            return err_errno(e, "set the mode of %s", path);
        return true;
    }
    if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return true; /* created by another process */
    return fs_failed(e, "create the folder", path);
}

bool fs_make_dirs(const char *path, mode_t mode, struct err *e)
{
    char part[4096];
    size_t n = strlen(path);

    if (n == 0 || n >= sizeof part) {
        errno = n ? ENAMETOOLONG : ENOENT;
        return fs_failed(e, "create the folder", path);
    }
    memcpy(part, path, n + 1);
    for (size_t i = 1; i < n; i++) {
        if (part[i] != '/' || part[i - 1] == '/')
            continue;
        part[i] = '\0';
        if (!make_one(part, mode, e))
            return false;
        part[i] = '/';
    }
    return make_one(part, mode, e);
}

/* Removal uses one descriptor at any depth: it goes up by "..", and verifies by
 * device and inode that it returned to the folder it came from. */
struct level {
    dev_t dev;
    ino_t ino; /* of the folder that holds `name` */
    int rescans;
    char name[FS_NAME_MAX_BYTES + 1];
};

struct removal {
    int fd; /* the folder being emptied; the levels lead to it */
    struct level *levels;
    size_t count, capacity;
};

static void removal_done(struct removal *r)
{
    fs_close(&r->fd);
    heap_free(r->levels);
}

/* Opens a folder for removal, even if its permissions deny access. */
static int open_to_empty(int dirfd, const char *name)
{
    CLEANUP_FD int path = -1;
    char proc[64];
    struct stat st;
    int fd = open_child(dirfd, name);

    if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
        if (fchmod(fd, 0700) < 0) {
            /* The folder belongs to another user: removing its entries
             * reports the error. */
        }
    if (fd >= 0 || errno != EACCES)
        return fd;
    path = fs_openat(dirfd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                     0);
    if (path < 0)
        return -1;
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", path);
    if (chmod(proc, 0700) < 0) {
        errno = EACCES;
        return -1;
    }
    return open_child(dirfd, name);
}

static bool descend(struct removal *r, const char *name)
{
    struct stat st;
    struct level *l;
    int child;

    if (fstat(r->fd, &st) < 0)
        return false;
    child = open_to_empty(r->fd, name);
    if (child < 0)
        return false;
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? r->capacity * 2 : 16;
        r->levels = heap_resize(r->levels, r->capacity * sizeof *r->levels);
    }
    l = &r->levels[r->count++];
    l->dev = st.st_dev;
    l->ino = st.st_ino;
    l->rescans = 0;
    snprintf(l->name, sizeof l->name, "%s", name);
    fs_close(&r->fd);
    r->fd = child;
    return true;
}

/* Goes up and removes the folder, which should be empty. */
static bool ascend(struct removal *r)
{
    struct level *l = &r->levels[r->count - 1];
    CLEANUP_FD int up =
        fs_openat(r->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    struct stat st;

    if (up < 0 || fstat(up, &st) < 0)
        return false;
    if (st.st_dev != l->dev || st.st_ino != l->ino) {
        errno = EXDEV; /* moved away in the meantime: do not touch it */
        return false;
    }
    if (unlinkat(up, l->name, AT_REMOVEDIR) < 0 && errno != ENOENT)
        return (errno == ENOTEMPTY || errno == EEXIST) &&
               l->rescans++ < RESCAN_MAX_TIMES;
    fs_close(&r->fd);
    r->fd = up;
    up = -1;
    r->count--;
    return true;
}

/* Read few entries at once: those after a folder that is not empty are read
 * again, which for thousands of folders costs more than their removal. */
#define SWEEP_BYTES 1024

/* Removes an entry; returns false with errno on failure, and sets `*full` for a
 * folder to descend into. */
static bool sweep_entry(const struct removal *r, const char *name, bool *full)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        unlinkat(r->fd, name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return false;
    if (unlinkat(r->fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return true;
    if (errno == ENOTDIR)
        errno = EPERM; /* a file that must not be removed */
    *full = errno == ENOTEMPTY || errno == EEXIST || errno == EACCES;
    return *full;
}

/* Removes entries; descends into the first folder that is not empty. */
static bool sweep(struct removal *r, bool *descended)
{
    CLEANUP_FD int fd =
        fs_openat(r->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    _Alignas(struct dirent64) char bytes[SWEEP_BYTES];
    ssize_t n = -1;

    *descended = false;
    while (fd >= 0 && (n = getdents64(fd, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(bytes + at);

            if (!sweep_entry(r, entry->d_name, descended))
                return false;
            if (*descended)
                return descend(r, entry->d_name);
            at += entry->d_reclen;
        }
    return n == 0;
}

bool fs_remove_tree_at(int dirfd, const char *path, struct err *e)
{
    CLEANUP_PLACE struct fs_place place = {0};
    CLEANUP(removal_done) struct removal r = {.fd = -1};
    bool descended;

    if (!fs_place(dirfd, path, &place))
        return errno == ENOENT || errno == ENOTDIR ||
               fs_failed(e, "remove", path);
    if (unlinkat(place.fd, place.name, 0) == 0 || errno == ENOENT)
        return true;
    if (errno != EISDIR && errno != EPERM)
        return fs_failed(e, "remove", path);
    r.fd = fs_openat(place.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (r.fd < 0 || !descend(&r, place.name))
        return fs_failed(e, "remove", path);
    while (r.count)
        if (!sweep(&r, &descended) || (!descended && !ascend(&r)))
            return fs_failed(e, "remove", path);
    return true;
}

#define LIST_BYTES 8192 /* bytes of directory entries per read */

struct listing {
    size_t max_entries;
    struct arena *a;
    struct fs_entry *entries;
    size_t count, capacity;
};

static unsigned char type_of(int dirfd, const struct dirent64 *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (fstatat(dirfd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return (unsigned char)IFTODT(st.st_mode);
}

static bool fail_full(const struct listing *l, int fd, struct err *e)
{
    char path[PATH_MAX];

    return err_set(e, ERR_LIMIT, "%s: more than %zu entries",
                   fs_path_of(fd, path, sizeof path), l->max_entries);
}

static bool add_entry(struct listing *l, int fd, const struct dirent64 *entry,
                      struct err *e)
{
    struct str name = str_cstr(entry->d_name);
    unsigned char type;

    if (str_is(name, ".") || str_is(name, ".."))
        return true;
    type = type_of(fd, entry);
    if (type == DT_UNKNOWN)
        return true; /* removed between the two calls */
    if (l->count == l->max_entries)
        return fail_full(l, fd, e);
    l->entries = arena_grow(l->a, l->entries, l->count, &l->capacity,
                            sizeof *l->entries);
    l->entries[l->count++] = (struct fs_entry){arena_str(l->a, name), type};
    return true;
}

/* Uses getdents64 directly, since a stream costs three more calls per
 * folder. */
static bool collect(struct listing *l, int fd, struct err *e)
{
    _Alignas(struct dirent64) char bytes[LIST_BYTES];
    ssize_t n;

    while ((n = getdents64(fd, bytes, sizeof bytes)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(bytes + at);

            if (!add_entry(l, fd, entry, e))
                return false;
            at += entry->d_reclen;
        }
    return n == 0 || fs_failed_fd(e, "list", fd);
}

bool fs_list_open(int fd, size_t max_entries, struct arena *a,
                  struct fs_entry **out, size_t *count, struct err *e)
{
    struct listing l = {.max_entries = max_entries, .a = a};

    if (!collect(&l, fd, e))
        return false;
    STR_SORT_BY(l.entries, l.count, name);
    *out = l.entries;
    *count = l.count;
    return true;
}

bool fs_list_at(int dirfd, const char *path, size_t max_entries,
                struct arena *a, struct fs_entry **out, size_t *count,
                struct err *e)
{
    CLEANUP_FD int fd = -1;

    return fs_open_dir_at(dirfd, path, &fd, e) &&
           fs_list_open(fd, max_entries, a, out, count, e);
}
