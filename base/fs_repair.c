#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "fs_open.h"

bool fs_set_aside_at(int dirfd, const char *name)
{
    char to[FS_NAME_MAX_BYTES + 1];
    long long now = (long long)time(NULL);
    struct stat st;

    do
        if (snprintf(to, sizeof to, "%s.damaged-%lld", name, now++) >=
            (int)sizeof to)
            return false;
    while (fstatat(dirfd, to, &st, AT_SYMLINK_NOFOLLOW) == 0);
    return renameat(dirfd, name, dirfd, to) == 0;
}

/* Uses the descriptor, because the name may refer to another file by now. */
static bool add_permissions(int dirfd, const char *name, mode_t mode)
{
    CLEANUP_FD int fd =
        fs_openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
    char path[64];
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || S_ISLNK(st.st_mode) ||
        st.st_uid != geteuid() || (st.st_mode & 0700 & mode) == (mode & 0700))
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return chmod(path, (st.st_mode | mode) & 07777) == 0;
}

bool fs_repair_at(int dirfd, const char *name, mode_t type, mode_t mode)
{
    struct stat st;

    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    if ((st.st_mode & S_IFMT) != type)
        return fs_set_aside_at(dirfd, name);
    return add_permissions(dirfd, name, mode);
}
