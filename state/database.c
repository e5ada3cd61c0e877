#include "database.h"

#include "base/fs.h"
#include "base/invariant.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

/*
 * mapm.db: opening, schema versions, and recovery of a damaged file. The index
 * in it is a cache; trust and history are not, so their loss is reported.
 */

#define APPLICATION_ID  0x6d61706d /* "mapm" */
#define BUSY_NAP_MAX_MS 16
#define BUSY_END_MS     60 /* wait after a signal */
#define OPEN_WAIT_MS    10000

/*
 * A commit is written to the log (WAL) without a sync. A checkpoint copies the
 * log into mapm.db when it has so many pages, at a commit or at the end; not at
 * every close, which would cost two fsyncs. The log must stay short, since the
 * first process that opens it reads it: 64 pages take a tenth of a run of one
 * millisecond, and about twenty runs share one checkpoint.
 */
#define BLOB_MAP_BYTES  "1073741824"
#define LOG_MAX_PAGES   1000
#define LOG_CLOSE_PAGES 64

int64_t state_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

bool db_fail(struct state *s, const char *what, struct err *e)
{
    int code = sqlite3_errcode(s->db);

    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        s->db_torn = true;
    return err_set(e, code == SQLITE_BUSY ? ERR_BUSY : ERR_IO,
                   "mapm.db: %s: %s", what, sqlite3_errmsg(s->db));
}

bool db_run(struct state *s, const char *sql, struct err *e)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           db_fail(s, "cannot be used", e);
}

static bool read_pragma(struct state *s, const char *sql, int *value,
                        struct err *e)
{
    sqlite3_stmt *q = NULL;
    bool ok = sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK &&
              sqlite3_step(q) == SQLITE_ROW;

    *value = ok ? (int)db_column_number(q, 0, INT_MAX, -1) : 0;
    if (!ok)
        db_fail(s, "cannot be read", e);
    sqlite3_finalize(q);
    return ok;
}

static int note_pages(void *ctx, sqlite3 *db, const char *name, int pages)
{
    struct state *s = ctx;

    s->wal_pages = pages;
    if (pages >= LOG_MAX_PAGES)
        sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL,
                                  NULL);
    return SQLITE_OK;
}

/* Waits for other writers, for an unknown time; after a signal only briefly. */
static int wait_for_others(void *ctx, int tries)
{
    struct state *s = ctx;
    long nap_ms = tries < 4 ? 1L << tries : BUSY_NAP_MAX_MS;
    const struct timespec nap = {.tv_nsec = nap_ms * 1000 * 1000};
    uint64_t now = proc_now_ms(), waited;

    if (tries == 0)
        s->busy_since_ms = now;
    waited = now - s->busy_since_ms;
    if (waited >= s->patience_ms ||
        (waited >= BUSY_END_MS && proc_is_asked_to_end()))
        return 0;
    nanosleep(&nap, NULL);
    return 1;
}

void state_set_patience(struct state *s, unsigned ms)
{
    s->patience_ms = ms;
}

/* Row 26: content of the file is data, never code. */
static bool set_up(struct state *s, struct err *e)
{
    sqlite3_busy_handler(s->db, wait_for_others, s);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_wal_hook(s->db, note_pages, s);
    return db_run(s,
                  "PRAGMA cell_size_check=ON;"
                  "PRAGMA synchronous=NORMAL;"
                  "PRAGMA temp_store=MEMORY",
                  e);
}

static void db_stop_reading(struct state *s)
{
    if (s->reading)
        sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    s->reading = false;
}

bool db_begin(struct state *s, struct err *e)
{
    db_stop_reading(s);
    return db_run(s, "BEGIN IMMEDIATE", e);
}

