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
    PROTECT_TREE = 0,     /* the path and all below it */
    PROTECT_DIR_ONLY = 1, /* it stays the same directory, in the same place */
    PROTECT_GIT_DIR = 2,  /* a git directory: its settings and hooks */
    PROTECT_MODE = 3,     /* the permissions, without which nothing inside could
                           * be restored */
};

/* Fixed paths of a workspace; the last row has no path. */
struct protect_row {
    const char *path;
    unsigned how;
};
extern const struct protect_row protect_table[];

/* Whether protection of a folder by `how` includes its entry `name`. */
bool protect_is_watched(unsigned how, struct str name, bool is_folder);

/* How the path appears to bubblewrap. */
enum watch_as {
    /* a separate mount: a row of the table, or the target of a link */
    WATCH_ROOT,
    WATCH_CHILD, /* below such a mount */
    WATCH_OPEN,  /* not isolated: changes are detected and undone */
};

struct watched {
    struct str path; /* in the workspace */
    mode_t mode;     /* 0: it did not exist */
    unsigned how;
    enum watch_as as;
    bool can_undo; /* writable by the command, and there is a copy */
    struct timespec mtime, ctime;
    uint64_t size, ino;
    struct hash hash; /* of a regular file, unless walled */
    struct str copy;  /* its content, or where the link leads */
};

struct protect {
    struct str folder;
    int fd;
    mode_t mode; /* of the workspace */
    bool isolated;
    struct arena *arena;
    struct watched *all; /* parents first */
    size_t count, capacity;
    struct map by_path; /* to one of `kinds`: how it is watched */
    char kinds[WATCH_OPEN + 1];
    uint64_t copied, hashed;
    struct protect_folder *folders; /* as protect_walk saw them */
    size_t folder_count, folder_capacity;
    struct map folder_paths;
    struct timespec walked; /* when it began */
};

/* Also when it is not there; once each. Errors: ERR_LIMIT. */
MUST_CHECK bool protect_watch(struct protect *p, struct str path, unsigned how,
                              enum watch_as as, struct err *e);

/* Below the workspace, "" = itself; false: elsewhere, or not there. */
bool protect_inside(const struct protect *p, struct str path, struct arena *a,
                    struct str *out);

/* --- folders: protect_walk.c --------------------------------------------------- */

struct protect_folder {
    struct str path; /* "" = the workspace */
    struct timespec changed;
    uint64_t device, number;
};

/* `path` is of the walk: copy it. */
typedef bool protect_visit(void *ctx, struct str path, struct err *e);

/* Calls `visit` for each .git below the workspace, and records all folders.
 * Errors: ERR_LIMIT; those of `visit`. */
MUST_CHECK bool protect_walk(struct protect *p, protect_visit *visit, void *ctx,
                             struct err *e);

/* Calls it for those that came since, and perhaps for others: a folder in which
 * no name changed is not read again. */
MUST_CHECK bool protect_walk_again(struct protect *p, protect_visit *visit,
                                   void *ctx, struct err *e);

/* Where a link leads, in `a`; the content of a regular file. */
bool protect_read_link(const struct protect *p, const char *path,
                       struct arena *a, struct str *out);
MUST_CHECK bool protect_hash_file(const struct protect *p, const char *path,
                                  struct hash *out, struct err *e);

/* --- git ---------------------------------------------------------------------- */

/* Watches what git obeys of the repositories that are there. Errors:
 * ERR_LIMIT. */
MUST_CHECK bool protect_git_look(struct protect *p, struct err *e);

/*
 * Calls `found` for each .git below the workspace that was not there and is
 * more than a repository as `git init` and `git clone` make it. False: there
 * are too many folders to look at.
 */
MUST_CHECK bool protect_git_new(struct protect *p, struct arena *a,
                                void (*found)(void *ctx, struct str path),
                                void *ctx);

#endif
