#include "base/fs.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "database.h"

/*
 * History. A run has a row from its start on, with the start time of its
 * process: when that process is gone, the run was interrupted.
 */

#define PROC_FILE_MAX_BYTES 4096
#define TIME_MAX_MS         (TIME_MAX_SECONDS * 1000)
/* Number of runs deleted at once; until then lists omit them. */
#define HISTORY_FORGET_RUNS 16

/* Returns the start time in clock ticks since boot; "" if there is no such
 * process. It follows the name in parentheses, which may contain any byte. */
static struct str process_start(int64_t pid, struct arena *a)
{
    struct err ignored = {0};
    struct str text, word = STR("");
    char path[64];
    size_t at;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (!fs_read_user_file(path, PROC_FILE_MAX_BYTES, a, &text, &ignored))
        return word;
    at = str_find_last(text, ')');
    text = at == SIZE_MAX ? STR("") : str_from_index(text, at + 2);
    for (int field = 3; field <= 22; field++)
        if (!str_cut(&text, ' ', &word))
            return STR("");
    return word;
}

/* Process ids are valid within one boot and one namespace. */
static struct str boot_and_namespace(struct arena *a)
{
    struct err ignored = {0};
    struct str boot = STR("");
    char space[64] = "";
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space);

    if (fs_read_user_file("/proc/sys/kernel/random/boot_id",
                          PROC_FILE_MAX_BYTES, a, &boot, &ignored))
        boot = str_trim(boot);
    return arena_printf(a, "%.*s %.*s", STR_ARG(boot), (int)(n > 0 ? n : 0),
                        space);
}

static struct str life_of(int64_t pid, struct arena *a)
{
    struct str where = boot_and_namespace(a), start = process_start(pid, a);

    return arena_printf(a, "%.*s %.*s", STR_ARG(where), STR_ARG(start));
}

/* `life` is "boot namespace start". In another namespace (a container that
 * shares the folder) the process cannot be seen, but no run takes longer than
 * the longest limit. */
static bool is_alive(const struct state_run *r, struct str life,
                     struct arena *a)
{
    struct str here, boot, boot_here, space, space_here;

    if (r->started_ms + (int64_t)SECONDS_CEILING * 1000 < state_now_us() / 1000)
        return false;
    here = life_of(r->pid, a);
    if (str_eq(life, here))
        return true;
    if (!str_cut(&life, ' ', &boot) || !str_cut(&here, ' ', &boot_here) ||
        !str_eq(boot, boot_here))
        return false;
    return str_cut(&life, ' ', &space) && str_cut(&here, ' ', &space_here) &&
           !str_eq(space, space_here);
}

static struct state_run make_run(sqlite3_stmt *q, struct arena *a)
{
    struct state_run r = {
        .id = (uint64_t)db_column_number(q, 0, INT64_MAX, 0),
        .name = db_column_str(q, 1, a),
        .digest = db_column_str(q, 2, a),
        .workspace = db_column_str(q, 3, a),
        .started_ms = db_column_number(q, 4, TIME_MAX_MS, 0),
        .took_ms = (uint64_t)db_column_number(q, 5, TIME_MAX_MS, 0),
        .status = db_column_str(q, 6, a),
        .error = db_column_str(q, 7, a),
        .backend = db_column_str(q, 8, a),
        .asks = (unsigned)db_column_number(q, 9, INT_MAX, 0),
        .commands = (unsigned)db_column_number(q, 10, INT_MAX, 0),
        .traces = (unsigned)db_column_number(q, 11, INT_MAX, 0),
        .input_bytes = (uint64_t)db_column_number(q, 12, INT64_MAX, 0),
        .result_bytes = (uint64_t)db_column_number(q, 13, INT64_MAX, 0),
        .pid = db_column_number(q, 14, INT_MAX, 0),
        .detail = STR(""),
    };

    if (r.pid && !is_alive(&r, db_column_str(q, 15, a), a)) {
        r.status = STR("interrupted");
        r.pid = 0;
    }
    return r;
}

static bool forget_up_to(struct state *s, enum statement which, int64_t id,
                         struct err *e)
{
    return db_put(s, which, e, DB_NUMBER(id));
}

/* Reads one number; 0 for NULL. */
static bool query_number(struct state *s, enum statement which,
                         int64_t argument, int64_t *out, struct err *e)
{
    sqlite3_stmt *q = db_ask(s, which, e, DB_NUMBER(argument));
    int code;

    if (!q)
        return false;
    code = sqlite3_step(q);
    if (code == SQLITE_ROW)
        *out = db_column_number(q, 0, INT64_MAX, 0);
    else
        db_fail(s, "read", e);
    db_finish(q);
    return code == SQLITE_ROW;
}

/* Returns false while both files together are small, so that nothing is
 * counted. */
static bool may_be_crowded(const struct state *s)
{
    struct stat db = {0}, log = {0};

    return !fs_stat_at(s->home_fd, "mapm.db", &db) ||
           !fs_stat_at(s->home_fd, "mapm.db-wal", &log) ||
           (uint64_t)(db.st_size + log.st_size) > HISTORY_MAX_BYTES;
}

static bool find_crowded(struct state *s, int64_t *old, struct err *e)
{
    const int64_t room = (int64_t)HISTORY_MAX_BYTES;
    int64_t bytes = 0;

    *old = 0;
    if (!may_be_crowded(s))
        return true;
    return query_number(s, COUNT_DETAILS, 0, &bytes, e) &&
           (bytes <= room || query_number(s, CROWDED_RUNS, room, old, e));
}

