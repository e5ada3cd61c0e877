#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include "base/map.h"
#include "mapm/state.h"
#include "mapm/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "notes.h"

/* store_internal: shared by the files of this module. */

#define OBJECT_PATH_BYTES 68 /* "ab/" and 62 digits, NUL */

struct draft;
struct pack;
struct pack_row;

struct store {
    struct arena arena;
    struct str home, shared;
    int home_fd, store_fd, objects_fd, incoming_fd, lock_fd;
    atomic_bool no_reflink; /* the file system does not support reflinks */
    atomic_uint damaged;    /* number of objects that were set aside */
    struct state *state;    /* mapm.db */
    /* error of the first pack or listing that could not be read */
    struct err index_problem;

    int packs_fd; /* -1: none was there yet */
    struct pack *packs;
    pthread_mutex_t packs_mutex;
    bool packs_listed;
    struct timespec packs_changed; /* modification time of the folder when it
                                    * was listed */

    bool staging;         /* since store_begin_staging */
    int staged_fd;        /* folder of large objects; -1 before the first one */
    char staged_name[40]; /* below incoming/ */
    struct draft *staged_draft; /* pack of the small objects; NULL before the
                                 * first one */
    bool fans_listed; /* the folders objects/ab were listed (while staging) */
    bool fans[256];
    uint64_t opened_ns;   /* CLOCK_BOOTTIME */
    struct map downloads; /* repository -> struct download */

    struct notes notes;
    struct arena staged_arena;
    struct map staged_blobs; /* oid -> struct staged_blob, in staged_arena */
};

/* Formats "stem.pid.random", a name that no other process uses. */
void object_unique_name(char *out, size_t size, const char *stem);

/* Renames a finished file to its place among the objects. */
MUST_CHECK bool object_move_in(struct store *s, int dirfd, const char *name,
                               const struct hash *h, struct err *e);

/* staging.c: objects that are staged and not published. staged_open() opens
 * a large object like open(2); staged_find() finds a small one for
 * staged_read(). */
MUST_CHECK bool staged_put(struct store *s, const struct hash *h,
                           struct str content, struct err *e);
MUST_CHECK bool staged_adopt(struct store *s, int dirfd, const char *name,
                             const struct hash *h, struct err *e);
bool staged_has(struct store *s, const struct hash *h);
int staged_open(struct store *s, const struct hash *h);
const struct pack_row *staged_find(struct store *s, const struct hash *h);
MUST_CHECK bool staged_read(struct store *s, const struct pack_row *row,
                            char *out, struct err *e);
void staged_remove(struct store *s, const struct hash *h);
void staged_note_package(struct store *s, struct str repository,
                         struct str commit, struct str path,
                         const struct state_package *p);
void staged_note_blob(struct store *s, struct str oid, const struct hash *h,
                      uint64_t size);
bool staged_find_blob(struct store *s, struct str oid, struct hash *h,
                      uint64_t *size);
void staged_note_ref(struct store *s, struct str repository, struct str rest,
                     const struct state_ref *r);
void staged_note_trees(struct store *s, struct str repository,
                       struct str commit, const struct hash *h);
void staged_note_proof(struct store *s, const struct state_proof *p);
void staged_note_host(struct store *s, struct str place, struct str caps);
void staged_note_reachable(struct store *s, struct str repository,
                           struct str commit);
void staged_drop(struct store *s);

/* Moves the file of a damaged object to damaged/, so that the object is absent
 * from now on. The other two functions serve packs: they set aside a file by
 * name, and the bytes of one object. */
void object_set_aside(struct store *s, const struct hash *h);
void object_set_file_aside(struct store *s, int dirfd, const char *name);
void object_set_bytes_aside(struct store *s, const struct hash *h,
                            struct str bytes);

/* Writes an object as a file of its own. */
MUST_CHECK bool object_put(struct store *s, const struct hash *h,
                           struct str content, struct err *e);

/* Hashes the whole file. */
MUST_CHECK bool object_hash(int fd, struct hash *out, struct err *e);

#endif
