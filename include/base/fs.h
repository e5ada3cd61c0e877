#ifndef BASE_FS_H
#define BASE_FS_H

#include "base/hash.h"
#include "base/str.h"

#include <sys/stat.h>
#include <sys/types.h>

/*
 * fs: files below a directory handle.
 *
 * A path that came from outside is opened relative to a directory handle with
 * openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS): it
 * cannot leave that directory, whatever is on the disk. Everything read must
 * be a regular file (FIFO, device, directory: an error, never a hang). EINTR
 * is retried, short writes are continued, each close/fsync/rename is checked.
 *
 * Paths given as `const char *` use "/" and are relative unless said
 * otherwise; ".." in one is refused. An absolute path is taken with any
 * `dirfd` as the caller's own: no link may be on it, but it is below nothing.
 * Modes are set exactly, whatever the umask. Errors: ERR_IO (ERR_NOT_FOUND for ENOENT/ENOTDIR on opening),
 * ERR_LIMIT past a maximum, ERR_REFUSED for what is not a regular file or for
 * a symbolic link in the way.
 *
 * Source: STYLE.md 6, THREATS.md rows 1, 2, 16, 27.
 */

#define CLEANUP_FD CLEANUP(fs_close)

/* For CLEANUP_FD: closes *fd unless it is negative, then sets it to -1. */
void fs_close(int *fd);

/* openat(2) that a signal does not end: the only call of it in mapm. It keeps
 * to nothing that the calls below promise; -1 and errno on failure. */
int fs_openat(int dirfd, const char *path, int flags, mode_t mode);

/* O_PATH-free directory handle, CLOEXEC. `path` may be absolute. The caller
 * closes. Follows symbolic links: for paths that the user named. */
MUST_CHECK bool fs_open_dir(const char *path, int *fd, struct err *e);

/* Below `dirfd`, no symbolic link anywhere. `path` "" or "." reopens dirfd. */
MUST_CHECK bool fs_open_dir_at(int dirfd, const char *path, int *fd,
                               struct err *e);

/* A regular file for reading, O_NOFOLLOW | O_NONBLOCK, below `dirfd`. */
MUST_CHECK bool fs_open_file_at(int dirfd, const char *path, int *fd,
                                struct stat *st, struct err *e);

/* Whole content, at most `max_bytes`, into `a` (a NUL follows the last byte).
 * AT_FDCWD with an absolute path the user named: symbolic links are followed
 * only by fs_read_user_file. */
MUST_CHECK bool fs_read_file_at(int dirfd, const char *path, size_t max_bytes,
                                struct arena *a, struct str *out,
                                struct err *e);
MUST_CHECK bool fs_read_user_file(const char *path, size_t max_bytes,
                                  struct arena *a, struct str *out,
                                  struct err *e);
/* For the caller to examine before it reads. It closes. */
MUST_CHECK bool fs_open_user_file(const char *path, int *fd, struct err *e);
MUST_CHECK bool fs_read_fd(int fd, size_t max_bytes, struct arena *a,
                           struct str *out, struct err *e);
/* Goes on from `*n` until `room` bytes are at `p`, or the file ends. */
MUST_CHECK bool fs_read_upto(int fd, char *p, size_t room, size_t *n,
                             struct err *e);
/* From its offset to its end, or to more than `max_bytes` bytes, which is no failure: `*size` says how many were read. */
MUST_CHECK bool fs_hash_fd(int fd, uint64_t max_bytes, uint64_t *size,
                           struct hash *out, struct err *e);

/* lstat semantics below dirfd, no symbolic link in a parent. False without
 * an error to report: use when "is it there?" is the question. */
bool fs_stat_at(int dirfd, const char *path, struct stat *st);
bool fs_exists_at(int dirfd, const char *path);

MUST_CHECK bool fs_write_all(int fd, struct str content, struct err *e);

/* Creates `path` (must not exist) with exactly `mode` (fchmod, umask-proof).
 * Not synced; nothing is left behind on failure. */
MUST_CHECK bool fs_create_at(int dirfd, const char *path, mode_t mode,
                             struct str content, struct err *e);

/*
 * Replaces `path` atomically: a temporary file in the same directory, fsync,
 * rename, fsync of the directory. An existing file keeps its mode, a new one
 * gets `mode`. A symbolic link, directory or anything not regular in the
 * place of `path`: ERR_REFUSED. Temporary names start with ".mapm-tmp-".
 */