bool db_end(struct state *s, bool ok, struct err *e)
{
    if (ok && db_run(s, "COMMIT", e))
        return true;
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

/* Applies all schema changes since the version of the file, or none. */
static bool migrate(struct state *s, struct err *e)
{
    int version = 0;
    char sql[96];
    bool ok;

    if (!db_begin(s, e))
        return false;
    /* another process may have migrated meanwhile */
    ok = read_pragma(s, "PRAGMA user_version", &version, e);
    for (int i = version; ok && i < DB_VERSION; i++) {
        snprintf(sql, sizeof sql,
                 "PRAGMA application_id=%d;PRAGMA user_version=%d",
                 APPLICATION_ID, i + 1);
        ok = db_run(s, db_schema[i], e) && db_run(s, sql, e);
    }
    return db_end(s, ok, e);
}

/* Creates the file without a sync, since a new file contains nothing to lose
 * and an install creates it between two requests. Trust syncs it. */
static bool create(struct state *s, struct err *e)
{
    return db_run(s, "PRAGMA synchronous=OFF;PRAGMA journal_mode=WAL", e) &&
           migrate(s, e) && db_run(s, "PRAGMA synchronous=NORMAL", e);
}

bool db_sync_file(struct state *s, struct err *e)
{
    sqlite3_file *f = NULL;

    /* Uses the descriptor of sqlite: closing another one would release sqlite's
     * locks on the file. */
    if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &f) ==
            SQLITE_OK &&
        f && f->pMethods &&
        f->pMethods->xSync(f, SQLITE_SYNC_FULL) == SQLITE_OK)
        return true;
    return err_set(e, ERR_IO, "mapm.db: cannot be synced");
}

static bool check_schema(struct state *s, bool *foreign, struct err *e)
{
    int version = 0, application = 0, tables = 0;
    bool ok = read_pragma(s, "PRAGMA user_version", &version, e) &&
              read_pragma(s, "PRAGMA application_id", &application, e);

    *foreign = false;
    if (ok && version == 0 && application == 0)
        ok = read_pragma(s, "SELECT count(*) FROM sqlite_schema", &tables, e);
    if (!ok)
        return false;
    if (version == 0 && application == 0 && tables == 0)
        return create(s, e);
    if (application != APPLICATION_ID || version < 1) {
        *foreign = true;
        return err_set(e, ERR_DAMAGED, "mapm.db is not mapm's index");
    }
    if (version > DB_VERSION) {
        err_set(e, ERR_REFUSED, "mapm.db is of version %d, this mapm knows %d",
                version, DB_VERSION);
        return err_hint(e, "use the newer mapm that wrote it, or set "
                           "MAPM_HOME to another folder");
    }
    return version == DB_VERSION || migrate(s, e);
}

static bool log_is_empty(const struct state *s)
{
    struct stat st;

    return fs_stat_at(s->home_fd, "mapm.db-wal", &st) && st.st_size == 0;
}

/* Statements of FTS5 stay open until the end, but never in the middle of their
 * rows. */
static bool has_open_rows(sqlite3 *db)
{
    sqlite3_stmt *q = NULL;

    while ((q = sqlite3_next_stmt(db, q)) != NULL)
        if (sqlite3_stmt_busy(q))
            return true;
    return false;
}

/* Removes an empty log, which is free, so that readers leave no file behind. */
static void db_close(struct state *s)
{
    if (!s->db)
        return;
    search_close(s);
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        sqlite3_finalize(s->statements[i]);
        s->statements[i] = NULL;
    }
    if (s->home_fd >= 0 && (s->wal_pages > LOG_CLOSE_PAGES || log_is_empty(s)))
        sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    INVARIANT(!has_open_rows(s->db));
    sqlite3_close(s->db);
    s->db = NULL;
    s->reading = false;
    s->wal_pages = 0;
}

static bool is_empty(const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_size == 0;
}

/* Configures sqlite not to count its memory or allocate many pages in advance:
 * a short run reads five. Fails harmlessly once sqlite is in use. */
static void keep_small(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}

static const char *const db_parts[] = {"mapm.db", "mapm.db-wal", "mapm.db-shm"};
enum { DB_PARTS = 3 };

/* Returns whether the file is a FIFO, on which sqlite would block, or
 * unreadable. */
static bool is_unusable(const struct state *s, const char *name)
{
    struct stat st;

    return fs_stat_at(s->home_fd, name, &st) &&
           (!S_ISREG(st.st_mode) ||
            (st.st_uid == geteuid() && !(st.st_mode & S_IRUSR)));
}

