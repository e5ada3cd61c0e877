#ifndef BASE_FS_OPEN_H
#define BASE_FS_OPEN_H

#include "base/fs.h"

/*
 * fs_open: how the files of fs.h get from a path to a descriptor.
 *
 *     path --> fs_beneath() --> descriptor          openat2, or a walk
 *     path --> fs_place()  --> parent + last name   for unlink, rename, …
 */

#define FS_NAME_MAX_BYTES 255
#define FS_TEMP_PREFIX    ".mapm-tmp-"

/* openat below `dirfd`, no symbolic link on the way or at the end, no "..".
 * -1 and errno: ELOOP for a link, EXDEV for a path that leads out. */
int fs_beneath(int dirfd, const char *path, int flags, mode_t mode);

/* Where a path ends: its parent directory, opened, and its last name. */
struct fs_place {
    int fd;    /* == dirfd when the path has one component */
    bool mine; /* to be closed */
    char name[FS_NAME_MAX_BYTES + 1];
};

/* False with errno set. `path` must name something below `dirfd`. */
MUST_CHECK bool fs_place(int dirfd, const char *path, struct fs_place *place);
void fs_place_done(struct fs_place *place);

#define CLEANUP_PLACE CLEANUP(fs_place_done)

/* err_errno with the codes of fs.h: "<verb> <path>: …". */
bool fs_failed(struct err *e, const char *verb, const char *path);

/* close that tells of a failed write; *fd is -1 afterwards. */
MUST_CHECK bool fs_close_checked(int *fd, const char *path, struct err *e);

/* fsync of a directory; file systems that cannot do it are forgiven. */
MUST_CHECK bool fs_sync_dir(int fd, const char *path, struct err *e);

#endif
