#ifndef STORE_INSIDE_H
#define STORE_INSIDE_H

#include "base/map.h"
#include "mapm/store.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "notes.h"

/* inside: what the files of this module share. */

#define OBJECT_PATH_BYTES 68 /* "ab/" and 62 digits, NUL */

enum statement {
    FIND_PACKAGE,
    PUT_PACKAGE,
    FIND_BLOB,
    PUT_BLOB,
    FIND_REF,
    PUT_REF,
    FIND_TREES,
    PUT_TREES,
    FIND_PROOF,
    PUT_PROOF,
    FIND_PROVED,
    PUT_PROVED,
    PUT_WORKSPACE,
    LIST_WORKSPACES,
    FORGET_WORKSPACE,
    COUNT_PACKAGES,
    COUNT_WORKSPACES,
    FIND_TRUST,
    PUT_TRUST,
    FORGET_TRUST,
    LIST_TRUST,
    BEGIN_RUN,
    COUNT_DETAILS,
    CROWDED_RUNS,
    FORGET_RUNS,
    FORGET_DETAILS,
    END_RUN,
    PUT_DETAIL,
    LIST_RUNS,
    LIST_RUNS_OF,
    FIND_RUN,
    PUT_EVENT,
    FORGET_EVENTS,
    LIST_EVENTS,
    FOLLOW_EVENTS,
    FIND_SESSION,
    PUT_SESSION,
    FORGET_SESSIONS,
    FIND_LIBRARY,
    PUT_LIBRARY,
    FORGET_LIBRARIES,
    STATEMENT_COUNT,
};

struct draft;
struct pack;
struct pack_row;

struct store {
    struct arena arena;
    struct str home, shared;
    int home_fd, store_fd, objects_fd, incoming_fd, lock_fd;
    atomic_bool no_reflink; /* this file system cannot */
    atomic_uint damaged;    /* objects set aside */
    sqlite3 *db;            /* NULL until it is needed */
    sqlite3_stmt *statements[STATEMENT_COUNT];
    bool reading;          /* within one transaction, for as long as it holds */
    struct err db_problem; /* tried, and in vain: not for each question */
    /* Of the first question to mapm.db or a pack that had no answer. */
    struct err index_problem;
    bool db_torn;         /* sqlite found its file damaged, after opening it */
    struct stat db_file;  /* which file that was */
    bool glancing;        /* at that file, as it is */
    unsigned patience_ms; /* with who writes to mapm.db at the same time */
    uint64_t busy_since_ms;
    int wal_pages;  /* not yet in mapm.db itself, as far as we wrote */
    uint64_t id_ms; /* of the last id that was made, with its chance */
    uint8_t id_chance[10];
    struct str lost; /* what was set aside; "" = nothing */

    int packs_fd; /* -1: none was there yet */
    struct pack *packs;
    pthread_mutex_t packs_mutex;
    bool packs_listed;
    struct timespec packs_changed; /* of the folder, when it was listed */

    bool holding;             /* store_hold */
    int held_fd;              /* its folder, -1 before the first large object */
    char held_name[40];       /* below incoming/ */
    struct draft *held_draft; /* the small ones; NULL before the first */
    bool fans_listed;         /* while holding: which of objects/ab there are */
    bool fans[256];
    uint64_t opened_ns;   /* CLOCK_BOOTTIME */
    struct map downloads; /* repository -> struct download */

    struct notes notes;
    struct arena held_arena;
    struct map held_blobs; /* oid -> struct held_blob, in held_arena */
};

void object_path(const struct hash *h, char out[OBJECT_PATH_BYTES]);

/* "stem.pid.random": a name that no other process uses. */
void object_unique_name(char *out, size_t size, const char *stem);

/* Renames a finished file to its place among the objects. */
MUST_CHECK bool object_move_in(struct store *s, int dirfd, const char *name,
                               const struct hash *h, struct err *e);

/* held.c: while the store holds. `held_open` is open(2), of a large one;
 * `held_find` finds a small one, for held_read. */
MUST_CHECK bool held_put(struct store *s, const struct hash *h,
                         struct str content, struct err *e);
MUST_CHECK bool held_adopt(struct store *s, int dirfd, const char *name,
                           const struct hash *h, struct err *e);