static bool open_as(struct state *s, const char *name, int flags, bool *foreign,
                    struct err *e)
{
    flags |= SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX;
    return (sqlite3_open_v2(name, &s->db, flags, NULL) == SQLITE_OK ||
            db_fail(s, "cannot be opened", e)) &&
           set_up(s, e) && check_schema(s, foreign, e);
}

/* "%", "?" and "#" are special in a name that begins with "file:". */
static const char *uri_of(struct state *s, struct str path, const char *query)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 3 * path.n + 64);
    buf_text(&b, "file:");
    for (size_t i = 0; i < path.n; i++)
        if (str_has_char(STR("%?#"), path.p[i]))
            buf_printf(&b, "%%%02X", (unsigned char)path.p[i]);
        else
            buf_char(&b, path.p[i]);
    buf_text(&b, query);
    return arena_str(&s->arena, buf_str(&b)).p;
}

/* Opens the database read-only. Without a log, sqlite needs no other file;
 * without mapm.db, the state is empty. A log without its index cannot be
 * read. */
static bool open_read_only(struct state *s, struct str path, struct err *e)
{
    const int memory = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    const int immutable = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    struct stat st;
    bool foreign;

    if (fs_stat_at(s->home_fd, "mapm.db-wal", &st) && st.st_size > 0)
        return false;
    db_close(s);
    err_clear(e);
    if (fs_stat_at(s->home_fd, "mapm.db", &st))
        return open_as(s, uri_of(s, path, "?immutable=1"), immutable, &foreign,
                       e);
    return open_as(s, ":memory:", memory, &foreign, e) &&
           db_run(s, "PRAGMA query_only=ON", e);
}

/* Returns whether later writes will have a later time than the current one. */
static bool is_older_than_clock(const struct stat *st)
{
    struct timespec now;

    return S_ISREG(st->st_mode) && st->st_size > 0 &&
           clock_gettime(CLOCK_REALTIME_COARSE, &now) == 0 &&
           (st->st_mtim.tv_sec < now.tv_sec ||
            (st->st_mtim.tv_sec == now.tv_sec &&
             st->st_mtim.tv_nsec < now.tv_nsec));
}

static bool is_same_file(const struct stat *x, const struct stat *y)
{
    return x->st_dev == y->st_dev && x->st_ino == y->st_ino &&
           x->st_size == y->st_size && x->st_mtim.tv_sec == y->st_mtim.tv_sec &&
           x->st_mtim.tv_nsec == y->st_mtim.tv_nsec;
}

bool db_open_memory(struct state *s, struct err *e)
{
    const int memory = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    bool foreign;

    keep_small();
    return open_as(s, ":memory:", memory, &foreign, e);
}

static bool has_log(const struct state *s)
{
    struct stat st;

    return fs_stat_at(s->home_fd, "mapm.db-wal", &st) && st.st_size != 0;
}

/* Without a log, all data is in mapm.db and is valid while its times do not
 * change. A log is read with a private index in memory, under sqlite's locks,
 * unless another process has it open: then with that index. */
bool state_begin_glance(struct state *s)
{
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    struct str path = fs_join(s->home, STR("mapm.db"), &s->arena);
    struct err ignored = {0};
    bool foreign = false;

    if (s->db || !state_works(s, &ignored) ||
        !fs_stat_at(s->home_fd, "mapm.db", &s->db_file) ||
        !is_older_than_clock(&s->db_file))
        return false;
    for (size_t i = 0; i < DB_PARTS; i++)
        if (is_unusable(s, db_parts[i]))
            return false;
    keep_small();
    s->glancing = open_as(
        s, uri_of(s, path, has_log(s) ? "?readonly_shm=1" : "?immutable=1"),
        flags, &foreign, &ignored);
    if (!s->glancing)
        db_close(s);
    s->db_torn = false;
    return s->glancing;
}

bool state_end_glance(struct state *s)
{
    struct stat st;
    bool ok = s->glancing && !s->db_torn && s->index_problem.code == ERR_NONE &&
              fs_stat_at(s->home_fd, "mapm.db", &st) &&
              is_same_file(&st, &s->db_file);

    db_close(s);
    s->glancing = s->db_torn = false;
    s->index_problem = (struct err){0};
    return ok;
}