/* Deletes the oldest runs, some at a time, because each is on a page that this
 * run does not touch otherwise. Only the oldest are deleted, so numbers have no
 * gaps and the surplus is known without counting. `newest` exists already. */
static bool prune(struct state *s, int64_t newest, struct err *e)
{
    int64_t old = 0;

    if (!find_crowded(s, &old, e))
        return false;
    if (newest > HISTORY_MAX_RUNS && newest % HISTORY_FORGET_RUNS == 0 &&
        old < newest - HISTORY_MAX_RUNS)
        old = newest - HISTORY_MAX_RUNS;
    return old <= 0 || (forget_up_to(s, FORGET_RUNS, old, e) &&
                        forget_up_to(s, FORGET_DETAILS, old, e));
}

static bool insert_run(struct state *s, const struct state_run *r,
                       struct str life, int64_t *id, struct err *e)
{
    if (!db_put(s, BEGIN_RUN, e, DB_BLOB(r->name), DB_BLOB(r->digest),
                DB_BLOB(r->workspace), DB_NUMBER(r->started_ms),
                DB_BLOB(r->backend), DB_NUMBER(r->input_bytes),
                DB_NUMBER(r->pid ? r->pid : getpid()), DB_BLOB(life)))
        return false;
    *id = sqlite3_last_insert_rowid(s->db);
    return true;
}

static bool begin_run(struct state *s, const struct state_run *r, uint64_t *id,
                      struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str life = life_of(r->pid ? r->pid : getpid(), &a);
    int64_t row = 0;

    if (!db_open(s, e) || !db_begin(s, e) ||
        !db_end(s, insert_run(s, r, life, &row, e) && prune(s, row, e), e))
        return false;
    *id = (uint64_t)row;
    return true;
}

bool state_begin_run(struct state *s, const struct state_run *r, uint64_t *id,
                     struct err *e)
{
    return DB_RETRY(s, e, begin_run(s, r, id, e));
}

static bool update_run(struct state *s, const struct state_run *r,
                       struct err *e)
{
    return db_put(s, END_RUN, e, DB_NUMBER(r->id), DB_NUMBER(r->took_ms),
                  DB_BLOB(r->status), DB_BLOB(r->error), DB_BLOB(r->backend),
                  DB_NUMBER(r->asks), DB_NUMBER(r->commands),
                  DB_NUMBER(r->traces), DB_NUMBER(r->input_bytes),
                  DB_NUMBER(r->result_bytes), DB_NUMBER(r->detail.n));
}

static bool put_detail(struct state *s, const struct state_run *r,
                       struct err *e)
{
    return r->detail.n == 0 ||
           db_put(s, PUT_DETAIL, e, DB_NUMBER(r->id), DB_BLOB(r->detail));
}

static bool end_run(struct state *s, const struct state_run *r, struct err *e)
{
    return db_open(s, e) && db_begin(s, e) &&
           db_end(s, update_run(s, r, e) && put_detail(s, r, e), e);
}

bool state_end_run(struct state *s, const struct state_run *r, struct err *e)
{
    if (r->detail.n > HISTORY_MAX_BYTES)
        return err_set(e, ERR_LIMIT,
                       "the details of a run have %zu bytes, the history "
                       "keeps at most %llu",
                       r->detail.n, HISTORY_MAX_BYTES);
    return DB_RETRY(s, e, end_run(s, r, e));
}

static bool read_run(sqlite3_stmt *q, struct arena *a, void *out)
{
    *(struct state_run *)out = make_run(q, a);
    return true;
}

static bool list_runs(struct state *s, struct str workspace, size_t max,
                      struct arena *a, struct state_run **out, size_t *count,
                      struct err *e)
{
    sqlite3_stmt *q =
        db_ask(s, workspace.n ? LIST_RUNS_OF : LIST_RUNS, e,
               DB_NUMBER(max < HISTORY_MAX_RUNS ? max : HISTORY_MAX_RUNS),
               DB_BLOB(workspace));
    struct db_rows rows;

    if (!db_list(s, q, sizeof(struct state_run), read_run, a, &rows, e))
        return false;
    *out = rows.items;
    *count = rows.count;
    return true;
}

bool state_list_runs(struct state *s, struct str workspace, size_t max,
                     struct arena *a, struct state_run **out, size_t *count,
                     struct err *e)
{
    return DB_RETRY(s, e, list_runs(s, workspace, max, a, out, count, e));
}

static bool find_run(struct state *s, uint64_t id, struct arena *a,
                     struct state_run *out, struct err *e)
{
    CLEANUP_ROW sqlite3_stmt *q = db_first(
        s, db_ask(s, FIND_RUN, e, DB_NUMBER(id < INT64_MAX ? (int64_t)id : 0)),
        e);

    if (!q && e->code == ERR_NONE) {
        err_set(e, ERR_NOT_FOUND, "there is no run %llu",
                (unsigned long long)id);
        err_hint(e, "mapm runs lists those there are");
    }
    if (!q)
        return false;
    *out = make_run(q, a);
    out->detail = db_column_str(q, 16, a);
    return true;
}

bool state_find_run(struct state *s, uint64_t id, struct arena *a,
                    struct state_run *out, struct err *e)
{
    return DB_RETRY(s, e, find_run(s, id, a, out, e));
}
