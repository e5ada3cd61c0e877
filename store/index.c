#include "base/fs.h"
#include "mapm/store.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "inside.h"

/*
 * The index: what names were resolved to. A cache, all of it but the list of
 * workspaces, and that one fills itself at each install.
 */

#define APPLICATION_ID  0x6d61706d /* "mapm" */
#define SCHEMA_VERSION  1
#define BUSY_TIMEOUT_MS 10000

static const char schema[] =
    "CREATE TABLE packages(repository TEXT, commit_id TEXT, path TEXT,"
    " kind INTEGER NOT NULL, object TEXT NOT NULL, digest BLOB NOT NULL,"
    " summary BLOB NOT NULL, PRIMARY KEY(repository, commit_id, path))"
    " WITHOUT ROWID;"
    "CREATE TABLE blobs(oid TEXT PRIMARY KEY, hash BLOB NOT NULL,"
    " size INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE refs(repository TEXT, rest TEXT, ref TEXT NOT NULL,"
    " commit_id TEXT NOT NULL, path TEXT NOT NULL,"
    " PRIMARY KEY(repository, rest)) WITHOUT ROWID;"
    "CREATE TABLE trees(repository TEXT, commit_id TEXT, hash BLOB NOT NULL,"
    " PRIMARY KEY(repository, commit_id)) WITHOUT ROWID;"
    "CREATE TABLE proved(repository TEXT, commit_id TEXT,"
    " PRIMARY KEY(repository, commit_id)) WITHOUT ROWID;"
    "CREATE TABLE workspaces(path BLOB PRIMARY KEY) WITHOUT ROWID;";

static const char *const texts[STATEMENT_COUNT] = {
    [FIND_PACKAGE] = "SELECT kind, object, digest, summary FROM packages"
                     " WHERE repository=?1 AND commit_id=?2 AND path=?3",
    [PUT_PACKAGE] = "INSERT OR REPLACE INTO packages"
                    " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [FIND_BLOB] = "SELECT hash, size FROM blobs WHERE oid=?1",
    [PUT_BLOB] = "INSERT OR REPLACE INTO blobs VALUES(?1, ?2, ?3)",
    [FIND_REF] = "SELECT ref, commit_id, path FROM refs"
                 " WHERE repository=?1 AND rest=?2",
    [PUT_REF] = "INSERT OR REPLACE INTO refs VALUES(?1, ?2, ?3, ?4, ?5)",
    [FIND_TREES] = "SELECT hash FROM trees"
                   " WHERE repository=?1 AND commit_id=?2",
    [PUT_TREES] = "INSERT OR REPLACE INTO trees VALUES(?1, ?2, ?3)",
    [FIND_PROVED] = "SELECT 1 FROM proved"
                    " WHERE repository=?1 AND commit_id=?2",
    [PUT_PROVED] = "INSERT OR IGNORE INTO proved VALUES(?1, ?2)",
    [PUT_WORKSPACE] = "INSERT OR IGNORE INTO workspaces VALUES(?1)",
    [LIST_WORKSPACES] = "SELECT path FROM workspaces ORDER BY path",
    [FORGET_WORKSPACE] = "DELETE FROM workspaces WHERE path=?1",
    [COUNT_PACKAGES] = "SELECT count(DISTINCT digest) FROM packages",
    [COUNT_WORKSPACES] = "SELECT count(*) FROM workspaces",
};

static bool fail(struct store *s, const char *what, struct err *e)
{
    err_set(e, sqlite3_errcode(s->db) == SQLITE_BUSY ? ERR_BUSY : ERR_IO,
            "mapm.db: %s: %s", what, sqlite3_errmsg(s->db));
    return false;
}

static bool run(struct store *s, const char *sql, struct err *e)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           fail(s, "cannot be used", e);
}

static bool read_pragma(struct store *s, const char *sql, int *value,
                        struct err *e)
{
    sqlite3_stmt *q = NULL;
    bool ok = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK &&
              sqlite3_step(q) == SQLITE_ROW;

