#include "base/fs.h"
#include "base/proc.h"
#include "mapm/state.h"
#include "mapm/state_events.h"
#include "mapm/state_runs.h"
#include "mapm/state_trust.h"
#include "mapm/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"

/* Trust and the history of runs in mapm.db: queries, migrations and damage. */

struct rig {
    char home[64];
    struct store *store;
    struct arena arena;
    struct err err;
};

static void rig_open(struct rig *r)
{
    if (!store_open(str_cstr(r->home), &r->store, &r->err)) {
        printf("Bail out! %s: %s\n", r->home, err_first(&r->err));
        exit(1);
    }
}

static void rig_init(struct rig *r)
{
    *r = (struct rig){0};
    snprintf(r->home, sizeof r->home, "/tmp/mapm-history-test-XXXXXX");
    if (!mkdtemp(r->home)) {
        printf("Bail out! %s\n", r->home);
        exit(1);
    }
    rig_open(r);
}

static void rig_reopen(struct rig *r)
{
    store_close(r->store);
    r->store = NULL;
    rig_open(r);
}

static void rig_done(struct rig *r)
{
    struct err e = {0};

    store_close(r->store);
    arena_done(&r->arena);
    CHECK(fs_remove_tree_at(AT_FDCWD, r->home, &e));
}

static const char *db_path(const struct rig *r)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/mapm.db", r->home);
    return path;
}

static void change(const struct rig *r, const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL;

    CHECK(sqlite3_open(db_path(r), &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, sql, NULL, NULL, &why) == SQLITE_OK);
    if (why)
        printf("# %s\n", why);
    sqlite3_free(why);
    sqlite3_close(db);
}

static int64_t now_ms(void)
{
    return (int64_t)time(NULL) * 1000;
}

static struct hash digest_of(const char *text)
{
    return hash_of(str_cstr(text));
}

static bool is_trusted(struct rig *r, const char *subject, const char *content)
{
    struct hash h = digest_of(content);
    struct str folder;

    err_clear(&r->err);
    return state_find_trust(store_state(r->store), STATE_TRUST_METASKILL,
                            str_cstr(subject), &h, &r->arena, &folder, &r->err);
}

static void trust(struct rig *r, const char *subject, const char *content)
{
    struct hash h = digest_of(content);

    CHECK(state_put_trust(store_state(r->store), STATE_TRUST_METASKILL,
                          str_cstr(subject), &h, STR(""), &r->err));
}

/* Returns the folder for which a workspace is trusted, or "-". */
static struct str trusted_folder(struct rig *r, const char *path)
{
    const struct hash none = {{0}};
    struct str folder;

    err_clear(&r->err);
    return state_find_trust(store_state(r->store), STATE_TRUST_WORKSPACE,
                            str_cstr(path), &none, &r->arena, &folder, &r->err)
               ? folder
               : STR("-");
}

/* [F3] (b) */
TEST(trust_of_a_workspace_is_of_one_folder)
{
    const struct hash none = {{0}};
    struct rig r;

    rig_init(&r);
    CHECK(str_is(trusted_folder(&r, "/w"), "-"));
    CHECK(state_put_trust(store_state(r.store), STATE_TRUST_WORKSPACE,
                          STR("/w"), &none, STR("inode 1"), &r.err));
    CHECK(str_is(trusted_folder(&r, "/w"), "inode 1"));
    CHECK(state_put_trust(store_state(r.store), STATE_TRUST_WORKSPACE,
                          STR("/w"), &none, STR("inode 2"), &r.err));
    rig_reopen(&r);
    CHECK(str_is(trusted_folder(&r, "/w"), "inode 2"));
    CHECK(str_is(trusted_folder(&r, "/v"), "-"));
    rig_done(&r);
}

/* [X27, row 21] Trust is bound to kind, name and content. */
TEST(trust_is_of_one_kind_one_name_and_one_digest)
{
    struct rig r;
    struct hash h = digest_of("one");
    struct str folder;

    rig_init(&r);
    CHECK(!is_trusted(&r, "acme/x", "one") && r.err.code == ERR_NONE);
    trust(&r, "acme/x", "one");
    CHECK(is_trusted(&r, "acme/x", "one"));
    CHECK(!is_trusted(&r, "acme/x", "two"));
    CHECK(!is_trusted(&r, "acme/X", "one"));
    CHECK(!is_trusted(&r, "acme/x ", "one"));
    CHECK(!is_trusted(&r, "x", "one") && !is_trusted(&r, "", "one"));
    CHECK(!state_find_trust(store_state(r.store), STATE_TRUST_POLICY,
                            STR("acme/x"), &h, &r.arena, &folder, &r.err));
    CHECK(r.err.code == ERR_NONE);
    rig_reopen(&r);
    CHECK(is_trusted(&r, "acme/x", "one"));
    CHECK(state_lost(store_state(r.store)).n == 0);
    rig_done(&r);
}

