#include "database.h"

/*
 * Trust: decisions of the user on this machine. A decision that was reported
 * survives a power cut: these functions sync to disk.
 */

/* Executes a statement in a transaction of its own that is durable on return:
 * syncs the log, its entry in the folder, and mapm.db. */
static bool write_through(struct state *s, sqlite3_stmt *q, struct err *e)
{
    bool alone = sqlite3_get_autocommit(s->db);
    bool ok = (!alone || (db_sync_file(s, e) &&
                          db_run(s, "PRAGMA synchronous=FULL", e))) &&
              db_step_put(s, q, e);

    if (alone)
        sqlite3_exec(s->db, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL);
    return ok;
}

static bool find_trust(struct state *s, enum state_trust_kind kind,
                       struct str subject, const struct hash *digest,
                       struct arena *a, struct str *folder, struct err *e)
{
    CLEANUP_ROW sqlite3_stmt *q =
        db_first(s,
                 db_ask(s, FIND_TRUST, e, DB_NUMBER(kind), DB_BLOB(subject),
                        DB_HASH(digest)),
                 e);

    if (q)
        *folder = db_column_str(q, 0, a);
    return q != NULL;
}

bool state_find_trust(struct state *s, enum state_trust_kind kind,
                      struct str subject, const struct hash *digest,
                      struct arena *a, struct str *folder, struct err *e)
{
    return DB_RETRY(s, e, find_trust(s, kind, subject, digest, a, folder, e));
}

static bool put_trust(struct state *s, enum state_trust_kind kind,
                      struct str subject, const struct hash *digest,
                      struct str folder, struct err *e)
{
    sqlite3_stmt *q = db_ask(s, PUT_TRUST, e, DB_NUMBER(kind), DB_BLOB(subject),
                             DB_HASH(digest), DB_NUMBER(state_now_us() / 1000),
                             DB_BLOB(folder));

    return q && write_through(s, q, e);
}

bool state_put_trust(struct state *s, enum state_trust_kind kind,
                     struct str subject, const struct hash *digest,
                     struct str folder, struct err *e)
{
    return DB_RETRY(s, e, put_trust(s, kind, subject, digest, folder, e));
}

static bool forget_trust(struct state *s, enum state_trust_kind kind,
                         struct str subject, size_t *count, struct err *e)
{
    sqlite3_stmt *q =
        db_ask(s, FORGET_TRUST, e, DB_NUMBER(kind), DB_BLOB(subject));

    if (!q || !write_through(s, q, e))
        return false;
    *count = (size_t)sqlite3_changes(s->db);
    return true;
}

bool state_forget_trust(struct state *s, enum state_trust_kind kind,
                        struct str subject, size_t *count, struct err *e)
{
    return DB_RETRY(s, e, forget_trust(s, kind, subject, count, e));
}

/* Reads a decision of a known kind with a complete digest. */
static bool read_trust(sqlite3_stmt *q, struct arena *a, void *out)
{
    struct state_trust *t = out;

    *t = (struct state_trust){
        .kind = (enum state_trust_kind)db_column_number(
            q, 0, STATE_TRUST_KINDS - 1, STATE_TRUST_KINDS),
        .subject = db_column_str(q, 1, a),
        .since_s = db_column_number(q, 3, TIME_MAX_SECONDS * 1000, 0) / 1000,
        .folder = db_column_str(q, 4, a),
    };
    return t->kind < STATE_TRUST_KINDS && db_column_hash(q, 2, &t->digest);
}

static bool list_trust(struct state *s, struct arena *a,
                       struct state_trust **out, size_t *count, struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, LIST_TRUST, e);
    struct db_rows rows;

    if (!db_list(s, q, sizeof(struct state_trust), read_trust, a, &rows, e))
        return false;
    *out = rows.items;
    *count = rows.count;
    return true;
}

bool state_list_trust(struct state *s, struct arena *a,
                      struct state_trust **out, size_t *count, struct err *e)
{
    return DB_RETRY(s, e, list_trust(s, a, out, count, e));
}
