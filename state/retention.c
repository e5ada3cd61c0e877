#include "base/text.h"

#include "database.h"

/*
 * State between commands: sessions, and cached roots of the library. The most
 * recent rows are kept.
 */

static bool find(struct state *s, enum statement which, struct str key,
                 struct arena *a, struct str *out, struct err *e)
{
    CLEANUP_ROW sqlite3_stmt *q =
        db_first(s, db_ask(s, which, e, DB_BLOB(key)), e);

    if (q)
        *out = db_column_str(q, 0, a);
    return q != NULL;
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

/* Writes a row with `which`, then deletes old rows with another statement. */
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

/* Writes a row, again after a repair, except within a transaction of the
 * caller. */
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

bool state_find_library(struct state *s, struct str root, struct arena *a,
                        struct str *bytes)
{
    struct err ignored = {0};
    sqlite3_stmt *q = db_ask(s, FIND_LIBRARY, &ignored, DB_BLOB(root));
    bool ok;

    if (!q)
        return false;
    /* the row does not change until `q` is finished */
    ok = sqlite3_step(q) == SQLITE_ROW &&
         db_read_blob(s, "libraries", "bytes",
                      db_column_number(q, 0, INT64_MAX, 0),
                      LIBRARY_CACHE_MAX_BYTES, a, bytes);
    db_finish(q);
    return ok;
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