TEST(trust_is_listed_newest_first_and_forgotten_by_subject)
{
    static const char *const rows[][2] = {
        {"b/x", "1"}, {"a/x", "1"}, {"b/x", "2"}, {"b/x", "1"}, {"b/x", "3"}};
    struct rig r;
    struct state_trust *list;
    struct hash none = {{0}}, want = digest_of("3");
    size_t count;

    rig_init(&r);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        trust(&r, rows[i][0], rows[i][1]);
        usleep(2000); /* its time has milliseconds */
    }
    CHECK(state_put_trust(store_state(r.store), STATE_TRUST_WORKSPACE,
                          STR("/w\xff o"), &none, STR("inode 1"), &r.err));
    CHECK(state_list_trust(store_state(r.store), &r.arena, &list, &count,
                           &r.err));
    CHECK(count == 5);
    if (count == 5) {
        CHECK(str_is(list[0].subject, "a/x") && str_is(list[1].subject, "b/x"));
        CHECK(hash_eq(&list[1].digest, &want));
        want = digest_of("1");
        CHECK(hash_eq(&list[3].digest, &want));
        CHECK(list[4].kind == STATE_TRUST_WORKSPACE);
        CHECK(str_is(list[4].subject, "/w\xff o"));
        CHECK(list[0].since_s >= time(NULL) - 60 &&
              list[0].since_s <= time(NULL) + 1);
    }
    CHECK(state_forget_trust(store_state(r.store), STATE_TRUST_METASKILL,
                             STR("b/x"), &count, &r.err));
    CHECK(count == 3);
    CHECK(state_forget_trust(store_state(r.store), STATE_TRUST_METASKILL,
                             STR("b/x"), &count, &r.err));
    CHECK(count == 0);
    CHECK(!is_trusted(&r, "b/x", "3") && is_trusted(&r, "a/x", "1"));
    rig_done(&r);
}

/* An install that stages fetched objects, or reads in one transaction. */
TEST(trust_is_written_at_once_while_the_store_holds)
{
    struct rig r;
    struct store *other = NULL;
    struct state_ref ref;

    rig_init(&r);
    store_begin_staging(r.store);
    CHECK(!state_find_ref(store_state(r.store), STR("o/r"), STR("x"), &r.arena,
                          &ref));
    trust(&r, "a/x", "1");
    CHECK(store_open(str_cstr(r.home), &other, &r.err));
    store_close(r.store);
    r.store = other;
    CHECK(is_trusted(&r, "a/x", "1"));
    rig_done(&r);
}

static struct state_run a_run(const char *name, const char *workspace)
{
    return (struct state_run){
        .name = str_cstr(name),
        .digest = STR("sha256:ab"),
        .workspace = str_cstr(workspace),
        .started_ms = now_ms(),
        .input_bytes = 2,
    };
}

static uint64_t begin(struct rig *r, const struct state_run *run)
{
    uint64_t id = 0;

    CHECK(state_begin_run(store_state(r->store), run, &id, &r->err));
    return id;
}

static void end(struct rig *r, uint64_t id, struct str detail)
{
    struct state_run run = {.id = id,
                            .took_ms = 7,
                            .status = STR("ok"),
                            .backend = STR("claude"),
                            .asks = 1,
                            .commands = 2,
                            .traces = 3,
                            .result_bytes = 4,
                            .detail = detail};

    CHECK(state_end_run(store_state(r->store), &run, &r->err));
}

TEST(a_run_is_a_row_from_its_start_on)
{
    struct rig r;
    struct state_run run = a_run("a/x", "/w"), got = {0};
    uint64_t id;

    rig_init(&r);
    id = begin(&r, &run);
    CHECK(id == 1);
    CHECK(state_find_run(store_state(r.store), id, &r.arena, &got, &r.err));
    CHECK(str_is(got.status, "running") && got.pid == getpid());
    CHECK(str_is(got.name, "a/x") && str_is(got.digest, "sha256:ab"));
    end(&r, id, STR("{\"steps\":[\"\0\xff\"]}"));
    rig_reopen(&r);
    CHECK(state_find_run(store_state(r.store), id, &r.arena, &got, &r.err));
    CHECK(str_is(got.status, "ok") && got.pid == 0 && got.took_ms == 7);
    CHECK(got.asks == 1 && got.commands == 2 && got.traces == 3);
    CHECK(got.input_bytes == 0 && got.result_bytes == 4);
    CHECK(str_is(got.backend, "claude") && got.error.n == 0);
    CHECK(str_eq(got.detail, STR("{\"steps\":[\"\0\xff\"]}")));
    end(&r, begin(&r, &run), STR("0")); /* the shortest texts */
    CHECK(state_find_run(store_state(r.store), 2, &r.arena, &got, &r.err));
    CHECK(str_is(got.detail, "0"));
    CHECK(!state_find_run(store_state(r.store), 3, &r.arena, &got, &r.err));
    CHECK(r.err.code == ERR_NOT_FOUND);
    CHECK(!state_find_run(store_state(r.store), UINT64_MAX, &r.arena, &got,
                          &r.err));
    CHECK(r.err.code == ERR_NOT_FOUND);
    rig_done(&r);
}