static bool open_file(struct state *s, bool *broken, struct err *e)
{
    struct str path = fs_join(s->home, STR("mapm.db"), &s->arena);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    bool foreign = false;

    s->db_torn = *broken = false;
    keep_small();
    for (size_t i = 0; i < DB_PARTS; i++)
        if (is_unusable(s, db_parts[i])) {
            *broken = true;
            return err_set(e, ERR_IO, "%s cannot be read", db_parts[i]);
        }
    if (open_as(s, path.p, flags, &foreign, e)) {
        if (fs_stat_at(s->home_fd, "mapm.db", &s->db_file))
            return true;
        err_set(e, ERR_IO, "mapm.db was taken away");
    } else if (!foreign && !s->db_torn && fs_is_read_only(s->home_fd) &&
               open_read_only(s, path, e)) {
        return true;
    }
    *broken = foreign || s->db_torn;
    s->db_torn = false;
    db_close(s);
    return false;
}

/* Moves the log first, because sqlite would use an old log with a new
 * mapm.db. */
static bool set_aside(struct state *s, struct err *e)
{
    static const char *const parts[] = {"-wal", "-shm", ""};
    char name[64], from[16], to[80];
    struct stat st;
    long long now = (long long)time(NULL);

    do
        snprintf(name, sizeof name, "mapm.db.damaged-%lld", now++);
    while (fs_stat_at(s->home_fd, name, &st));
    for (size_t i = 0; i < 3; i++) {
        snprintf(from, sizeof from, "mapm.db%s", parts[i]);
        snprintf(to, sizeof to, "%s%s", name, parts[i]);
        if (renameat(s->home_fd, from, s->home_fd, to) < 0 && errno != ENOENT)
            return err_errno(e, "set aside the damaged %s", from);
    }
    s->lost = fs_join(s->home, str_cstr(name), &s->arena);
    return true;
}

/* With the lock, no other process opens, creates or renames the file. A full
 * disk or a power cut leaves an empty file, which sqlite would silently treat
 * as a new one. */
static bool open_alone(struct state *s, const struct stat *torn, struct err *e)
{
    struct stat st;
    bool broken = false;

    for (size_t i = 0; i < DB_PARTS; i++)
        if (is_unusable(s, db_parts[i]) &&
            (i ||
             (fs_stat_at(s->home_fd, db_parts[i], &st) && S_ISREG(st.st_mode))))
            fs_repair_at(s->home_fd, db_parts[i], S_IFREG, 0600);
    if (fs_stat_at(s->home_fd, "mapm.db", &st)) {
        broken =
            !S_ISREG(st.st_mode) || is_empty(&st) ||
            (torn && torn->st_ino == st.st_ino && torn->st_dev == st.st_dev);
        if (!broken && open_file(s, &broken, e))
            return true;
        if (!broken)
            return false;
        err_clear(e);
        if (!set_aside(s, e))
            return false;
    }
    return open_file(s, &broken, e);
}

/* Sqlite opens the log by name after mapm.db, and neither may be renamed in
 * between. So opening holds a shared lock of the folder, and renaming an
 * exclusive one. */
static bool lock_names(struct state *s, bool alone, struct err *e)
{
    return fs_lock(s->home_fd, alone, OPEN_WAIT_MS, NULL, NULL, e);
}

static bool open_locked(struct state *s, const struct stat *torn, struct err *e)
{
    bool ok = lock_names(s, true, e) && open_alone(s, torn, e);

    flock(s->home_fd, LOCK_UN);
    return ok;
}

static bool open_shared(struct state *s, bool *broken, struct err *e)
{
    struct stat st;
    bool ok;

    *broken = false;
    if (!lock_names(s, false, e))
        return false;
    *broken = !fs_stat_at(s->home_fd, "mapm.db", &st) || is_empty(&st);
    ok = !*broken && open_file(s, broken, e);
    flock(s->home_fd, LOCK_UN);
    return ok;
}

