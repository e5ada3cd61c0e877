#include "mapm/state_index.h"

#include <string.h>

#include "database.h"

/* All of the index is a cache except the list of workspaces, which each install
 * fills. */

#define KIND_MAX 255 /* kind of a package, a number of the caller */

/* Returns no row on failure, so that the caller fetches again. */
static sqlite3_stmt *find_row(struct state *s, enum statement which,
                              const struct db_value *values, int count)
{
    struct err ignored = {0};
    sqlite3_stmt *q = db_ask_values(s, which, &ignored, values, count);

    if (!q || db_has_row(s, q))
        return q;
    db_finish(q);
    return NULL;
}

#define FIND_ROW(s, which, ...) find_row(s, which, DB_VALUES(__VA_ARGS__))

bool state_find_package(struct state *s, struct str repository,
                        struct str commit, struct str path, struct arena *a,
                        struct state_package *out)
{
    CLEANUP_ROW sqlite3_stmt *q = FIND_ROW(s, FIND_PACKAGE, DB_TEXT(repository),
                                           DB_TEXT(commit), DB_TEXT(path));
    struct state_package p;
    int64_t kind;

    if (!q || !db_column_hash(q, 2, &p.digest))
        return false;
    kind = db_column_number(q, 0, KIND_MAX, -1);
    p.kind = (unsigned)kind;
    p.object = db_column_str(q, 1, a);
    p.summary = db_column_str(q, 3, a);
    if (kind >= 0)
        *out = p;
    return kind >= 0;
}

bool state_put_package(struct state *s, struct str repository,
                       struct str commit, struct str path,
                       const struct state_package *p, struct err *e)
{
    return db_put(s, PUT_PACKAGE, e, DB_TEXT(repository), DB_TEXT(commit),
                  DB_TEXT(path), DB_NUMBER(p->kind), DB_TEXT(p->object),
                  DB_HASH(&p->digest), DB_BLOB(p->summary));
}

bool state_find_blob(struct state *s, struct str oid, struct hash *h,
                     uint64_t *size)
{
    CLEANUP_ROW sqlite3_stmt *q = FIND_ROW(s, FIND_BLOB, DB_TEXT(oid));
    int64_t n;

    if (!q || !db_column_hash(q, 0, h))
        return false;
    n = db_column_number(q, 1, INT64_MAX, -1);
    *size = (uint64_t)n;
    return n >= 0;
}

bool state_put_blob(struct state *s, struct str oid, const struct hash *h,
                    uint64_t size, struct err *e)
{
    return db_put(s, PUT_BLOB, e, DB_TEXT(oid), DB_HASH(h), DB_NUMBER(size));
}

bool state_find_ref(struct state *s, struct str repository, struct str rest,
                    struct arena *a, struct state_ref *out)
{
    CLEANUP_ROW sqlite3_stmt *q =
        FIND_ROW(s, FIND_REF, DB_TEXT(repository), DB_TEXT(rest));

    if (!q)
        return false;
    out->ref = db_column_str(q, 0, a);
    out->commit = db_column_str(q, 1, a);
    out->path = db_column_str(q, 2, a);
    return true;
}

bool state_put_ref(struct state *s, struct str repository, struct str rest,
                   const struct state_ref *r, struct err *e)
{
    return db_put(s, PUT_REF, e, DB_TEXT(repository), DB_TEXT(rest),
                  DB_TEXT(r->ref), DB_TEXT(r->commit), DB_TEXT(r->path));
}

bool state_find_trees(struct state *s, struct str repository, struct str commit,
                      struct hash *h)
{
    CLEANUP_ROW sqlite3_stmt *q =
        FIND_ROW(s, FIND_TREES, DB_TEXT(repository), DB_TEXT(commit));

    return q && db_column_hash(q, 0, h);
}

bool state_put_trees(struct state *s, struct str repository, struct str commit,
                     const struct hash *h, struct err *e)
{
    return db_put(s, PUT_TREES, e, DB_TEXT(repository), DB_TEXT(commit),
                  DB_HASH(h));
}

#define DB_PROOF(p)                                                            \
    DB_TEXT((p)->repository), DB_TEXT((p)->commit), DB_TEXT((p)->path),        \
        DB_TEXT((p)->object), DB_HASH(&(p)->digest)

/* Prepares the statement once for thousands of queries. */
static sqlite3_stmt *prepare_proof(struct state *s)
{
    struct err ignored = {0};

    return db_prepare(s, FIND_PROOF, &ignored);
}

bool state_has_proof(struct state *s, const struct state_proof *p)
{
    bool again = s->reading && s->statements[FIND_PROOF];
    sqlite3_stmt *q = again ? s->statements[FIND_PROOF] : prepare_proof(s);
    bool found;

    if (!q)
        return false;
    db_bind(q, DB_VALUES(DB_PROOF(p)));
    found = db_has_row(s, q);
    db_finish(q);
    return found;
}

bool state_put_proof(struct state *s, const struct state_proof *p,
                     struct err *e)
{
    return db_put(s, PUT_PROOF, e, DB_PROOF(p));
}