TEST(runs_are_listed_newest_first_of_one_workspace_or_all)
{
    struct rig r;
    struct state_run *list;
    size_t count;

    rig_init(&r);
    for (int i = 0; i < 6; i++) {
        struct state_run run = a_run("x", i % 2 ? "/odd" : "/even");

        CHECK(begin(&r, &run) == (uint64_t)i + 1);
    }
    CHECK(state_list_runs(store_state(r.store), STR(""), 4, &r.arena, &list,
                          &count, &r.err));
    CHECK(count == 4 && list[0].id == 6 && list[3].id == 3);
    CHECK(state_list_runs(store_state(r.store), STR("/odd"), SIZE_MAX, &r.arena,
                          &list, &count, &r.err));
    CHECK(count == 3 && list[0].id == 6 && list[2].id == 2);
    CHECK(state_list_runs(store_state(r.store), STR("/od"), 9, &r.arena, &list,
                          &count, &r.err));
    CHECK(count == 0);
    rig_done(&r);
}

static struct str status_of(struct rig *r, uint64_t id)
{
    struct state_run got = {.status = STR("none")};

    CHECK(state_find_run(store_state(r->store), id, &r->arena, &got, &r->err));
    return got.status;
}

/* A process that has ended, or whose id another process has now. */
TEST(a_run_whose_process_is_gone_was_interrupted)
{
    struct rig r;
    struct state_run run = a_run("x", "/w"), *list;
    uint64_t id, mine;
    struct str boot;
    size_t count;
    pid_t pid;
    int state;

    rig_init(&r);
    mine = begin(&r, &run);
    pid = fork();
    if (pid == 0) {
        struct store *s = NULL;
        struct err e = {0};

        if (store_open(str_cstr(r.home), &s, &e) &&
            state_begin_run(store_state(s), &run, &id, &e))
            raise(SIGKILL);
        _exit(1);
    }
    CHECK(waitpid(pid, &state, 0) == pid && WIFSIGNALED(state));
    CHECK(str_is(status_of(&r, mine), "running"));
    CHECK(str_is(status_of(&r, 2), "interrupted"));
    /* [F2] In /proc/PID/stat the name precedes the start time, and may contain
     * any character. */
    prctl(PR_SET_NAME, "x) R 1 (y");
    CHECK(str_is(status_of(&r, mine), "running"));
    prctl(PR_SET_NAME, "history_test");
    CHECK(state_list_runs(store_state(r.store), STR(""), 9, &r.arena, &list,
                          &count, &r.err));
    CHECK(count == 2 && str_is(list[0].status, "interrupted"));
    CHECK(list[0].pid == 0 && list[1].pid == getpid());
    /* the same process id with another start time */
    change(&r, "UPDATE runs SET life = CAST(life AS TEXT) || '1' WHERE id=1");
    CHECK(str_is(status_of(&r, mine), "interrupted"));
    end(&r, mine, STR(""));
    CHECK(str_is(status_of(&r, mine), "ok"));
    /* Processes of another namespace are unknown, but no run takes that
     * long. */
    mine = begin(&r, &run);
    change(&r, "UPDATE runs SET life = replace(CAST(life AS TEXT), 'pid:',"
               " 'pid:9') WHERE id=3");
    CHECK(str_is(status_of(&r, mine), "running"));
    change(&r, "UPDATE runs SET started_ms = started_ms - 86401000"
               " WHERE id=3");
    CHECK(str_is(status_of(&r, mine), "interrupted"));
    /* [F2] No process of another boot is left, in any namespace. */
    mine = begin(&r, &run);
    CHECK(fs_read_user_file("/proc/sys/kernel/random/boot_id", 100, &r.arena,
                            &boot, &r.err));
    change(&r, str_dup0(arena_printf(&r.arena,
                                     "UPDATE runs SET life = replace(replace("
                                     "CAST(life AS TEXT), '%.*s', 'another'),"
                                     " 'pid:', 'pid:9') WHERE id=4",
                                     STR_ARG(str_trim(boot))),
                        &r.arena));
    CHECK(str_is(status_of(&r, mine), "interrupted"));
    rig_done(&r);
}