bool db_open(struct state *s, struct err *e)
{
    bool broken;

    if (s->db)
        return true;
    if (s->db_problem.code != ERR_NONE) {
        *e = s->db_problem;
        return false;
    }
    if (open_shared(s, &broken, e))
        return true;
    if (broken) {
        err_clear(e);
        if (open_locked(s, NULL, e))
            return true;
    }
    s->db_problem = *e;
    return false;
}

bool db_mended(struct state *s, struct err *e)
{
    struct stat torn = s->db_file;

    if (!s->db_torn)
        return false;
    db_close(s);
    err_clear(e);
    if (open_locked(s, &torn, e))
        return true;
    s->db_problem = *e;
    return false;
}

struct state *state_open(struct str home, int home_fd)
{
    struct state *s = heap_alloc(sizeof *s);

    s->patience_ms = STATE_PATIENCE_MS;
    s->home = arena_str(&s->arena, home);
    s->home_fd = home_fd;
    return s;
}

void state_close(struct state *s)
{
    if (!s)
        return;
    db_close(s);
    arena_done(&s->arena);
    heap_free(s);
}

bool state_check(struct state *s, struct err *e)
{
    return db_open(s, e);
}

void state_set_batching(struct state *s, bool batching)
{
    s->batching = batching;
}

void state_refresh(struct state *s)
{
    db_stop_reading(s);
}

void state_load(struct state *s)
{
    struct err kept = {0}; /* in db_problem, which the next query reports */

    if (!db_open(s, &kept))
        err_clear(&kept);
}

bool state_works(const struct state *s, struct err *e)
{
    const struct err *problem =
        s->db_problem.code != ERR_NONE ? &s->db_problem : &s->index_problem;

    if (problem->code == ERR_NONE)
        return true;
    *e = *problem;
    return false;
}

struct str state_lost(const struct state *s)
{
    return s->lost;
}

static bool is_question(enum statement which)
{
    return which == FIND_PACKAGE || which == FIND_BLOB || which == FIND_REF ||
           which == FIND_TREES || which == FIND_REACHABLE ||
           which == FIND_PROOF;
}

/* Keeps one transaction for all queries: an install makes thousands of queries,
 * which would take four locks each, and writes only at its end. Rows that
 * another process adds meanwhile are missed and fetched again. */
static void keep_reading(struct state *s)
{
    if (s->batching && !s->reading)
        s->reading =
            sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK;
}

sqlite3_stmt *db_prepare(struct state *s, enum statement which, struct err *e)
{
    if (!db_open(s, e))
        return NULL;
    if (is_question(which))
        keep_reading(s);
    else if (!s->batching || which >= FIND_TRUST)
        db_stop_reading(s);
    if (!s->statements[which] &&
        sqlite3_prepare_v3(s->db, db_texts[which], -1,
                           SQLITE_PREPARE_PERSISTENT, &s->statements[which],
                           NULL) != SQLITE_OK) {
        db_fail(s, "cannot be used", e);
        return NULL;
    }
    return s->statements[which];
}

void db_bind(sqlite3_stmt *q, const struct db_value *values, int count)
{
    const int most = sqlite3_bind_parameter_count(q);

    for (int i = 0; i < count && i < most; i++) {
        const struct db_value *v = &values[i];
        const char *p = v->text.p ? v->text.p : "";

        if (v->kind == DB_IS_NUMBER)
            sqlite3_bind_int64(q, i + 1, v->number);
        else if (v->kind == DB_IS_TEXT)
            sqlite3_bind_text(q, i + 1, p, (int)v->text.n, SQLITE_STATIC);
        else if (v->kind == DB_IS_BLOB)
            sqlite3_bind_blob(q, i + 1, p, (int)v->text.n, SQLITE_STATIC);
    }
}

sqlite3_stmt *db_ask_values(struct state *s, enum statement which,
                            struct err *e, const struct db_value *values,
                            int count)
{
    sqlite3_stmt *q = db_prepare(s, which, e);

    if (q)
        db_bind(q, values, count);
    return q;
}

bool db_put_values(struct state *s, enum statement which, struct err *e,
                   const struct db_value *values, int count)
{
    sqlite3_stmt *q = db_ask_values(s, which, e, values, count);

    return q && db_step_put(s, q, e);
}