    *value = ok ? sqlite3_column_int(q, 0) : 0;
    if (!ok)
        fail(s, "cannot be read", e);
    sqlite3_finalize(q);
    return ok;
}

/* Row 26: what is in the file is data, never more. */
static bool set_up(struct store *s, struct err *e)
{
    sqlite3_busy_timeout(s->db, BUSY_TIMEOUT_MS);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return run(s,
               "PRAGMA cell_size_check=ON;"
               "PRAGMA synchronous=NORMAL;"
               "PRAGMA temp_store=MEMORY",
               e);
}

static bool create_schema(struct store *s, struct err *e)
{
    int version = 0;
    char sql[128];

    snprintf(sql, sizeof sql,
             "PRAGMA application_id=%d;PRAGMA user_version=%d;COMMIT",
             APPLICATION_ID, SCHEMA_VERSION);
    if (!run(s, "PRAGMA journal_mode=WAL", e) || !run(s, "BEGIN IMMEDIATE", e))
        return false;
    /* Another process may have done it while we waited. */
    if (!read_pragma(s, "PRAGMA user_version", &version, e))
        return false;
    if (version != 0)
        return run(s, "COMMIT", e);
    return run(s, schema, e) && run(s, sql, e);
}

static bool check_schema(struct store *s, bool *foreign, struct err *e)
{
    int version = 0, application = 0, tables = 0;

    *foreign = false;
    if (!read_pragma(s, "PRAGMA user_version", &version, e) ||
        !read_pragma(s, "PRAGMA application_id", &application, e) ||
        !read_pragma(s, "SELECT count(*) FROM sqlite_schema", &tables, e))
        return false;
    if (version == 0 && application == 0 && tables == 0)
        return create_schema(s, e);
    if (application != APPLICATION_ID) {
        *foreign = true;
        return err_set(e, ERR_DAMAGED, "mapm.db is not mapm's index");
    }
    if (version > SCHEMA_VERSION) {
        err_set(e, ERR_REFUSED, "mapm.db is of version %d, this mapm knows %d",
                version, SCHEMA_VERSION);
        return err_hint(e, "use the newer mapm that wrote it, or set "
                           "MAPM_HOME to another folder");
    }
    return true;
}

static void drop_handle(struct store *s)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        sqlite3_finalize(s->statements[i]);
        s->statements[i] = NULL;
    }
    sqlite3_close(s->db);
    s->db = NULL;
    s->reading = false;
}

static bool open_file(struct store *s, bool *broken, struct err *e)
{
    struct str path = fs_join(s->home, STR("mapm.db"), &s->arena);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                      SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX;
    bool foreign = false;
    int code;

    *broken = false;
    if (sqlite3_open_v2(path.p, &s->db, flags, NULL) != SQLITE_OK)
        return fail(s, "cannot be opened", e);
    if (set_up(s, e) && check_schema(s, &foreign, e))
        return true;
    code = sqlite3_errcode(s->db);
    *broken = foreign || code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
    return false;
}

/* A damaged index is set aside; installs fill the new one again. */
static void set_aside(struct store *s)
{
    static const char *const names[] = {"mapm.db", "mapm.db-wal",
                                        "mapm.db-shm"};
    char to[64];

    snprintf(to, sizeof to, "mapm.db.damaged-%lld", (long long)time(NULL));
    for (size_t i = 0; i < 3; i++) {
        if (i > 0)
            unlinkat(s->home_fd, names[i], 0);
        else if (renameat(s->home_fd, names[i], s->home_fd, to) < 0)
            unlinkat(s->home_fd, names[i], 0);
    }
}

bool index_open(struct store *s, struct err *e)
{
    bool broken;

    if (s->db)
        return true;
    if (s->db_problem.code != ERR_NONE) {
        *e = s->db_problem;
        return false;
    }
    if (open_file(s, &broken, e))
        return true;
    drop_handle(s);
    if (broken) {
        set_aside(s);
        err_clear(e);
        if (open_file(s, &broken, e))
            return true;
        drop_handle(s);
    }
    s->db_problem = *e;
    return false;
}