TEST(only_the_newest_runs_are_kept)
{
    struct rig r;
    struct state_run run = a_run("x", "/w"), *list;
    size_t count;

    rig_init(&r);
    CHECK(store_begin(r.store, &r.err) && store_commit(r.store, &r.err));
    change(&r, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n"
               " WHERE i<999) INSERT INTO runs SELECT i, 'x', '', '/w', 1, 1,"
               " 'ok', '', '', 0, 0, 0, 0, 0, 0, '', 4 FROM n;"
               "INSERT INTO details SELECT id, 'text' FROM runs");
    CHECK(begin(&r, &run) == 1000);
    CHECK(state_list_runs(store_state(r.store), STR(""), 9999, &r.arena, &list,
                          &count, &r.err));
    CHECK(count == HISTORY_MAX_RUNS && list[count - 1].id == 1);
    CHECK(begin(&r, &run) == 1001);
    CHECK(state_list_runs(store_state(r.store), STR(""), 9999, &r.arena, &list,
                          &count, &r.err));
    CHECK(count == HISTORY_MAX_RUNS && list[count - 1].id == 2);
    /* removed in batches */
    change(&r, "CREATE TEMP TABLE t(n CHECK(n = 1001)); INSERT INTO t SELECT"
               " count(*) FROM runs");
    for (uint64_t id = 1002; id <= 1008; id++)
        CHECK(begin(&r, &run) == id);
    CHECK(state_find_run(store_state(r.store), 9, &r.arena, &run, &r.err));
    CHECK(!state_find_run(store_state(r.store), 8, &r.arena, &run, &r.err));
    end(&r, 1, STR("nobody's")); /* removed meanwhile, which is harmless */
    change(&r, "CREATE TEMP TABLE t(n CHECK(n = 991)); INSERT INTO t SELECT"
               " count(*) FROM details; CREATE TEMP TABLE u(n CHECK(n = 1000));"
               " INSERT INTO u SELECT count(*) FROM runs");
    rig_done(&r);
}

TEST(only_so_much_detail_is_kept)
{
    struct rig r;
    struct state_run run = a_run("x", "/w"), *list;
    size_t big = HISTORY_MAX_BYTES / 2, count;
    char *text = malloc(HISTORY_MAX_BYTES + 1);

    rig_init(&r);
    memset(text, 'd', HISTORY_MAX_BYTES + 1);
    for (int i = 0; i < 2; i++)
        end(&r, begin(&r, &run), str_make(text, big));
    CHECK(begin(&r, &run) == 3); /* just full */
    CHECK(state_list_runs(store_state(r.store), STR(""), 9, &r.arena, &list,
                          &count, &r.err));
    CHECK(count == 3);
    end(&r, 3, STR("1"));
    CHECK(begin(&r, &run) == 4);
    CHECK(state_list_runs(store_state(r.store), STR(""), 9, &r.arena, &list,
                          &count, &r.err));
    CHECK(count == 3 && list[2].id == 2);
    run.id = 4;
    run.detail = str_make(text, HISTORY_MAX_BYTES + 1);
    CHECK(!state_end_run(store_state(r.store), &run, &r.err));
    CHECK(r.err.code == ERR_LIMIT);
    free(text);
    rig_done(&r);
}

/* mapm.db as earlier versions wrote it. */
static const char version_1[] =
    "PRAGMA journal_mode=WAL;"
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
    "CREATE TABLE workspaces(path BLOB PRIMARY KEY) WITHOUT ROWID;"
    "INSERT INTO refs VALUES('o/r', 'main', 'main', 'c0ffee', 'skills/x');"
    "INSERT INTO workspaces VALUES(CAST('/w' AS BLOB));"
    "PRAGMA application_id=1835102317;"
    "PRAGMA user_version=1;";

/* Additions of version 2. */
static const char version_2[] =
    "CREATE TABLE trust(kind INTEGER, subject BLOB, digest BLOB,"
    " since_ms INTEGER NOT NULL, PRIMARY KEY(kind, subject, digest))"
    " WITHOUT ROWID;"
    "CREATE TABLE runs(id INTEGER PRIMARY KEY, name BLOB NOT NULL,"
    " digest BLOB NOT NULL, workspace BLOB NOT NULL,"
    " started_ms INTEGER NOT NULL, took_ms INTEGER NOT NULL,"
    " status BLOB NOT NULL, error BLOB NOT NULL, asker BLOB NOT NULL,"
    " asks INTEGER NOT NULL, commands INTEGER NOT NULL,"
    " traces INTEGER NOT NULL, input_bytes INTEGER NOT NULL,"
    " result_bytes INTEGER NOT NULL, pid INTEGER NOT NULL,"
    " life BLOB NOT NULL, detail_bytes INTEGER NOT NULL);"
    "CREATE TABLE details(id INTEGER PRIMARY KEY, detail BLOB NOT NULL);"
    "INSERT INTO runs VALUES(7, 'a/x', '', '/w', 5, 6, 'fine', '', '', 1, 2, 3,"
    " 4, 5, 0, '', 3);"
    "INSERT INTO details VALUES(7, '{}\n');"
    "INSERT INTO trust VALUES(0, CAST('a/y' AS BLOB), zeroblob(32), 9);"
    "INSERT INTO trust VALUES(2, CAST('/w' AS BLOB), zeroblob(32), 9);"
    "PRAGMA user_version=2;";

