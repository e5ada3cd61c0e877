#include "base/text.h"

#include "database.h"

/*
 * State between commands: sessions, and cached roots of the library. The most
 * recent rows are kept.
 */

static bool find(struct state *s, enum statement which, struct str key,
                 struct arena *a, struct str *out, struct err *e)
{
    sqlite3_stmt *q = db_ask(s, which, e, DB_BLOB(key));
    int code;

    if (!q)
        return false;
    code = sqlite3_step(q);
    if (code == SQLITE_ROW)
        *out = db_column_str(q, 0, a);
    else if (code != SQLITE_DONE)
        db_fail(s, "read", e);
    db_finish(q);
    return code == SQLITE_ROW;
}

static bool insert(struct state *s, enum statement which, struct str key,
                   struct str value, struct err *e)
{
    return db_put(s, which, e, DB_BLOB(key), DB_NUMBER(state_now_us() / 1000),
                  DB_BLOB(value));
}

static bool forget(struct state *s, enum statement which, struct err *e)
{
    return db_put(s, which, e,
                  DB_NUMBER(which == FORGET_SESSIONS ? SESSIONS_MAX
                                                     : LIBRARY_CACHE_MAX_ROOTS),
                  DB_NUMBER(LIBRARY_CACHE_MAX_BYTES));
}

/* `which` puts, another one forgets. */
static bool put_now(struct state *s, enum statement which, struct str key,
                    struct str value, struct err *e)
{
    enum statement after =
        which == PUT_SESSION ? FORGET_SESSIONS : FORGET_LIBRARIES;

    if (!db_open(s, e))
        return false;
    if (!db_is_alone(s))
        return insert(s, which, key, value, e) && forget(s, after, e);
    return db_begin(s, e) &&
           db_end(s, insert(s, which, key, value, e) && forget(s, after, e), e);
}

/* Retries after a repair, except within a transaction of the caller. */
static bool put(struct state *s, enum statement which, struct str key,
                struct str value, struct err *e)
{
    bool alone = db_is_alone(s);

    return put_now(s, which, key, value, e) ||
           (alone && db_mended(s, e) && put_now(s, which, key, value, e));
}

bool state_find_session(struct state *s, struct str id, struct arena *a,
                        struct str *state, struct err *e)
{
    bool alone = db_is_alone(s);

    return find(s, FIND_SESSION, id, a, state, e) ||
           (alone && db_mended(s, e) && find(s, FIND_SESSION, id, a, state, e));
}

bool state_put_session(struct state *s, struct str id, struct str state,
                       struct err *e)
{
    if (text_count(id) > SESSION_ID_MAX_CHARS)
        return err_set(e, ERR_LIMIT,
                       "the name of a session has %zu characters, at most %d "
                       "are allowed",
                       text_count(id), SESSION_ID_MAX_CHARS);
    if (state.n > SESSION_MAX_BYTES)
        return err_set(e, ERR_LIMIT,
                       "the state of a session has %zu bytes, at most %u are "
                       "kept",
                       state.n, SESSION_MAX_BYTES);
    return put(s, PUT_SESSION, id, state, e);
}

/* Megabytes: straight into the arena, and not by way of sqlite's own memory. */
static bool read_library(struct state *s, struct str root, struct arena *a,
                         struct str *bytes)
{
    struct err ignored = {0};
    sqlite3_stmt *q = db_ask(s, FIND_LIBRARY, &ignored, DB_BLOB(root));
    sqlite3_blob *blob = NULL;
    bool ok = false;

    if (!q)
        return false;
    if (sqlite3_step(q) == SQLITE_ROW &&
        sqlite3_blob_open(s->db, "main", "libraries", "bytes",
                          db_column_number(q, 0, INT64_MAX, 0), 0,
                          &blob) == SQLITE_OK &&
        (size_t)sqlite3_blob_bytes(blob) <= LIBRARY_CACHE_MAX_BYTES) {
        int n = sqlite3_blob_bytes(blob);
        char *p = arena_alloc(a, (size_t)n + 1);

        ok = sqlite3_blob_read(blob, p, n, 0) == SQLITE_OK;
        *bytes = str_make(p, (size_t)n);
    }
    sqlite3_blob_close(blob);
    db_finish(q);
    return ok;
}

bool state_find_library(struct state *s, struct str root, struct arena *a,
                        struct str *bytes)
{
    struct str found;

    if (!read_library(s, root, a, &found))
        return false;
    *bytes = found;
    return true;
}

bool state_put_library(struct state *s, struct str root, struct str bytes,
                       struct err *e)
{
    if (bytes.n > LIBRARY_CACHE_MAX_BYTES)
        return err_set(e, ERR_LIMIT,
                       "what is known of a root has %zu bytes, at most %u "
                       "are kept",
                       bytes.n, LIBRARY_CACHE_MAX_BYTES);
    return put(s, PUT_LIBRARY, root, bytes, e);
}
