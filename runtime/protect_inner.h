#ifndef RUNTIME_PROTECT_INNER_H
#define RUNTIME_PROTECT_INNER_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"

#include <sys/stat.h>

#include "protect.h"

/*
 * Shared by protect.c (records the state of protected paths), protect_restore.c
 * (compares and restores it) and protect_git.c (finds the paths that configure
 * git).
 */

/* How much of a path is protected. */
enum {
    PROTECT_TREE = 0,     /* the path and everything below it */
    PROTECT_DIR_ONLY = 1, /* must remain the same directory at the same path */
    PROTECT_GIT_DIR = 2,  /* a git directory: its settings and hooks */
    PROTECT_MODE = 3,     /* its permissions, without which nothing inside
                           * could be restored */
};

/* Fixed paths in a workspace; the last row has no path. */
struct protect_row {
    const char *path;
    unsigned how;
};
extern const struct protect_row protect_table[];

/* Returns whether protecting a folder by `how` includes its entry `name`. */
bool protect_is_watched(unsigned how, struct str name, bool is_folder);

/* How bubblewrap treats the path. */
enum watch_as {
    /* a mount of its own: a row of the table, or the target of a link */
    WATCH_ROOT,
    WATCH_CHILD, /* below such a mount */
    WATCH_OPEN,  /* not isolated: changes are detected and undone */
};

struct watched {
    struct str path; /* relative to the workspace */
    mode_t mode;     /* mode; 0 if it did not exist */
    unsigned how;
    enum watch_as as;
    bool can_undo; /* the command can write it, and a copy exists */
    struct timespec mtime, ctime;
    uint64_t size, ino;
    struct hash hash; /* hash of a regular file, unless isolated */
    struct str copy;  /* copy of its content, or the target of a link */
};

struct protect {
    struct str folder;
    int fd;
    mode_t mode; /* mode of the workspace folder */
    bool isolated;
    struct arena *arena;
    struct watched *all; /* parents first */
    size_t count, capacity;
    struct map by_path; /* index of the watched entry by kind and path */
    char kinds[WATCH_OPEN + 1];
    uint64_t copied, hashed;
    struct protect_folder *folders; /* folders as read by protect_walk */
    size_t folder_count, folder_capacity;
    struct map folder_paths;
    struct timespec walked; /* time at which the walk began */
};

/* Watches a path, which need not exist; duplicates are ignored. Errors:
 * ERR_LIMIT. */
MUST_CHECK bool protect_watch(struct protect *p, struct str path, unsigned how,
                              enum watch_as as, struct err *e);

/* Converts a path to one relative to the workspace ("" for the workspace
 * itself). Returns false if it is elsewhere or does not exist. */
bool protect_inside(const struct protect *p, struct str path, struct arena *a,
                    struct str *out);

/* --- folders: protect_walk.c --------------------------------------------------- */

struct protect_folder {
    struct str path; /* "" for the workspace */
    struct timespec changed;
    uint64_t device, number;
};

/* `path` is valid during the call only. */
typedef bool protect_visit(void *ctx, struct str path, struct err *e);

/* Calls `visit` for each .git below the workspace, and records all folders.
 * Errors: ERR_LIMIT; those of `visit`. */
MUST_CHECK bool protect_walk(struct protect *p, protect_visit *visit, void *ctx,
                             struct err *e);

/* Calls `visit` for each .git created since, and possibly for others; a folder
 * with unchanged timestamps is not read again. */
MUST_CHECK bool protect_walk_again(struct protect *p, protect_visit *visit,
                                   void *ctx, struct err *e);

/* Read the target of a link, and the content of a regular file; allocated in
 * `a`. */
bool protect_read_link(const struct protect *p, const char *path,
                       struct arena *a, struct str *out);
MUST_CHECK bool protect_hash_file(const struct protect *p, const char *path,
                                  struct hash *out, struct err *e);

/* --- git ---------------------------------------------------------------------- */

/* Watches settings and hooks of all existing repositories. Errors:
 * ERR_LIMIT. */
MUST_CHECK bool protect_git_scan(struct protect *p, struct err *e);

/*
 * Calls `found` for each new .git below the workspace that contains more than
 * `git init` and `git clone` create. Returns false if there are too many
 * folders to read.
 */
MUST_CHECK bool protect_git_new(struct protect *p, struct arena *a,
                                void (*found)(void *ctx, struct str path),
                                void *ctx);

#endif