/* [F3] (b) Trust without a recorded folder is not valid for any folder; its row
 * stays, so that the next question can give the reason. */
TEST(version_2_becomes_this_one)
{
    const struct hash none = {{0}};
    struct state_event v = {.session_id = STR("s"),
                            .type = STR("x"),
                            .actor = STR("user"),
                            .sensitivity = STR("private"),
                            .payload = STR("{}")};
    struct state_run run = {0};
    struct str folder;
    struct rig r;

    rig_init(&r);
    change(&r, version_1);
    change(&r, version_2);
    CHECK(state_find_run(store_state(r.store), 7, &r.arena, &run, &r.err));
    CHECK(str_is(run.status, "fine") && str_is(run.detail, "{}\n"));
    CHECK(state_put_event(store_state(r.store), &v, &r.err));
    CHECK_STR(err_first(&r.err), "");
    CHECK(state_find_trust(store_state(r.store), STATE_TRUST_METASKILL,
                           STR("a/y"), &none, &r.arena, &folder, &r.err));
    CHECK(str_is(trusted_folder(&r, "/w"), ""));
    rig_done(&r);
}

/* [row 26] Existing rows stay; a newer database is refused with a message. */
TEST(version_1_becomes_this_one_and_a_newer_one_is_refused)
{
    struct rig r;
    struct state_ref ref = {0};
    struct str *paths;
    size_t count;

    rig_init(&r);
    change(&r, version_1);
    CHECK(!is_trusted(&r, "a/x", "1") && r.err.code == ERR_NONE);
    trust(&r, "a/x", "1");
    CHECK(state_find_ref(store_state(r.store), STR("o/r"), STR("main"),
                         &r.arena, &ref));
    CHECK(str_is(ref.commit, "c0ffee"));
    CHECK(state_list_workspaces(store_state(r.store), &r.arena, &paths, &count,
                                &r.err));
    CHECK(count == 1 && state_lost(store_state(r.store)).n == 0);
    rig_reopen(&r);
    CHECK(is_trusted(&r, "a/x", "1"));
    store_close(r.store);
    r.store = NULL;
    change(&r, "PRAGMA user_version=999");
    rig_open(&r);
    CHECK(!is_trusted(&r, "a/x", "1") && r.err.code == ERR_REFUSED);
    CHECK_STR(err_first(&r.err),
              "mapm.db is of version 999, this mapm knows 7");
    CHECK(state_lost(store_state(r.store)).n == 0);
    rig_done(&r);
}

/* A failed migration changes nothing, because it is one transaction. */
TEST(a_migration_is_all_or_nothing)
{
    struct rig r;

    rig_init(&r);
    change(&r, version_1);
    change(&r, "CREATE TABLE details(already)");
    CHECK(!is_trusted(&r, "a/x", "1") && r.err.code == ERR_IO);
    store_close(r.store);
    r.store = NULL;
    change(&r, "DROP TABLE details; CREATE TEMP TABLE t(n CHECK(n = 0));"
               "INSERT INTO t SELECT count(*) FROM sqlite_schema WHERE name IN"
               " ('trust', 'runs')");
    rig_open(&r);
    trust(&r, "a/x", "1");
    CHECK(is_trusted(&r, "a/x", "1"));
    rig_done(&r);
}

static void overwrite(const struct rig *r, off_t from, size_t bytes)
{
    char garbage[4096];
    int fd = open(db_path(r), O_WRONLY);

    memset(garbage, 0xa5, sizeof garbage);
    CHECK(fd >= 0);
    for (size_t done = 0; done < bytes; done += sizeof garbage)
        CHECK(pwrite(fd, garbage, sizeof garbage, from + (off_t)done) ==
              (ssize_t)sizeof garbage);
    close(fd);
}

/* Merges the log into mapm.db, so that the test can damage it. */
static void settle(struct rig *r)
{
    store_close(r->store);
    r->store = NULL;
    change(r, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE;"
              "PRAGMA journal_mode=WAL");
}

/* [row 26] A damaged database is set aside unchanged and reported; no row is
 * guessed. */