MUST_CHECK bool fs_replace_at(int dirfd, const char *path, mode_t mode,
                              struct str content, struct err *e);

/* The same for a file that the user named: links on the way to its folder are
 * followed; relative to the current folder. */
MUST_CHECK bool fs_replace_user_file(const char *path, mode_t mode,
                                     struct str content, struct err *e);

/* mkdir -p below dirfd; components that exist must be real directories. */
MUST_CHECK bool fs_make_dirs_at(int dirfd, const char *path, mode_t mode,
                                struct err *e);

/* mkdir -p of an absolute path, links followed: for our own data folder. */
MUST_CHECK bool fs_make_dirs(const char *path, mode_t mode, struct err *e);

/* rm -r of a file or directory, iterative, never follows a link. Gone
 * already: true. */
MUST_CHECK bool fs_remove_tree_at(int dirfd, const char *path, struct err *e);

/* The same with a content that `write` writes, piece by piece. */
MUST_CHECK bool fs_replace_user_file_by(const char *path, mode_t mode,
                                        bool (*write)(void *ctx, int fd,
                                                      struct err *e),
                                        void *ctx, struct err *e);

struct fs_entry {
    struct str name;    /* NUL-terminated */
    unsigned char type; /* DT_REG, DT_DIR, DT_LNK …; never DT_UNKNOWN */
};

/* Entries without "." and "..", sorted by bytes; at most `max_entries`. */
MUST_CHECK bool fs_list_at(int dirfd, const char *path, size_t max_entries,
                           struct arena *a, struct fs_entry **out,
                           size_t *count, struct err *e);
/* Of a folder that is open and was not listed yet; `path` is for messages. */
MUST_CHECK bool fs_list_open(int fd, const char *path, size_t max_entries,
                             struct arena *a, struct fs_entry **out,
                             size_t *count, struct err *e);

/*
 * For mapm's own state, which must never stop it: `name`, one component, could
 * not be used. What is not of `type` (S_IFREG, S_IFDIR) is renamed to
 * "<name>.damaged-<time>"; a file of the user's that the user may not use gets
 * the rights of `mode` besides. True when something changed: try again.
 */
bool fs_repair_at(int dirfd, const char *name, mode_t type, mode_t mode);
bool fs_set_aside_at(int dirfd, const char *name);

/* Nothing can be made in a folder: by its file system, or by its mode. */
bool fs_is_read_only(int dirfd);

MUST_CHECK bool fs_sync(int fd, const char *what, struct err *e); /* fsync */
MUST_CHECK bool fs_sync_all(int fd, struct err *e);               /* syncfs */

/* fsync of these folders, in any order; and of every file and folder below
 * `dirfd`, and of itself: for few, since syncfs waits for what others have
 * written, too. Several at a time, in threads that end before these return. */
MUST_CHECK bool fs_sync_folders(const int *fds, size_t count, struct err *e);
MUST_CHECK bool fs_sync_tree(int dirfd, struct err *e);

/* flock. `wait_ms` 0: at once or ERR_BUSY. `waiting(ctx)` is called once when
 * it has to wait (may be NULL). ERR_INTERRUPTED after a signal. As flock has
 * it, a shared lock is lost when making it exclusive fails. */
MUST_CHECK bool fs_lock(int fd, bool exclusive, unsigned wait_ms,
                        void (*waiting)(void *), void *ctx, struct err *e);

/* Takes one name of a relative path apart: each component 1..255 bytes, not
 * "." or "..", no NUL, no leading "/". */
bool fs_path_is_relative_clean(struct str path);

/* "/a/b" + "c/d" -> "/a/b/c/d"; an absolute `p` is returned alone. NUL-
 * terminated. */
struct str fs_join(struct str dir, struct str p, struct arena *a);

/* Where a path leads with every link followed, absolute, in `a`. */
MUST_CHECK bool fs_real_path(const char *path, struct arena *a, struct str *out,
                             struct err *e);

/* `path` is `folder` or below it, both absolute, as text. */
bool fs_path_is_within(struct str path, struct str folder);

/* Absolute, "." and ".." and "//" resolved as text (no disk). */
struct str fs_normalize(struct str absolute, struct arena *a);

#endif