bool held_has(struct store *s, const struct hash *h);
int held_open(struct store *s, const struct hash *h);
const struct pack_row *held_find(struct store *s, const struct hash *h);
MUST_CHECK bool held_read(struct store *s, const struct pack_row *row,
                          char *out, struct err *e);
void held_remove(struct store *s, const struct hash *h);
void held_note_package(struct store *s, struct str repository,
                       struct str commit, struct str path,
                       const struct store_package *p);
void held_note_blob(struct store *s, struct str oid, const struct hash *h,
                    uint64_t size);
bool held_find_blob(struct store *s, struct str oid, struct hash *h,
                    uint64_t *size);
void held_note_ref(struct store *s, struct str repository, struct str rest,
                   const struct store_ref *r);
void held_note_trees(struct store *s, struct str repository, struct str commit,
                     const struct hash *h);
void held_note_proof(struct store *s, const struct store_proof *p);
void held_note_proved(struct store *s, struct str repository,
                      struct str commit);
void held_drop(struct store *s);

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

/* index.c */
MUST_CHECK bool index_put_trees(struct store *s, struct str repository,
                                struct str commit, const struct hash *h,
                                struct err *e);

/* Forgets rows that name objects which are gone. */
MUST_CHECK bool index_prune(struct store *s, struct err *e);

/* Rows of packages and of workspaces. */
MUST_CHECK bool index_count(struct store *s, uint64_t *packages,
                            uint64_t *workspaces, struct err *e);

/* schema.c: what each version added, and all statements. */
#define DB_VERSION 5
extern const char *const db_schema[DB_VERSION];
extern const char *const db_texts[STATEMENT_COUNT];

/*
 * database.c: mapm.db. Opened at its first use; ERR_REFUSED for a newer one.
 * One that is damaged is set aside, and an empty one takes its place.
 */
MUST_CHECK bool db_open(struct store *s, struct err *e);
void db_close(struct store *s);

/* What failed was for damage found just now, and that is mended: the caller
 * tries once more. */
bool db_mended(struct store *s, struct err *e);

/* Says what sqlite says; ERR_BUSY or ERR_IO. Returns false. */
bool db_fail(struct store *s, const char *what, struct err *e);
MUST_CHECK bool db_run(struct store *s, const char *sql, struct err *e);

/* mapm.db itself, which was not waited for when it was created. */
MUST_CHECK bool db_sync_file(struct store *s, struct err *e);

/* A transaction that writes. It ends with COMMIT when `ok`, else it never
 * was; `e` then holds why already. */
MUST_CHECK bool db_begin(struct store *s, struct err *e);
MUST_CHECK bool db_end(struct store *s, bool ok, struct err *e);
void db_stop_reading(struct store *s);

/* Ready to bind; NULL when the database cannot be used. What is bound is
 * borrowed until db_finish. */
sqlite3_stmt *db_prepare(struct store *s, enum statement which, struct err *e);
void db_bind_text(sqlite3_stmt *q, int at, struct str s);
void db_bind_blob(sqlite3_stmt *q, int at, struct str s);
void db_bind_hash(sqlite3_stmt *q, int at, const struct hash *h);
struct str db_column_str(sqlite3_stmt *q, int at, struct arena *a);
/* Every number is read by this one: what is not from 0 to `max` is damage, and
 * is `otherwise`. */
int64_t db_column_number(sqlite3_stmt *q, int at, int64_t max,
                         int64_t otherwise);
bool db_column_hash(sqlite3_stmt *q, int at, struct hash *h);
void db_finish(sqlite3_stmt *q);
/* After the last row: db_finish, and whether `code`, of sqlite3_step, says that
 * it was the last. */
MUST_CHECK bool db_end_rows(struct store *s, sqlite3_stmt *q, int code,
                            struct err *e);
/* Whether a statement now would be a transaction of its own. */
bool db_is_alone(struct store *s);
/* One step of a question to the index. An error is remembered, and no row. */
MUST_CHECK bool db_has_row(struct store *s, sqlite3_stmt *q);
MUST_CHECK bool db_step_put(struct store *s, sqlite3_stmt *q, struct err *e);

/* Of the wall clock, in microseconds since 1970. */
int64_t store_now_us(void);

#endif