TEST(a_damaged_database_is_set_aside_and_that_is_said)
{
    /* Offsets of the damage: the start; after the first page, which only a
     * query detects; and a file that is empty. */
    static const off_t damage[] = {0, 4096, -1, 4096};

    for (size_t i = 0; i < 4; i++) {
        struct rig r;
        struct state_run run = a_run("x", "/w");
        struct state_trust *trusted = NULL;
        size_t count = 99;
        struct stat st;
        struct str lost;

        rig_init(&r);
        trust(&r, "a/x", "1");
        begin(&r, &run);
        settle(&r);
        CHECK(stat(db_path(&r), &st) == 0 && st.st_size > 8192);
        if (damage[i] < 0)
            CHECK(truncate(db_path(&r), 0) == 0);
        else
            overwrite(&r, damage[i], (size_t)(st.st_size - damage[i]));
        rig_open(&r);
        if (i == 3) /* [F2] A list may be the first query. */
            CHECK(state_list_trust(store_state(r.store), &r.arena, &trusted,
                                   &count, &r.err) &&
                  count == 0);
        CHECK(!is_trusted(&r, "a/x", "1") && r.err.code == ERR_NONE);
        lost = state_lost(store_state(r.store));
        CHECK(str_starts(lost, str_cstr(db_path(&r))));
        CHECK(str_find(lost, STR(".damaged-")) != SIZE_MAX);
        CHECK(lost.n && stat(lost.p, &st) == 0);
        trust(&r, "a/x", "2");
        CHECK(begin(&r, &run) == 1);
        rig_reopen(&r);
        CHECK(is_trusted(&r, "a/x", "2"));
        CHECK(state_lost(store_state(r.store)).n == 0); /* said once */
        rig_done(&r);
    }
}

TEST(a_foreign_database_is_set_aside_as_it_is)
{
    struct rig r;
    struct stat st;
    struct str lost;

    rig_init(&r);
    change(&r, "CREATE TABLE somebody(elses)");
    CHECK(!is_trusted(&r, "a/x", "1") && r.err.code == ERR_NONE);
    lost = state_lost(store_state(r.store));
    CHECK(lost.n && stat(lost.p, &st) == 0 && st.st_size > 0);
    rig_done(&r);
}

/* [row 26, F3] (d) A link is set aside itself, never its target. */
TEST(what_is_no_regular_file_is_no_database)
{
    struct rig r;
    struct stat st;

    rig_init(&r);
    CHECK(mkfifo(db_path(&r), 0600) == 0);
    CHECK(!is_trusted(&r, "a/x", "1") && r.err.code == ERR_NONE);
    CHECK(lstat(state_lost(store_state(r.store)).p, &st) == 0 &&
          S_ISFIFO(st.st_mode));
    rig_reopen(&r);
    CHECK(unlink(db_path(&r)) == 0 && symlink("/dev/null", db_path(&r)) == 0);
    CHECK(!is_trusted(&r, "a/x", "1") && r.err.code == ERR_NONE);
    CHECK(lstat(state_lost(store_state(r.store)).p, &st) == 0 &&
          S_ISLNK(st.st_mode));
    CHECK(lstat(db_path(&r), &st) == 0 && S_ISREG(st.st_mode));
    rig_done(&r);
}

/* [F3] Trust survives the loss of a log. */
TEST(what_stands_beside_the_database_costs_it_nothing)
{
    static const char *const beside[] = {"-wal", "-shm"};

    for (size_t i = 0; i < 2; i++) {
        char path[160];
        struct rig r;

        rig_init(&r);
        trust(&r, "a/x", "1");
        change(&r, "PRAGMA wal_checkpoint(TRUNCATE)");
        store_close(r.store);
        snprintf(path, sizeof path, "%s%s", db_path(&r), beside[i]);
        CHECK(unlink(path) == 0 || access(path, F_OK) < 0);
        CHECK(mkfifo(path, 0600) == 0);
        CHECK(store_open(str_cstr(r.home), &r.store, &r.err));
        CHECK(is_trusted(&r, "a/x", "1") && r.err.code == ERR_NONE);
        CHECK(state_lost(store_state(r.store)).n == 0);
        rig_done(&r);
    }
}

TEST(a_database_without_rights_gets_them_back)
{
    struct rig r;
    struct stat st;

    rig_init(&r);
    trust(&r, "a/x", "1");
    store_close(r.store);
    CHECK(chmod(db_path(&r), 0) == 0);
    CHECK(store_open(str_cstr(r.home), &r.store, &r.err));
    CHECK(is_trusted(&r, "a/x", "1") && r.err.code == ERR_NONE);
    CHECK(state_lost(store_state(r.store)).n == 0);
    CHECK(stat(db_path(&r), &st) == 0 && (st.st_mode & 0777) == 0600);
    rig_done(&r);
}

/* Sets each number that is read from any table to `n`. */
static void spoil(const struct rig *r, const char *n)
{
    char sql[2048];

    snprintf(
        sql, sizeof sql,
        "DELETE FROM runs; DELETE FROM events; DELETE FROM trust;"
        "DELETE FROM packages; DELETE FROM blobs;"
        "INSERT INTO runs VALUES(%s, 'a/x', '', '/w', %s, %s, 'fine', '', '',"
        " %s, %s, %s, %s, %s, %s, '', %s);"
        "INSERT INTO runs VALUES(NULL, 'a/x', '', '/w', %s, %s, 'fine', '', '',"
        " %s, %s, %s, %s, %s, %s, '', %s);"
        "INSERT INTO events(rowid, id, timestamp_us, session_id, type, actor,"
        " sensitivity, payload_json) VALUES(%s, 'i', %s, 's', 't', 'user',"
        " 'private', '{}');"
        "INSERT INTO trust VALUES(%s, 'a/x', zeroblob(32), %s, x'');"
        "INSERT INTO packages VALUES('r', 'c', 'p', %s, 'o', zeroblob(32), '');"
        "INSERT INTO blobs VALUES('o', zeroblob(32), %s);",
        n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n,
        n);
    change(r, sql);
}