struct str db_column_str(sqlite3_stmt *q, int at, struct arena *a)
{
    const void *bytes = sqlite3_column_blob(q, at);
    int n = sqlite3_column_bytes(q, at);

    return arena_str(a, str_make(bytes ? bytes : "", bytes ? (size_t)n : 0));
}

/* Reading page by page through sqlite's cache would take twice as long. */
bool db_read_blob(struct state *s, const char *table, const char *column,
                  int64_t row, size_t max_bytes, struct arena *a,
                  struct str *out)
{
    sqlite3_blob *blob = NULL;
    bool ok = false;

    sqlite3_exec(s->db, "PRAGMA mmap_size=" BLOB_MAP_BYTES, NULL, NULL, NULL);
    if (sqlite3_blob_open(s->db, "main", table, column, row, 0, &blob) ==
            SQLITE_OK &&
        (size_t)sqlite3_blob_bytes(blob) <= max_bytes) {
        int n = sqlite3_blob_bytes(blob);
        char *p = arena_alloc(a, (size_t)n + 1);

        heap_will_write(p, (size_t)n);
        ok = sqlite3_blob_read(blob, p, n, 0) == SQLITE_OK;
        if (ok)
            *out = str_make(p, (size_t)n);
    }
    sqlite3_blob_close(blob);
    sqlite3_exec(s->db, "PRAGMA mmap_size=0", NULL, NULL, NULL);
    return ok;
}

int64_t db_column_number(sqlite3_stmt *q, int at, int64_t max,
                         int64_t otherwise)
{
    int64_t n = sqlite3_column_int64(q, at);

    return n >= 0 && n <= max ? n : otherwise;
}

bool db_column_hash(sqlite3_stmt *q, int at, struct hash *h)
{
    const void *bytes = sqlite3_column_blob(q, at);

    if (!bytes || sqlite3_column_bytes(q, at) != (int)sizeof h->b)
        return false;
    memcpy(h->b, bytes, sizeof h->b);
    return true;
}

void db_finish(sqlite3_stmt *q)
{
    sqlite3_reset(q);
    sqlite3_clear_bindings(q);
}

void db_finish_at(sqlite3_stmt **q)
{
    if (*q)
        db_finish(*q);
}

sqlite3_stmt *db_first(struct state *s, sqlite3_stmt *q, struct err *e)
{
    int code = q ? sqlite3_step(q) : SQLITE_DONE;

    if (code == SQLITE_ROW)
        return q;
    if (code != SQLITE_DONE)
        db_fail(s, "read", e);
    db_finish_at(&q);
    return NULL;
}

bool db_end_rows(struct state *s, sqlite3_stmt *q, int code, struct err *e)
{
    bool ok = code == SQLITE_DONE || db_fail(s, "read", e);

    db_finish(q);
    return ok;
}

bool db_list(struct state *s, sqlite3_stmt *q, size_t size,
             bool (*read)(sqlite3_stmt *q, struct arena *a, void *out),
             struct arena *a, struct db_rows *out, struct err *e)
{
    size_t n = 0, capacity = 0;
    char *items = NULL;
    int code;

    if (!q)
        return false;
    while ((code = sqlite3_step(q)) == SQLITE_ROW) {
        items = arena_grow(a, items, n, &capacity, size);
        n += read(q, a, items + n * size);
    }
    if (!db_end_rows(s, q, code, e))
        return false;
    *out = (struct db_rows){items, n};
    return true;
}

bool db_is_alone(struct state *s)
{
    return !s->db || s->reading || sqlite3_get_autocommit(s->db);
}

bool db_has_row(struct state *s, sqlite3_stmt *q)
{
    int code = sqlite3_step(q);

    if (code != SQLITE_ROW && code != SQLITE_DONE &&
        s->index_problem.code == ERR_NONE)
        db_fail(s, "cannot be read", &s->index_problem);
    return code == SQLITE_ROW;
}

bool db_step_put(struct state *s, sqlite3_stmt *q, struct err *e)
{
    bool ok = sqlite3_step(q) == SQLITE_DONE || db_fail(s, "write", e);

    db_finish(q);
    return ok;
}
