#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

/*
 * The n-th call that changes a file system, or reads one, is the last one, or
 * fails.
 *
 * Stands in for the C library's functions in the whole test program, before
 * the real calls are made. Syncing is only counted: no test can see it, and
 * it takes long. Include it in one file of a program.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum fault_mode {
    FAULT_NONE,
    FAULT_KILL,   /* SIGKILL instead of the call */
    FAULT_ONCE,   /* the call fails with fault_errno */
    FAULT_SIGNAL, /* every other openat fails with EINTR */
    FAULT_FULL,   /* it and all later ones that need room fail: ENOSPC */
    FAULT_READ,   /* of those that read, it alone fails with fault_errno */
};

enum fault_call { FAULT_CALL_CHANGES, FAULT_CALL_NEEDS_ROOM, FAULT_CALL_READS };

static enum fault_mode fault_mode;
static long fault_at, fault_count;
static int fault_errno;
static bool fault_lacks_flags; /* renameat2 knows none of its flags */

/* Folders of the lower layer of an overlay: none of them can be renamed. */
#define FAULT_FOLDERS_MAX 100
static ino_t fault_folders[FAULT_FOLDERS_MAX];
static size_t fault_folder_count; /* 0: there is no overlay */

static inline bool fault_is_of_lower_layer(int dirfd, const char *path)
{
    struct stat st;

    if (fault_folder_count == 0 ||
        fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISDIR(st.st_mode))
        return false;
    for (size_t i = 0; i < fault_folder_count; i++)
        if (fault_folders[i] == st.st_ino)
            return true;
    return false;
}

static inline void fault_arm(enum fault_mode mode, long at, int error)
{
    fault_mode = mode;
    fault_at = at;
    fault_errno = error;
    fault_count = 0;
}

/* Whether this call is to fail, errno set. */
static inline bool fault_strikes(enum fault_call call)
{
    long n;

    if (fault_mode == FAULT_NONE ||
        (fault_mode == FAULT_READ) != (call == FAULT_CALL_READS))
        return false;
    n = __atomic_add_fetch(&fault_count, 1, __ATOMIC_RELAXED);
    if (fault_mode == FAULT_KILL && n == fault_at)
        kill(getpid(), SIGKILL);
    if ((fault_mode == FAULT_ONCE || fault_mode == FAULT_READ) &&
        n == fault_at) {
        errno = fault_errno;
        return true;
    }
    if (fault_mode == FAULT_FULL && n >= fault_at &&
        call == FAULT_CALL_NEEDS_ROOM) {
        errno = ENOSPC;
        return true;
    }
    return false;
}

ssize_t write(int fd, const void *p, size_t n)
{
    if (fd > 2 && fault_strikes(FAULT_CALL_NEEDS_ROOM))
        return -1;
    return syscall(SYS_write, fd, p, n);
}

int openat(int dirfd, const char *path, int flags, ...)
{
    va_list list;
    mode_t mode;

    va_start(list, flags);
    mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (fault_mode == FAULT_SIGNAL && fault_count++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    if (fault_strikes(flags & O_CREAT ? FAULT_CALL_NEEDS_ROOM
                                      : FAULT_CALL_READS))
        return -1;
    return (int)syscall(SYS_openat, dirfd, path, flags, mode);
}

ssize_t read(int fd, void *p, size_t n)
{
    if (fd > 2 && fault_strikes(FAULT_CALL_READS))
        return -1;
    return syscall(SYS_read, fd, p, n);
}

ssize_t getdents64(int fd, void *p, size_t n)
{
    return fault_strikes(FAULT_CALL_READS) ? -1
                                           : syscall(SYS_getdents64, fd, p, n);
}

ssize_t readlinkat(int fd, const char *path, char *p, size_t n)
{
    return fault_strikes(FAULT_CALL_READS)
               ? -1
               : syscall(SYS_readlinkat, fd, path, p, n);
}

int mkdirat(int dirfd, const char *path, mode_t mode)
{
    return fault_strikes(FAULT_CALL_NEEDS_ROOM)
               ? -1
               : (int)syscall(SYS_mkdirat, dirfd, path, mode);
}

int symlinkat(const char *to, int dirfd, const char *path)
{
    return fault_strikes(FAULT_CALL_NEEDS_ROOM)
               ? -1
               : (int)syscall(SYS_symlinkat, to, dirfd, path);
}

int renameat2(int from, const char *x, int to, const char *y, unsigned flags)
{
    if (fault_lacks_flags && flags) {
        errno = EINVAL;
        return -1;
    }
    if (fault_is_of_lower_layer(from, x) ||
        ((flags & RENAME_EXCHANGE) && fault_is_of_lower_layer(to, y))) {
        errno = EXDEV;
        return -1;
    }
    return fault_strikes(FAULT_CALL_CHANGES)
               ? -1
               : (int)syscall(SYS_renameat2, from, x, to, y, flags);
}

int fstatfs(int fd, struct statfs *out)
{
    int failed = (int)syscall(SYS_fstatfs, fd, out);

    if (failed == 0 && fault_folder_count)
        out->f_type = OVERLAYFS_SUPER_MAGIC;
    return failed;
}

int renameat(int from, const char *x, int to, const char *y)
{
    return renameat2(from, x, to, y, 0);
}

int unlinkat(int dirfd, const char *path, int flags)
{
    return fault_strikes(FAULT_CALL_CHANGES)
               ? -1
               : (int)syscall(SYS_unlinkat, dirfd, path, flags);
}

int fchmod(int fd, mode_t mode)
{
    return fault_strikes(FAULT_CALL_CHANGES)
               ? -1
               : (int)syscall(SYS_fchmod, fd, mode);
}

int fsync(int fd)
{
    (void)fd;
    return fault_strikes(FAULT_CALL_CHANGES) ? -1 : 0;
}

int syncfs(int fd)
{
    (void)fd;
    return fault_strikes(FAULT_CALL_CHANGES) ? -1 : 0;
}

#endif