static void check_run(const struct state_run *run)
{
    CHECK(run->id <= INT64_MAX && run->asks <= INT32_MAX);
    CHECK(run->commands <= INT32_MAX && run->traces <= INT32_MAX);
    CHECK(run->started_ms >= 0 && run->pid >= 0 && run->pid <= INT32_MAX);
    CHECK(run->started_ms / 1000 <= TIME_MAX_SECONDS);
    CHECK(run->took_ms / 1000 <= (uint64_t)TIME_MAX_SECONDS);
    CHECK(run->input_bytes <= INT64_MAX && run->result_bytes <= INT64_MAX);
}

/* Checks a row with negative numbers, which no version writes. */
static void check_zeros(const struct state_run *run)
{
    CHECK(!run->started_ms && !run->took_ms && !run->pid);
    CHECK(run->asks == 0 && run->commands == 0 && run->traces == 0);
    CHECK(run->input_bytes == 0 && run->result_bytes == 0);
    CHECK(str_is(run->status, "fine"));
}

/* [F3] (k) A damaged mapm.db may contain any number. */
TEST(every_number_is_in_its_range)
{
    static const char *const numbers[] = {"9223372036854775807",
                                          "-9223372036854775807-1",
                                          "-1",
                                          "0",
                                          "9223372036854775000",
                                          "9223372036854775807/2",
                                          "-9223372036854775000",
                                          "4294967296",
                                          "2147483648",
                                          "253402300800000"};
    struct state_event_query all = {.max = 99};
    struct state_event_query after = {
        .max = 99, .follow = true, .after = INT64_MAX};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct rig r;
        struct state_run *runs, run = a_run("a/y", "/w");
        struct state_event *events;
        struct state_trust *trusted;
        struct state_package p;
        size_t count;

        rig_init(&r);
        trust(&r, "a/x", "1");
        spoil(&r, numbers[i]);
        CHECK(state_list_runs(store_state(r.store), STR(""), 99, &r.arena,
                              &runs, &count, &r.err));
        for (size_t k = 0; k < count; k++) {
            check_run(&runs[k]);
            if (numbers[i][0] == '-')
                check_zeros(&runs[k]);
        }
        CHECK(state_list_events(store_state(r.store), &all, &r.arena, &events,
                                &count, &r.err));
        for (size_t k = 0; k < count; k++)
            CHECK(events[k].row >= 0 && events[k].timestamp_us >= 0 &&
                  events[k].timestamp_us / 1000000 <= TIME_MAX_SECONDS &&
                  (numbers[i][0] != '-' ||
                   (events[k].row == 0 && events[k].timestamp_us == 0)));
        CHECK(state_list_events(store_state(r.store), &after, &r.arena, &events,
                                &count, &r.err));
        CHECK(state_list_trust(store_state(r.store), &r.arena, &trusted, &count,
                               &r.err));
        for (size_t k = 0; k < count; k++)
            CHECK(trusted[k].kind <= STATE_TRUST_WORKSPACE &&
                  trusted[k].since_s >= 0 &&
                  trusted[k].since_s <= TIME_MAX_SECONDS);
        if (state_find_package(store_state(r.store), STR("r"), STR("c"),
                               STR("p"), &r.arena, &p))
            CHECK(p.kind <= 255);
        /* and the next write succeeds */
        CHECK(state_begin_run(store_state(r.store), &run, &run.id, &r.err));
        CHECK(state_end_run(store_state(r.store), &run, &r.err));
        CHECK_STR(err_first(&r.err), "");
        rig_done(&r);
    }
}

/* Runs `count` children at once, passes each its index, and CHECKs their exit
 * codes. */
static void together(int count, int (*work)(struct rig *r, int number),
                     struct rig *r)
{
    pid_t pids[16];

    for (int i = 0; i < count; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            _exit(work(r, i));
    }
    for (int i = 0; i < count; i++) {
        int state = -1;

        CHECK(waitpid(pids[i], &state, 0) == pids[i]);
        CHECK(state == 0);
    }
}

