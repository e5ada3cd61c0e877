#include <string.h>

#include "inside.h"

/*
 * The index: what names were resolved to. A cache, all of it but the list of
 * workspaces, and that one fills itself at each install.
 */

#define KIND_MAX 255 /* of a package: the caller's own number */

bool store_find_package(struct store *s, struct str repository,
                        struct str commit, struct str path, struct arena *a,
                        struct store_package *out)
{
    struct err e = {0};
    sqlite3_stmt *q = db_prepare(s, FIND_PACKAGE, &e);
    struct store_package p;
    bool found = false;
    int64_t kind;

    if (!q)
        return false;
    db_bind_text(q, 1, repository);
    db_bind_text(q, 2, commit);
    db_bind_text(q, 3, path);
    if (db_has_row(s, q) && db_column_hash(q, 2, &p.digest)) {
        kind = db_column_number(q, 0, KIND_MAX, -1);
        p.kind = (unsigned)kind;
        p.object = db_column_str(q, 1, a);
        p.summary = db_column_str(q, 3, a);
        found = kind >= 0;
    }
    db_finish(q);
    if (found)
        *out = p;
    return found;
}

bool store_put_package(struct store *s, struct str repository,
                       struct str commit, struct str path,
                       const struct store_package *p, struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, PUT_PACKAGE, e);

    if (!q)
        return false;
    if (s->holding) {
        held_note_package(s, repository, commit, path, p);
        return true;
    }
    db_bind_text(q, 1, repository);
    db_bind_text(q, 2, commit);
    db_bind_text(q, 3, path);
    sqlite3_bind_int(q, 4, (int)p->kind);
    db_bind_text(q, 5, p->object);
    db_bind_hash(q, 6, &p->digest);
    db_bind_blob(q, 7, p->summary);
    return db_step_put(s, q, e);
}

bool store_find_blob(struct store *s, struct str oid, struct hash *h,
                     uint64_t *size)
{
    struct err e = {0};
    sqlite3_stmt *q = db_prepare(s, FIND_BLOB, &e);
    struct hash found;
    bool ok = false;

    if (s->holding && held_find_blob(s, oid, h, size))
        return store_has(s, h);
    if (!q)
        return false;
    db_bind_text(q, 1, oid);
    if (db_has_row(s, q) && db_column_hash(q, 0, &found)) {
        int64_t n = db_column_number(q, 1, INT64_MAX, -1);

        *size = n < 0 ? 0 : (uint64_t)n;
        ok = n >= 0 && store_has(s, &found);
    }
    db_finish(q);
    if (ok)
        *h = found;
    return ok;
}

bool store_put_blob(struct store *s, struct str oid, const struct hash *h,
                    uint64_t size, struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, PUT_BLOB, e);

    if (!q)
        return false;
    if (s->holding) {
        held_note_blob(s, oid, h, size);
        return true;
    }
    db_bind_text(q, 1, oid);
    db_bind_hash(q, 2, h);
    sqlite3_bind_int64(q, 3, (sqlite3_int64)size);
    return db_step_put(s, q, e);
}

bool store_find_ref(struct store *s, struct str repository, struct str rest,
                    struct arena *a, struct store_ref *out)
{
    struct err e = {0};
    sqlite3_stmt *q = db_prepare(s, FIND_REF, &e);
    bool found = false;

    if (!q)
        return false;
    db_bind_text(q, 1, repository);
    db_bind_text(q, 2, rest);
    if (db_has_row(s, q)) {
        out->ref = db_column_str(q, 0, a);
        out->commit = db_column_str(q, 1, a);
        out->path = db_column_str(q, 2, a);
        found = true;
    }
    db_finish(q);
    return found;
}

bool store_put_ref(struct store *s, struct str repository, struct str rest,
                   const struct store_ref *r, struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, PUT_REF, e);

    if (!q)
        return false;
    if (s->holding) {
        held_note_ref(s, repository, rest, r);
        return true;
    }
    db_bind_text(q, 1, repository);
    db_bind_text(q, 2, rest);
    db_bind_text(q, 3, r->ref);
    db_bind_text(q, 4, r->commit);
    db_bind_text(q, 5, r->path);
    return db_step_put(s, q, e);
}

bool store_find_trees(struct store *s, struct str repository, struct str commit,
                      struct arena *a, struct str *bytes)
{
    struct err e = {0};
    sqlite3_stmt *q = db_prepare(s, FIND_TREES, &e);
    struct hash h;
    bool found;

    if (!q)
        return false;
    db_bind_text(q, 1, repository);
    db_bind_text(q, 2, commit);
    found = db_has_row(s, q) && db_column_hash(q, 0, &h);
    db_finish(q);
    return found && store_read(s, &h, TRANSFER_MAX_BYTES, a, bytes, &e);
}

