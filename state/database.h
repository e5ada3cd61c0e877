#ifndef STATE_DATABASE_H
#define STATE_DATABASE_H

#include "base/arena.h"
#include "mapm/state.h"
#include "mapm/state_events.h"
#include "mapm/state_index.h"
#include "mapm/state_runs.h"
#include "mapm/state_trust.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "statements.h"

/* database: declarations shared in this module. */

enum statement {
#define STATEMENT_ID(id, text) id,
    STATEMENTS(STATEMENT_ID)
#undef STATEMENT_ID
        STATEMENT_COUNT
};

struct state {
    struct arena arena;
    struct str home;
    int home_fd;   /* borrowed */
    bool batching; /* queries of the index share one transaction */
    sqlite3 *db;   /* NULL before the first use */
    sqlite3_stmt *statements[STATEMENT_COUNT];
    bool reading;          /* a read transaction is open */
    struct err db_problem; /* error of a failed open, which is not repeated */
    /* error of the first failed query of mapm.db or a pack */
    struct err index_problem;
    bool db_torn;         /* sqlite found the file damaged after opening it */
    struct stat db_file;  /* status of that file */
    bool glancing;        /* that file is read without changes */
    unsigned patience_ms; /* how long to wait for concurrent writers */
    uint64_t busy_since_ms;
    int wal_pages;  /* pages that this process wrote to the log only */
    uint64_t id_ms; /* time and random part of the last id */
    uint8_t id_chance[10];
    struct str lost; /* path of a damaged file that was moved aside, or "" */
    /* search: texts of sources, and the ranking of the current query */
    struct search_texts **texts;
    size_t texts_count;
    struct ranking *ranking;
    bool has_ranking; /* the ranking function is registered with FTS5 */
};

/* schema.c: the schema changes of each version, and all statements. */
#define DB_VERSION 7
extern const char *const db_schema[DB_VERSION];
extern const char *const db_texts[STATEMENT_COUNT];

/* database.c: opens mapm.db at its first use. ERR_REFUSED for a newer version.
 * A damaged file is renamed and replaced by an empty one. */
MUST_CHECK bool db_open(struct state *s, struct err *e);
/* Opens an empty database in memory with the current schema. */
MUST_CHECK bool db_open_memory(struct state *s, struct err *e);

/* search.c: frees the data of the search outside the database. */
void search_close(struct state *s);

/* Returns true if the failure was caused by damage that has just been repaired,
 * so that the caller retries. */
bool db_mended(struct state *s, struct err *e);
#define DB_RETRY(s, e, call) ((call) || (db_mended(s, e) && (call)))

/* Reports the error of sqlite as ERR_BUSY or ERR_IO. Returns false. */
bool db_fail(struct state *s, const char *what, struct err *e);
MUST_CHECK bool db_run(struct state *s, const char *sql, struct err *e);

/* Syncs mapm.db, which is created without a sync. */
MUST_CHECK bool db_sync_file(struct state *s, struct err *e);

/* A write transaction. db_end() commits if `ok`; otherwise it rolls back, and
 * `e` contains the reason already. */
MUST_CHECK bool db_begin(struct state *s, struct err *e);
MUST_CHECK bool db_end(struct state *s, bool ok, struct err *e);

/* A value of a statement; texts are borrowed until db_finish(). */
struct db_value {
    enum { DB_IS_NUMBER, DB_IS_TEXT, DB_IS_BLOB, DB_IS_NULL } kind;
    int64_t number;
    struct str text;
};
#define DB_NUMBER(n) ((struct db_value){.number = (int64_t)(n)})
#define DB_TEXT(s)   ((struct db_value){DB_IS_TEXT, 0, s})
#define DB_BLOB(s)   ((struct db_value){DB_IS_BLOB, 0, s})
#define DB_HASH(h)   DB_BLOB(str_make((const char *)(h)->b, sizeof(h)->b))
#define DB_OPTIONAL(s)                                                         \
    ((struct db_value){(s).n ? DB_IS_TEXT : DB_IS_NULL, 0, s})
#define DB_VALUES(...)                                                         \
    (const struct db_value[]){__VA_ARGS__},                                    \
        (int)(sizeof((const struct db_value[]){__VA_ARGS__}) /                 \
              sizeof(struct db_value))

/* Binds the values in order; surplus ones are ignored. */
void db_bind(sqlite3_stmt *q, const struct db_value *values, int count);
/* Returns NULL if the database is unusable. */
sqlite3_stmt *db_prepare(struct state *s, enum statement which, struct err *e);
sqlite3_stmt *db_ask_values(struct state *s, enum statement which,
                            struct err *e, const struct db_value *values,
                            int count);
MUST_CHECK bool db_put_values(struct state *s, enum statement which,
                              struct err *e, const struct db_value *values,
                              int count);
/* db_ask() prepares and binds a statement for its first step; db_put() executes
 * one. */
#define db_ask(s, which, e, ...)                                               \
    db_ask_values(s, which, e, DB_VALUES(__VA_ARGS__))
#define db_put(s, which, e, ...)                                               \
    db_put_values(s, which, e, DB_VALUES(__VA_ARGS__))
struct db_rows {
    void *items; /* allocated in the arena of db_list(); NULL if empty */
    size_t count;
};
/* Reads all rows of `q` with `read`, into items of `size` bytes; `read` returns
 * false to skip a row. Finishes `q`, which is NULL if preparing it failed with
 * `e`. */
MUST_CHECK bool db_list(struct state *s, sqlite3_stmt *q, size_t size,
                        bool (*read)(sqlite3_stmt *q, struct arena *a,
                                     void *out),
                        struct arena *a, struct db_rows *out, struct err *e);
struct str db_column_str(sqlite3_stmt *q, int at, struct arena *a);
/* Reads a large blob of at most `max_bytes` directly into the arena, bypassing
 * the memory of sqlite. */
bool db_read_blob(struct state *s, const char *table, const char *column,
                  int64_t row, size_t max_bytes, struct arena *a,
                  struct str *out);
/* Reads a number. All numbers are read with this function: a value outside of 0
 * to `max` is damage and replaced by `otherwise`. */
int64_t db_column_number(sqlite3_stmt *q, int at, int64_t max,
                         int64_t otherwise);
bool db_column_hash(sqlite3_stmt *q, int at, struct hash *h);
void db_finish(sqlite3_stmt *q);
/* Steps `q` to its first row, for CLEANUP_ROW. Returns NULL if there is none,
 * or on failure with `e` set. Accepts NULL. */
sqlite3_stmt *db_first(struct state *s, sqlite3_stmt *q, struct err *e);
#define CLEANUP_ROW CLEANUP(db_finish_at)
void db_finish_at(sqlite3_stmt **q);
/* Finishes `q` after the last row. Returns true if `code`, the result of
 * sqlite3_step(), is the end of the rows. */
MUST_CHECK bool db_end_rows(struct state *s, sqlite3_stmt *q, int code,
                            struct err *e);
/* Returns whether a statement would be a transaction of its own now. */
bool db_is_alone(struct state *s);
/* Steps a query of the index. An error is recorded and counts as no row. */
MUST_CHECK bool db_has_row(struct state *s, sqlite3_stmt *q);
MUST_CHECK bool db_step_put(struct state *s, sqlite3_stmt *q, struct err *e);

/* Returns the wall clock time in microseconds since 1970. */
int64_t state_now_us(void);

#endif