static int write_much(struct rig *r, int number)
{
    struct state_run run = a_run("x", "/w");
    char subject[32];

    for (int i = 0; i < 10; i++) {
        struct store *s = NULL;
        struct hash h = digest_of("1");
        struct err e = {0};

        snprintf(subject, sizeof subject, "a/x-%d-%d", number, i);
        if (!store_open(str_cstr(r->home), &s, &e) ||
            !state_put_trust(store_state(s), STATE_TRUST_METASKILL,
                             str_cstr(subject), &h, STR(""), &e) ||
            !state_begin_run(store_state(s), &run, &run.id, &e) ||
            !state_end_run(store_state(s), &run, &e) ||
            state_lost(store_state(s)).n) {
            printf("# %d: %s\n", number, err_first(&e));
            return 1;
        }
        store_close(s);
    }
    return 0;
}

/* [row 28] */
TEST(two_processes_write_at_once_and_nothing_is_lost)
{
    struct rig r;
    struct state_trust *list;
    struct state_run *runs;
    size_t count;

    rig_init(&r); /* No process has created mapm.db yet: all create it at the
                   * same time. */
    together(4, write_much, &r);
    CHECK(state_list_trust(store_state(r.store), &r.arena, &list, &count,
                           &r.err));
    CHECK(count == 40);
    CHECK(state_list_runs(store_state(r.store), STR(""), 99, &r.arena, &runs,
                          &count, &r.err));
    CHECK(count == 40 && runs[0].id == 40);
    rig_done(&r);
}

static int find_damage(struct rig *r, int number)
{
    struct store *s = NULL;
    struct hash h = digest_of("1");
    char subject[32];
    struct err e = {0};

    snprintf(subject, sizeof subject, "a/x-%d", number);
    if (!store_open(str_cstr(r->home), &s, &e) ||
        !state_put_trust(store_state(s), STATE_TRUST_METASKILL,
                         str_cstr(subject), &h, STR(""), &e)) {
        printf("# %d: %s\n", number, err_first(&e));
        return 1;
    }
    store_close(s);
    return 0;
}

static size_t count_damaged(struct rig *r)
{
    struct fs_entry *entries;
    size_t count, n = 0;

    CHECK(fs_list_at(AT_FDCWD, r->home, 100, &r->arena, &entries, &count,
                     &r->err));
    for (size_t i = 0; i < count; i++)
        n += str_starts(entries[i].name, STR("mapm.db.damaged-")) &&
             !str_ends(entries[i].name, STR("-wal")) &&
             !str_ends(entries[i].name, STR("-shm"));
    return n;
}

/* [row 26, row 28] The new database of the first process is not set aside by
 * the second one. */
TEST(damage_that_several_find_is_set_aside_once)
{
    static const off_t damage[] = {0, 4096};

    for (size_t i = 0; i < 2; i++) {
        struct rig r;
        struct state_trust *list;
        struct stat st;
        size_t count;

        rig_init(&r);
        trust(&r, "a/x", "1");
        settle(&r);
        CHECK(stat(db_path(&r), &st) == 0);
        overwrite(&r, damage[i], (size_t)(st.st_size - damage[i]));
        together(6, find_damage, &r);
        rig_open(&r);
        CHECK(state_list_trust(store_state(r.store), &r.arena, &list, &count,
                               &r.err));
        CHECK(count == 6 && state_lost(store_state(r.store)).n == 0);
        CHECK(count_damaged(&r) == 1);
        rig_done(&r);
    }
}

/* [row 27] A killed process loses no row whose write was confirmed. */
TEST(what_a_killed_process_wrote_is_there)
{
    struct rig r;
    struct state_run *list;
    size_t count;
    pid_t pid;
    int state;

    rig_init(&r);
    pid = fork();
    if (pid == 0) {
        struct state_run run = a_run("x", "/w");

        trust(&r, "a/x", "1");
        end(&r, begin(&r, &run), STR("{}"));
        CHECK(store_begin(r.store, &r.err)); /* This transaction is never
                                              * committed. */
        raise(SIGKILL);
    }
    CHECK(waitpid(pid, &state, 0) == pid && WIFSIGNALED(state));
    CHECK(is_trusted(&r, "a/x", "1"));
    CHECK(state_list_runs(store_state(r.store), STR(""), 9, &r.arena, &list,
                          &count, &r.err));
    CHECK(count == 1 && str_is(list[0].status, "ok"));
    CHECK(state_lost(store_state(r.store)).n == 0);
    rig_done(&r);
}

/* The log that the next process reads is bounded. */
TEST(the_log_stays_short)
{
    struct rig r;
    struct state_run run = a_run("x", "/w");
    char path[128];
    struct stat st;

    rig_init(&r);
    for (int i = 0; i < 150; i++) {
        end(&r, begin(&r, &run), STR("{\"steps\":[]}"));
        rig_reopen(&r);
    }
    snprintf(path, sizeof path, "%s/mapm.db-wal", r.home);
    CHECK(stat(path, &st) < 0 || st.st_size < 260 * 4200);
    rig_done(&r);
}