bool state_find_commit(struct state *s, struct str repository,
                       struct str prefix, struct arena *a, struct str *commit)
{
    CLEANUP_ROW sqlite3_stmt *q =
        FIND_ROW(s, FIND_COMMIT, DB_TEXT(repository), DB_TEXT(prefix));

    if (!q)
        return false;
    *commit = db_column_str(q, 0, a);
    return true;
}

bool state_is_reachable(struct state *s, struct str repository,
                        struct str commit)
{
    CLEANUP_ROW sqlite3_stmt *q =
        FIND_ROW(s, FIND_REACHABLE, DB_TEXT(repository), DB_TEXT(commit));

    return q != NULL;
}

bool state_put_reachable(struct state *s, struct str repository,
                         struct str commit, struct err *e)
{
    return db_put(s, PUT_REACHABLE, e, DB_TEXT(repository), DB_TEXT(commit));
}

bool state_find_host(struct state *s, struct str place, int64_t after_s,
                     int64_t now_s, struct arena *a, struct str *caps)
{
    CLEANUP_ROW sqlite3_stmt *q = FIND_ROW(
        s, FIND_HOST, DB_TEXT(place), DB_NUMBER(after_s), DB_NUMBER(now_s));

    if (q)
        *caps = db_column_str(q, 0, a);
    return q != NULL;
}

bool state_put_host(struct state *s, struct str place, struct str caps,
                    int64_t now_s, struct err *e)
{
    return db_put(s, PUT_HOST, e, DB_TEXT(place), DB_TEXT(caps),
                  DB_NUMBER(now_s));
}

bool state_put_workspace(struct state *s, struct str path, struct err *e)
{
    return db_put(s, PUT_WORKSPACE, e, DB_BLOB(path));
}

static bool read_path(sqlite3_stmt *q, struct arena *a, void *out)
{
    *(struct str *)out = db_column_str(q, 0, a);
    return true;
}

bool state_list_workspaces(struct state *s, struct arena *a, struct str **paths,
                           size_t *count, struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, LIST_WORKSPACES, e);
    struct db_rows rows;

    if (!db_list(s, q, sizeof(struct str), read_path, a, &rows, e))
        return false;
    *paths = rows.items;
    *count = rows.count;
    return true;
}

bool state_forget_workspace(struct state *s, struct str path, struct err *e)
{
    return db_put(s, FORGET_WORKSPACE, e, DB_BLOB(path));
}

bool state_begin(struct state *s, struct err *e)
{
    return db_open(s, e) && db_begin(s, e);
}

bool state_commit(struct state *s, struct err *e)
{
    if (!db_open(s, e) || !db_run(s, "COMMIT", e))
        return false;
    /* After an index of many packages, which is not read soon. */
    sqlite3_db_release_memory(s->db);
    return true;
}

bool state_count(struct state *s, uint64_t *packages, uint64_t *workspaces,
                 struct err *e)
{
    sqlite3_stmt *p = db_prepare(s, COUNT_PACKAGES, e);
    sqlite3_stmt *w = db_prepare(s, COUNT_WORKSPACES, e);
    bool ok = p && w && sqlite3_step(p) == SQLITE_ROW &&
              sqlite3_step(w) == SQLITE_ROW;

    if (p && w) {
        *packages = (uint64_t)db_column_number(p, 0, INT64_MAX, 0);
        *workspaces = (uint64_t)db_column_number(w, 0, INT64_MAX, 0);
        if (!ok)
            db_fail(s, "count", e);
        db_finish(p);
        db_finish(w);
    }
    return ok;
}

struct objects {
    bool (*has)(void *ctx, const struct hash *h);
    void *ctx;
};

static void has_object(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    const struct objects *o = sqlite3_user_data(ctx);
    const void *bytes = sqlite3_value_blob(argv[0]);
    struct hash h;

    (void)argc;
    if (!bytes || sqlite3_value_bytes(argv[0]) != (int)sizeof h.b) {
        sqlite3_result_int(ctx, 0);
        return;
    }
    memcpy(h.b, bytes, sizeof h.b);
    sqlite3_result_int(ctx, o->has(o->ctx, &h));
}

bool state_prune(struct state *s, bool (*has)(void *ctx, const struct hash *h),
                 void *ctx, struct err *e)
{
    struct objects o = {has, ctx};

    if (!db_open(s, e))
        return false;
    if (sqlite3_create_function_v2(s->db, "has_object", 1, SQLITE_UTF8, &o,
                                   has_object, NULL, NULL, NULL) != SQLITE_OK)
        return db_fail(s, "prune", e);
    return db_run(s,
                  "BEGIN IMMEDIATE;"
                  "DELETE FROM packages WHERE NOT has_object(digest);"
                  "DELETE FROM blobs WHERE NOT has_object(hash);"
                  "DELETE FROM trees WHERE NOT has_object(hash);"
                  "DELETE FROM proofs WHERE object<>''"
                  " AND NOT has_object(digest);"
                  "DELETE FROM proofs AS p WHERE object='' AND NOT EXISTS("
                  "SELECT 1 FROM proofs AS o WHERE o.repository=p.repository"
                  " AND o.commit_id=p.commit_id AND o.object<>'');"
                  "COMMIT",
                  e);
}
