#ifndef BASE_FS_H
#define BASE_FS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/str.h"

#include <sys/stat.h>
#include <sys/types.h>

/*
 * fs: file operations relative to a directory descriptor.
 *
 * A path from an untrusted source is opened relative to a directory descriptor
 * with openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS),
 * so it cannot leave that directory. Files to read must be regular: a FIFO,
 * device or directory is an error and never blocks. EINTR is retried, short
 * writes are continued, and each close, fsync and rename is checked.
 *
 * Paths of type `const char *` use "/" and are relative unless stated
 * otherwise; ".." is rejected. An absolute path is trusted, with any `dirfd`:
 * it may not contain a symbolic link, but is not restricted to a directory.
 * Modes are set exactly, regardless of the umask.
 *
 * Errors: ERR_IO; ERR_NOT_FOUND for ENOENT and ENOTDIR on open; ERR_LIMIT if a
 * maximum is exceeded; ERR_REFUSED if the file is not regular or a component of
 * the path is a symbolic link.
 *
 * Source: STYLE.md 6, THREATS.md rows 1, 2, 16, 27.
 */

#define CLEANUP_FD CLEANUP(fs_close)

/* For CLEANUP_FD: closes *fd unless it is negative, then sets it to -1. */
void fs_close(int *fd);

/* openat(2), retried on EINTR: the only call of openat in mapm. It gives
 * none of the guarantees of the functions below. Returns -1 and sets
 * errno on failure. */
int fs_openat(int dirfd, const char *path, int flags, mode_t mode);

/* Opens a directory for reading (not O_PATH), CLOEXEC. `path` may be absolute
 * and symbolic links are followed: for paths that the user specified. The
 * caller closes `*fd`. */
MUST_CHECK bool fs_open_dir(const char *path, int *fd, struct err *e);

/* Opens a directory below `dirfd` without following symbolic links. `path` ""
 * or "." reopens `dirfd`. */
MUST_CHECK bool fs_open_dir_at(int dirfd, const char *path, int *fd,
                               struct err *e);

/* Opens a regular file below `dirfd` for reading, with O_NOFOLLOW |
 * O_NONBLOCK. */
MUST_CHECK bool fs_open_file_at(int dirfd, const char *path, int *fd,
                                struct stat *st, struct err *e);

/* Read a whole file of at most `max_bytes` into `a`, terminated by NUL.
 * fs_read_user_file follows symbolic links, for paths that the user specified;
 * fs_read_file_at does not, even for an absolute path. */
MUST_CHECK bool fs_read_file_at(int dirfd, const char *path, size_t max_bytes,
                                struct arena *a, struct str *out,
                                struct err *e);
MUST_CHECK bool fs_read_user_file(const char *path, size_t max_bytes,
                                  struct arena *a, struct str *out,
                                  struct err *e);
/* Like fs_read_file_at, but a file that does not exist is read as "". */
MUST_CHECK bool fs_read_optional_at(int dirfd, const char *path,
                                    size_t max_bytes, struct arena *a,
                                    struct str *out, struct err *e);
/* Opens a file, following symbolic links, so that the caller can check it
 * before reading. The caller closes `*fd`. */
MUST_CHECK bool fs_open_user_file(const char *path, int *fd, struct err *e);
MUST_CHECK bool fs_read_fd(int fd, size_t max_bytes, struct arena *a,
                           struct str *out, struct err *e);
/* Like err_errno: "<verb> <absolute path of fd>: …". */
bool fs_failed_fd(struct err *e, const char *verb, int fd);
/* Reads at offset `*n` of `p` until `room` bytes are filled or the file ends,
 * and updates `*n`. */
MUST_CHECK bool fs_read_upto(int fd, char *p, size_t room, size_t *n,
                             struct err *e);
/* Hashes a file from its current offset to its end, and stops after
 * reading more than `max_bytes` bytes, which is not an error: `*size` is
 * the number of bytes read. */
MUST_CHECK bool fs_hash_fd(int fd, uint64_t max_bytes, uint64_t *size,
                           struct hash *out, struct err *e);