void index_close(struct store *s)
{
    if (s->db)
        drop_handle(s);
}

static bool is_question(enum statement which)
{
    return which == FIND_PACKAGE || which == FIND_BLOB || which == FIND_REF ||
           which == FIND_TREES || which == FIND_PROVED;
}

/* An install asks thousands of times, and writes only at its end: one
 * transaction for all questions, instead of four locks for each. Another
 * process' news may be missed: then something is fetched again. */
static void keep_reading(struct store *s)
{
    if (s->holding && !s->reading)
        s->reading =
            sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
}

static void stop_reading(struct store *s)
{
    if (s->reading)
        sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    s->reading = false;
}

/* Ready to bind; NULL when the index cannot be used. */
static sqlite3_stmt *prepare(struct store *s, enum statement which,
                             struct err *e)
{
    if (!index_open(s, e))
        return NULL;
    if (is_question(which))
        keep_reading(s);
    else if (!s->holding)
        stop_reading(s);
    if (!s->statements[which] &&
        sqlite3_prepare_v3(s->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                           &s->statements[which], NULL) != SQLITE_OK) {
        fail(s, "cannot be used", e);
        return NULL;
    }
    return s->statements[which];
}

static void bind_text(sqlite3_stmt *q, int at, struct str s)
{
    sqlite3_bind_text(q, at, s.p ? s.p : "", (int)s.n, SQLITE_STATIC);
}

static void bind_blob(sqlite3_stmt *q, int at, struct str s)
{
    sqlite3_bind_blob(q, at, s.p ? s.p : "", (int)s.n, SQLITE_STATIC);
}

static void bind_hash(sqlite3_stmt *q, int at, const struct hash *h)
{
    sqlite3_bind_blob(q, at, h->b, sizeof h->b, SQLITE_STATIC);
}

static struct str column_str(sqlite3_stmt *q, int at, struct arena *a)
{
    const void *bytes = sqlite3_column_blob(q, at);
    int n = sqlite3_column_bytes(q, at);

    return arena_str(a, str_of(bytes ? bytes : "", bytes ? (size_t)n : 0));
}

static bool column_hash(sqlite3_stmt *q, int at, struct hash *h)
{
    const void *bytes = sqlite3_column_blob(q, at);

    if (!bytes || sqlite3_column_bytes(q, at) != (int)sizeof h->b)
        return false;
    memcpy(h->b, bytes, sizeof h->b);
    return true;
}

static void finish(sqlite3_stmt *q)
{
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
}

static bool step_put(struct store *s, sqlite3_stmt *q, struct err *e)
{
    bool ok = sqlite3_step(q) == SQLITE_DONE || fail(s, "write", e);

    finish(q);
    return ok;
}

bool store_find_package(struct store *s, struct str repository,
                        struct str commit, struct str path, struct arena *a,
                        struct store_package *out)
{
    struct err e = {0};
    sqlite3_stmt *q = prepare(s, FIND_PACKAGE, &e);
    struct store_package p;
    bool found = false;

    if (!q)
        return false;
    bind_text(q, 1, repository);
    bind_text(q, 2, commit);
    bind_text(q, 3, path);
    if (sqlite3_step(q) == SQLITE_ROW && column_hash(q, 2, &p.digest)) {
        p.kind = (unsigned)sqlite3_column_int(q, 0);
        p.object = column_str(q, 1, a);
        p.summary = column_str(q, 3, a);
        *out = p;
        found = true;
    }
    finish(q);
    return found;
}

