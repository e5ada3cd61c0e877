#ifndef BASE_FS_OPEN_H
#define BASE_FS_OPEN_H

#include "base/fs.h"

/*
 * fs_open: resolves paths to descriptors, for the files that implement fs.h.
 *
 *     path --> fs_beneath() --> descriptor       openat2, or a walk
 *     path --> fs_place()   --> parent + last name    for unlink, rename, …
 */

#define FS_NAME_MAX_BYTES 255
#define FS_TEMP_PREFIX    ".mapm-tmp-"

/* Opens a path below `dirfd` without following symbolic links; ".." is
 * rejected. Returns -1 with errno: ELOOP for a link, EXDEV for a path
 * that leaves `dirfd`. */
int fs_beneath(int dirfd, const char *path, int flags, mode_t mode);

/* Returns whether an absolute path exists and no component is a symbolic link;
 * otherwise false with errno, ENOENT and ENOTDIR only if no link was met.
 * Without openat2 the answer is always false. */
bool fs_has_no_links(const char *path);

/* The open parent directory of a path, and its last name. */
struct fs_place {
    int fd;    /* equal to dirfd if the path has one component */
    bool mine; /* must be closed */
    char name[FS_NAME_MAX_BYTES + 1];
};

/* Opens the parent of `path`, which must be below `dirfd`. Returns false
 * with errno on error. */
MUST_CHECK bool fs_place(int dirfd, const char *path, struct fs_place *place);
void fs_place_done(struct fs_place *place);

#define CLEANUP_PLACE CLEANUP(fs_place_done)

/* Like err_errno, with the codes of fs.h: "<verb> <path>: …". */
bool fs_failed(struct err *e, const char *verb, const char *path);

/* Copies the absolute path of an open file or folder to `out`, as far as the
 * kernel knows it, and returns `out`; otherwise returns a text without it. */
const char *fs_path_of(int fd, char *out, size_t size);

/* Closes *fd, reporting a failed write; *fd is -1 afterwards. */
MUST_CHECK bool fs_close_checked(int *fd, const char *path, struct err *e);

/* fsync of a directory; ignored by file systems that do not support it. */
MUST_CHECK bool fs_sync_dir(int fd, const char *path, struct err *e);

#endif