/* Return the lstat(2) result of a path below `dirfd`, without following
 * symbolic links in its parents. Return false on any error: use them to
 * test for existence. */
bool fs_stat_at(int dirfd, const char *path, struct stat *st);
bool fs_exists_at(int dirfd, const char *path);

/*
 * The mount that a path is on, which is not told by the device alone: a bind
 * mount has that of the folder which is mounted. `id` is 0 on a kernel without
 * numbers of mounts. lstat semantics; false with errno where nothing is there.
 */
struct fs_mount {
    uint64_t device, id;
};
bool fs_find_mount(int dirfd, const char *path, struct fs_mount *out);
bool fs_mount_eq(const struct fs_mount *x, const struct fs_mount *y);

MUST_CHECK bool fs_write_all(int fd, struct str content, struct err *e);

/* Creates `path`, which must not exist, with exactly `mode` (by fchmod). Does
 * not sync. Leaves nothing behind on failure. */
MUST_CHECK bool fs_create_at(int dirfd, const char *path, mode_t mode,
                             struct str content, struct err *e);

/* The same for a content of `max` bytes at most that is not in memory as a
 * whole: `next` appends a block to an empty buffer, and returns whether more
 * follow. Errors: ERR_LIMIT. */
MUST_CHECK bool fs_create_blocks_at(int dirfd, const char *path, mode_t mode,
                                    size_t max,
                                    bool (*next)(void *ctx, struct buf *block),
                                    void *ctx, struct err *e);

/*
 * Replaces `path` atomically: writes a temporary file in the same directory,
 * calls fsync, renames the file, and calls fsync on the directory. An existing
 * file keeps its mode, a new one gets `mode`. Fails with ERR_REFUSED if `path`
 * is a symbolic link, a directory or anything else that is not a regular file.
 * Names of temporary files start with ".mapm-tmp-".
 */
MUST_CHECK bool fs_replace_at(int dirfd, const char *path, mode_t mode,
                              struct str content, struct err *e);

/*
 * Replaces files in the folder `dirfd` as fs_replace_at does, but waits for the
 * disk once for all of them: fs_batch_add() writes a temporary file without a sync,
 * fs_batch_end() syncs and renames those that were added, and leaves the batch
 * empty. fs_batch_done() removes those that were not renamed; it may be called
 * twice. A struct that is zeroed but for `dirfd`, which is borrowed, is empty.
 */
#define FS_BATCH_MAX 200

struct fs_batch {
    int dirfd;
    struct arena arena;
    struct str names[FS_BATCH_MAX], drafts[FS_BATCH_MAX];
    size_t count;
};

/* Locks the folder with a shared flock until `dirfd` is closed. If no other
 * process has a lock, first removes the temporary files of processes that were
 * killed. Has no effect on a file system without such locks. */
void fs_batch_sweep(int dirfd);

MUST_CHECK bool fs_batch_add(struct fs_batch *b, const char *name, mode_t mode,
                             struct str content, struct err *e);
MUST_CHECK bool fs_batch_end(struct fs_batch *b, struct err *e);
void fs_batch_done(struct fs_batch *b);

/* The same for a path that the user specified, relative to the current folder:
 * symbolic links in its parents are followed. */
MUST_CHECK bool fs_replace_user_file(const char *path, mode_t mode,
                                     struct str content, struct err *e);

/* Creates directories as mkdir -p does, below `dirfd`; existing components must
 * be directories, not symbolic links. */
MUST_CHECK bool fs_make_dirs_at(int dirfd, const char *path, mode_t mode,
                                struct err *e);

/* Creates directories of an absolute path, following symbolic links: for mapm's
 * own data folder. */
MUST_CHECK bool fs_make_dirs(const char *path, mode_t mode, struct err *e);

/* Removes a file or directory tree, iteratively, without following symbolic
 * links. Returns true if it does not exist. */
MUST_CHECK bool fs_remove_tree_at(int dirfd, const char *path, struct err *e);

/* Like fs_replace_user_file, with content that `write` writes in
 * several pieces. */