bool store_put_package(struct store *s, struct str repository,
                       struct str commit, struct str path,
                       const struct store_package *p, struct err *e)
{
    sqlite3_stmt *q = prepare(s, PUT_PACKAGE, e);

    if (!q)
        return false;
    if (s->holding) {
        held_note_package(s, repository, commit, path, p);
        return true;
    }
    bind_text(q, 1, repository);
    bind_text(q, 2, commit);
    bind_text(q, 3, path);
    sqlite3_bind_int(q, 4, (int)p->kind);
    bind_text(q, 5, p->object);
    bind_hash(q, 6, &p->digest);
    bind_blob(q, 7, p->summary);
    return step_put(s, q, e);
}

bool store_find_blob(struct store *s, struct str oid, struct hash *h,
                     uint64_t *size)
{
    struct err e = {0};
    sqlite3_stmt *q = prepare(s, FIND_BLOB, &e);
    struct hash found;
    bool ok = false;

    if (s->holding && held_find_blob(s, oid, h, size))
        return store_has(s, h);
    if (!q)
        return false;
    bind_text(q, 1, oid);
    if (sqlite3_step(q) == SQLITE_ROW && column_hash(q, 0, &found)) {
        *size = (uint64_t)sqlite3_column_int64(q, 1);
        ok = store_has(s, &found);
    }
    finish(q);
    if (ok)
        *h = found;
    return ok;
}

bool store_put_blob(struct store *s, struct str oid, const struct hash *h,
                    uint64_t size, struct err *e)
{
    sqlite3_stmt *q = prepare(s, PUT_BLOB, e);

    if (!q)
        return false;
    if (s->holding) {
        held_note_blob(s, oid, h, size);
        return true;
    }
    bind_text(q, 1, oid);
    bind_hash(q, 2, h);
    sqlite3_bind_int64(q, 3, (sqlite3_int64)size);
    return step_put(s, q, e);
}

bool store_find_ref(struct store *s, struct str repository, struct str rest,
                    struct arena *a, struct store_ref *out)
{
    struct err e = {0};
    sqlite3_stmt *q = prepare(s, FIND_REF, &e);
    bool found = false;

    if (!q)
        return false;
    bind_text(q, 1, repository);
    bind_text(q, 2, rest);
    if (sqlite3_step(q) == SQLITE_ROW) {
        out->ref = column_str(q, 0, a);
        out->commit = column_str(q, 1, a);
        out->path = column_str(q, 2, a);
        found = true;
    }
    finish(q);
    return found;
}

bool store_put_ref(struct store *s, struct str repository, struct str rest,
                   const struct store_ref *r, struct err *e)
{
    sqlite3_stmt *q = prepare(s, PUT_REF, e);

    if (!q)
        return false;
    if (s->holding) {
        held_note_ref(s, repository, rest, r);
        return true;
    }
    bind_text(q, 1, repository);
    bind_text(q, 2, rest);
    bind_text(q, 3, r->ref);
    bind_text(q, 4, r->commit);
    bind_text(q, 5, r->path);
    return step_put(s, q, e);
}

bool store_find_trees(struct store *s, struct str repository, struct str commit,
                      struct arena *a, struct str *bytes)
{
    struct err e = {0};
    sqlite3_stmt *q = prepare(s, FIND_TREES, &e);
    struct hash h;
    bool found;

    if (!q)
        return false;
    bind_text(q, 1, repository);
    bind_text(q, 2, commit);
    found = sqlite3_step(q) == SQLITE_ROW && column_hash(q, 0, &h);
    finish(q);
    return found && store_read(s, &h, TRANSFER_MAX_BYTES, a, bytes, &e);
}

bool index_put_trees(struct store *s, struct str repository, struct str commit,
                     const struct hash *h, struct err *e)
{
    sqlite3_stmt *q = prepare(s, PUT_TREES, e);

    if (!q)
        return false;
    bind_text(q, 1, repository);
    bind_text(q, 2, commit);
    bind_hash(q, 3, h);
    return step_put(s, q, e);
}

bool store_put_trees(struct store *s, struct str repository, struct str commit,
                     struct str bytes, struct err *e)
{
    struct hash h;