bool index_put_trees(struct store *s, struct str repository, struct str commit,
                     const struct hash *h, struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, PUT_TREES, e);

    if (!q)
        return false;
    db_bind_text(q, 1, repository);
    db_bind_text(q, 2, commit);
    db_bind_hash(q, 3, h);
    return db_step_put(s, q, e);
}

bool store_put_trees(struct store *s, struct str repository, struct str commit,
                     struct str bytes, struct err *e)
{
    struct hash h;

    if (!db_open(s, e) || !store_put(s, bytes, &h, e))
        return false;
    if (!s->holding)
        return index_put_trees(s, repository, commit, &h, e);
    held_note_trees(s, repository, commit, &h);
    return true;
}

static void bind_proof(sqlite3_stmt *q, const struct store_proof *p)
{
    db_bind_text(q, 1, p->repository);
    db_bind_text(q, 2, p->commit);
    db_bind_text(q, 3, p->path);
    db_bind_text(q, 4, p->object);
    db_bind_hash(q, 5, &p->digest);
}

/* Of thousands of the same question the first prepares it. */
static sqlite3_stmt *prepare_proof(struct store *s)
{
    struct err ignored = {0};

    return db_prepare(s, FIND_PROOF, &ignored);
}

bool store_has_proof(struct store *s, const struct store_proof *p)
{
    bool again = s->reading && s->statements[FIND_PROOF];
    sqlite3_stmt *q = again ? s->statements[FIND_PROOF] : prepare_proof(s);
    bool found;

    if (!q)
        return false;
    bind_proof(q, p);
    found = db_has_row(s, q);
    db_finish(q);
    return found;
}

bool store_put_proof(struct store *s, const struct store_proof *p,
                     struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, PUT_PROOF, e);

    if (!q)
        return false;
    if (s->holding) {
        held_note_proof(s, p);
        return true;
    }
    bind_proof(q, p);
    return db_step_put(s, q, e);
}

bool store_is_proved(struct store *s, struct str repository, struct str commit)
{
    struct err e = {0};
    sqlite3_stmt *q = db_prepare(s, FIND_PROVED, &e);
    bool found;

    if (!q)
        return false;
    db_bind_text(q, 1, repository);
    db_bind_text(q, 2, commit);
    found = db_has_row(s, q);
    db_finish(q);
    return found;
}

bool store_put_proved(struct store *s, struct str repository, struct str commit,
                      struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, PUT_PROVED, e);

    if (!q)
        return false;
    if (s->holding) {
        held_note_proved(s, repository, commit);
        return true;
    }
    db_bind_text(q, 1, repository);
    db_bind_text(q, 2, commit);
    return db_step_put(s, q, e);
}

bool store_put_workspace(struct store *s, struct str path, struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, PUT_WORKSPACE, e);

    if (!q)
        return false;
    db_bind_blob(q, 1, path);
    return db_step_put(s, q, e);
}

bool store_list_workspaces(struct store *s, struct arena *a, struct str **paths,
                           size_t *count, struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, LIST_WORKSPACES, e);
    struct str *list = NULL;
    size_t n = 0, capacity = 0;
    int code = SQLITE_ERROR;

    if (!q)
        return false;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        list = arena_grow(a, list, n, &capacity, sizeof *list);
        list[n++] = db_column_str(q, 0, a);
    }
    if (!db_end_rows(s, q, code, e))
        return false;
    *paths = list;
    *count = n;
    return true;
}

bool store_forget_workspace(struct store *s, struct str path, struct err *e)
{
    sqlite3_stmt *q = db_prepare(s, FORGET_WORKSPACE, e);

    if (!q)
        return false;
    db_bind_blob(q, 1, path);
    return db_step_put(s, q, e);
}

bool store_begin(struct store *s, struct err *e)
{
    return db_open(s, e) && (s->holding || db_begin(s, e));
}

bool store_commit(struct store *s, struct err *e)
{
    return db_open(s, e) && (s->holding || db_run(s, "COMMIT", e));
}

bool index_count(struct store *s, uint64_t *packages, uint64_t *workspaces,
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

static void has_object(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct store *s = sqlite3_user_data(ctx);
    const void *bytes = sqlite3_value_blob(argv[0]);
    struct hash h;

    (void)argc;
    if (!bytes || sqlite3_value_bytes(argv[0]) != (int)sizeof h.b) {
        sqlite3_result_int(ctx, 0);
        return;
    }
    memcpy(h.b, bytes, sizeof h.b);
    sqlite3_result_int(ctx, store_has(s, &h));
}

bool index_prune(struct store *s, struct err *e)
{
    if (!db_open(s, e))
        return false;
    if (sqlite3_create_function_v2(s->db, "has_object", 1, SQLITE_UTF8, s,
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