MUST_CHECK bool fs_replace_user_file_by(const char *path, mode_t mode,
                                        bool (*write)(void *ctx, int fd,
                                                      struct err *e),
                                        void *ctx, struct err *e);

/*
 * Copies a file, a link, or a folder with all in it, with modes and times, and
 * syncs the copy but for the name `to`, which must not be there. A failure may
 * leave a part of it. Errors: ERR_REFUSED for a node of another kind.
 */
MUST_CHECK bool fs_copy_tree_at(int from_fd, const char *from, int to_fd,
                                const char *to, struct err *e);

struct fs_entry {
    struct str name;    /* NUL-terminated */
    unsigned char type; /* DT_REG, DT_DIR, DT_LNK …; never DT_UNKNOWN */
};

/* Lists a directory without "." and "..", sorted by bytes; at most
 * `max_entries`. */
MUST_CHECK bool fs_list_at(int dirfd, const char *path, size_t max_entries,
                           struct arena *a, struct fs_entry **out,
                           size_t *count, struct err *e);
/* The same for an open directory descriptor that has not been read yet. */
MUST_CHECK bool fs_list_open(int fd, size_t max_entries, struct arena *a,
                             struct fs_entry **out, size_t *count,
                             struct err *e);

/*
 * Repairs a file or folder of mapm's own state that could not be used, so that
 * damage there never blocks a command. `name` is one component below `dirfd`.
 * If it is not of `type` (S_IFREG, S_IFDIR), it is renamed to
 * "<name>.damaged-<time>"; if it belongs to the user but its mode denies the
 * user access, the bits of `mode` are added. Returns true if something changed:
 * the caller should retry.
 */
bool fs_repair_at(int dirfd, const char *name, mode_t type, mode_t mode);
bool fs_set_aside_at(int dirfd, const char *name);

/* Returns whether no file can be created in a folder, because of a read-only
 * file system or its mode. */
bool fs_is_read_only(int dirfd);

MUST_CHECK bool fs_sync(int fd, const char *what, struct err *e); /* fsync */
MUST_CHECK bool fs_sync_all(int fd, struct err *e);               /* syncfs */

/* fsync of these folders, in any order; of `dirfd` with every file and folder
 * below it; and of these files of `dirfd`. For few files this is faster than
 * syncfs, which also waits for data of other processes. All use several threads,
 * which end before the return. */
MUST_CHECK bool fs_sync_folders(const int *fds, size_t count, struct err *e);
MUST_CHECK bool fs_sync_tree(int dirfd, struct err *e);
MUST_CHECK bool fs_sync_files(int dirfd, struct str *names, size_t count,
                              struct err *e);

/* Locks `fd` with flock. Waits at most `wait_ms`, then fails with ERR_BUSY; 0
 * does not wait. `waiting(ctx)`, unless NULL, is called once before waiting.
 * Fails with ERR_INTERRUPTED after a signal. As with flock, a shared lock is
 * lost if its conversion to an exclusive lock fails. */
MUST_CHECK bool fs_lock(int fd, bool exclusive, unsigned wait_ms,
                        void (*waiting)(void *), void *ctx, struct err *e);

/* Returns whether every component of a path has 1 to 255 bytes and is not "."
 * or "..", and the path has no NUL and no leading "/". */
bool fs_path_is_relative_clean(struct str path);

/* Joins two paths: "/a/b" and "c/d" give "/a/b/c/d". Returns an absolute `p`
 * unchanged. NUL-terminated. */
struct str fs_join(struct str dir, struct str p, struct arena *a);

/* Resolves all symbolic links of a path; `*out` is absolute and
 * allocated in `a`. */
MUST_CHECK bool fs_real_path(const char *path, struct arena *a, struct str *out,
                             struct err *e);

/* Returns whether `path` is `folder` or below it. Compares the text of
 * two absolute paths. */
bool fs_path_is_within(struct str path, struct str folder);

/* Resolves ".", ".." and "//" of an absolute path as text, without disk
 * access. */
struct str fs_normalize(struct str absolute, struct arena *a);

#endif