    if (!index_open(s, e) || !store_put(s, bytes, &h, e))
        return false;
    if (!s->holding)
        return index_put_trees(s, repository, commit, &h, e);
    held_note_trees(s, repository, commit, &h);
    return true;
}

bool store_is_proved(struct store *s, struct str repository, struct str commit)
{
    struct err e = {0};
    sqlite3_stmt *q = prepare(s, FIND_PROVED, &e);
    bool found;

    if (!q)
        return false;
    bind_text(q, 1, repository);
    bind_text(q, 2, commit);
    found = sqlite3_step(q) == SQLITE_ROW;
    finish(q);
    return found;
}

bool store_put_proved(struct store *s, struct str repository, struct str commit,
                      struct err *e)
{
    sqlite3_stmt *q = prepare(s, PUT_PROVED, e);

    if (!q)
        return false;
    if (s->holding) {
        held_note_proved(s, repository, commit);
        return true;
    }
    bind_text(q, 1, repository);
    bind_text(q, 2, commit);
    return step_put(s, q, e);
}

bool store_put_workspace(struct store *s, struct str path, struct err *e)
{
    sqlite3_stmt *q = prepare(s, PUT_WORKSPACE, e);

    if (!q)
        return false;
    bind_blob(q, 1, path);
    return step_put(s, q, e);
}

bool store_list_workspaces(struct store *s, struct arena *a, struct str **paths,
                           size_t *count, struct err *e)
{
    sqlite3_stmt *q = prepare(s, LIST_WORKSPACES, e);
    struct str *list = NULL;
    size_t n = 0, capacity = 0;
    int code = SQLITE_ERROR;

    if (!q)
        return false;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        list = arena_grow(a, list, n, &capacity, sizeof *list);
        list[n++] = column_str(q, 0, a);
    }
    if (code != SQLITE_DONE)
        fail(s, "read", e);
    finish(q);
    if (code != SQLITE_DONE)
        return false;
    *paths = list;
    *count = n;
    return true;
}

bool store_forget_workspace(struct store *s, struct str path, struct err *e)
{
    sqlite3_stmt *q = prepare(s, FORGET_WORKSPACE, e);

    if (!q)
        return false;
    bind_blob(q, 1, path);
    return step_put(s, q, e);
}

bool store_begin(struct store *s, struct err *e)
{
    if (!index_open(s, e))
        return false;
    if (s->holding)
        return true;
    stop_reading(s);
    return run(s, "BEGIN IMMEDIATE", e);
}

bool store_commit(struct store *s, struct err *e)
{
    return index_open(s, e) && (s->holding || run(s, "COMMIT", e));
}

bool index_count(struct store *s, uint64_t *packages, uint64_t *workspaces,
                 struct err *e)
{
    sqlite3_stmt *p = prepare(s, COUNT_PACKAGES, e);
    sqlite3_stmt *w = prepare(s, COUNT_WORKSPACES, e);
    bool ok = p && w && sqlite3_step(p) == SQLITE_ROW &&
              sqlite3_step(w) == SQLITE_ROW;

    if (p && w) {
        *packages = (uint64_t)sqlite3_column_int64(p, 0);
        *workspaces = (uint64_t)sqlite3_column_int64(w, 0);
        if (!ok)
            fail(s, "count", e);
        finish(p);
        finish(w);
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
    if (!index_open(s, e))
        return false;
    if (sqlite3_create_function_v2(s->db, "has_object", 1, SQLITE_UTF8, s,
                                   has_object, NULL, NULL, NULL) != SQLITE_OK)
        return fail(s, "prune", e);
    return run(s,
               "BEGIN IMMEDIATE;"
               "DELETE FROM packages WHERE NOT has_object(digest);"
               "DELETE FROM blobs WHERE NOT has_object(hash);"
               "DELETE FROM trees WHERE NOT has_object(hash);"
               "COMMIT",
               e);
}
