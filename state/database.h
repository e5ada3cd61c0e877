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
    bool batching; /* questions to the index are one transaction */
    sqlite3 *db;   /* NULL until it is needed */
    sqlite3_stmt *statements[STATEMENT_COUNT];
    bool reading; /* within one transaction, for as long as it holds */
    struct err
        db_problem; /* of a failed attempt to open, which is not repeated */
    /* Of the first question to mapm.db or a pack that had no answer. */
    struct err index_problem;
    bool db_torn;         /* sqlite found its file damaged, after opening it */
    struct stat db_file;  /* which file that was */
    bool glancing;        /* on that file, without changes */
    unsigned patience_ms; /* with concurrent writers of mapm.db */
    uint64_t busy_since_ms;
    int wal_pages;  /* not yet in mapm.db itself, as far as we wrote */
    uint64_t id_ms; /* of the last id that was made, with its chance */
    uint8_t id_chance[10];
    struct str lost; /* path of a damaged file; "" = none */
    /* Of the search: texts of sources, and what rates the rows of a query. */
    struct search_texts **texts;
    size_t texts_count;
    struct ranking *ranking;
    bool has_ranking; /* FTS5 knows the function */
};

/* schema.c: the additions of each version, and all statements. */
#define DB_VERSION 7
extern const char *const db_schema[DB_VERSION];
extern const char *const db_texts[STATEMENT_COUNT];

/*
 * database.c: mapm.db. Opened at its first use; ERR_REFUSED for a newer
 * version. A damaged file is renamed, and replaced by an empty one.
 */
MUST_CHECK bool db_open(struct state *s, struct err *e);
void db_close(struct state *s);
/* With an empty database in memory, of the current schema. */
MUST_CHECK bool db_open_memory(struct state *s, struct err *e);

/* search.c: what it keeps beside the database. */
void search_close(struct state *s);

/* The failure was caused by damage that has just been repaired: the caller
 * retries. */
bool db_mended(struct state *s, struct err *e);
#define DB_RETRY(s, e, call) ((call) || (db_mended(s, e) && (call)))

/* Reports the error of sqlite; ERR_BUSY or ERR_IO. Returns false. */
bool db_fail(struct state *s, const char *what, struct err *e);
MUST_CHECK bool db_run(struct state *s, const char *sql, struct err *e);

/* mapm.db itself, which was not waited for when it was created. */
MUST_CHECK bool db_sync_file(struct state *s, struct err *e);

/* A transaction that writes. It ends with COMMIT when `ok`, else it never
 * was; `e` then holds why already. */
MUST_CHECK bool db_begin(struct state *s, struct err *e);
MUST_CHECK bool db_end(struct state *s, bool ok, struct err *e);
void db_stop_reading(struct state *s);

/* Values of a statement, in order; borrowed until db_finish. */
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

/* Those beyond the parameters of the statement are ignored. */
void db_bind(sqlite3_stmt *q, const struct db_value *values, int count);
/* NULL when the database is unusable. */
sqlite3_stmt *db_prepare(struct state *s, enum statement which, struct err *e);
sqlite3_stmt *db_ask_values(struct state *s, enum statement which,
                            struct err *e, const struct db_value *values,
                            int count);
MUST_CHECK bool db_put_values(struct state *s, enum statement which,
                              struct err *e, const struct db_value *values,
                              int count);
/* Bound, ready for its first step; or executed, in one step. */
#define db_ask(s, which, e, ...)                                               \
    db_ask_values(s, which, e, DB_VALUES(__VA_ARGS__))
#define db_put(s, which, e, ...)                                               \
    db_put_values(s, which, e, DB_VALUES(__VA_ARGS__))
struct db_rows {
    void *items; /* in the arena of db_list; NULL: none */
    size_t count;
};
/* All rows of `q`, `size` bytes each, as `read` makes them; it returns false for
 * one that is left out. Ends `q`; NULL: it failed before, which `e` says. */
MUST_CHECK bool db_list(struct state *s, sqlite3_stmt *q, size_t size,
                        bool (*read)(sqlite3_stmt *q, struct arena *a,
                                     void *out),
                        struct arena *a, struct db_rows *out, struct err *e);
struct str db_column_str(sqlite3_stmt *q, int at, struct arena *a);
/* A large one, of at most `max_bytes`: straight into the arena, and not by way of
 * sqlite's own memory. */
bool db_read_blob(struct state *s, const char *table, const char *column,
                  int64_t row, size_t max_bytes, struct arena *a,
                  struct str *out);
/* Every number is read by this function: a value outside of 0 to `max` is
 * damage, and becomes `otherwise`. */
int64_t db_column_number(sqlite3_stmt *q, int at, int64_t max,
                         int64_t otherwise);
bool db_column_hash(sqlite3_stmt *q, int at, struct hash *h);
void db_finish(sqlite3_stmt *q);
/* `q` at its first row, for CLEANUP_ROW; NULL when there is none, or when it
 * failed, which `e` says. NULL for NULL. */
sqlite3_stmt *db_first(struct state *s, sqlite3_stmt *q, struct err *e);
#define CLEANUP_ROW CLEANUP(db_finish_at)
void db_finish_at(sqlite3_stmt **q);
/* After the last row: db_finish; true when `code`, of sqlite3_step, is the end
 * of the rows. */
MUST_CHECK bool db_end_rows(struct state *s, sqlite3_stmt *q, int code,
                            struct err *e);
/* Whether a statement now would be a separate transaction. */
bool db_is_alone(struct state *s);
/* One step of a query of the index. An error is recorded, and returns no
 * row. */
MUST_CHECK bool db_has_row(struct state *s, sqlite3_stmt *q);
MUST_CHECK bool db_step_put(struct state *s, sqlite3_stmt *q, struct err *e);

/* Of the wall clock, in microseconds since 1970. */
int64_t state_now_us(void);

#endif
