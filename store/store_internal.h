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
    atomic_bool no_reflink; /* this file system cannot */
    atomic_uint damaged;    /* objects set aside */
    struct state *state;    /* mapm.db */
    /* Of the first pack or listing that could not be read. */
    struct err index_problem;

    int packs_fd; /* -1: none was there yet */
    struct pack *packs;
    pthread_mutex_t packs_mutex;
    bool packs_listed;
    struct timespec packs_changed; /* of the folder, when it was listed */

    bool staging;         /* since store_begin_staging */
    int staged_fd;        /* its folder, -1 before the first large object */
    char staged_name[40]; /* below incoming/ */
    struct draft *staged_draft; /* the small ones; NULL before the first */
    bool fans_listed; /* while staging: which of objects/ab there are */
    bool fans[256];
    uint64_t opened_ns;   /* CLOCK_BOOTTIME */
    struct map downloads; /* repository -> struct download */

    struct notes notes;
    struct arena staged_arena;
    struct map staged_blobs; /* oid -> struct staged_blob, in staged_arena */
};

void object_path(const struct hash *h, char out[OBJECT_PATH_BYTES]);

/* "stem.pid.random": a name that no other process uses. */
void object_unique_name(char *out, size_t size, const char *stem);

/* Renames a finished file to its place among the objects. */
MUST_CHECK bool object_move_in(struct store *s, int dirfd, const char *name,
                               const struct hash *h, struct err *e);

/* staging.c: while the store holds. `staged_open` is open(2), of a large one;
 * `staged_find` finds a small one, for staged_read. */
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

/* Moves a bad object that is a file to damaged/: it counts as absent from now
 * on. The other two are for packs: a file of that name, one object's bytes. */
void object_set_aside(struct store *s, const struct hash *h);
void object_set_file_aside(struct store *s, int dirfd, const char *name);
void object_set_bytes_aside(struct store *s, const struct hash *h,
                            struct str bytes);

/* A file of its own among the objects. */
MUST_CHECK bool object_put(struct store *s, const struct hash *h,
                           struct str content, struct err *e);

/* Whole file, hashed in place. */
MUST_CHECK bool object_hash(int fd, struct hash *out, struct err *e);

#endif
