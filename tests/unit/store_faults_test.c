#include "base/fs.h"
#include "mapm/state.h"
#include "mapm/state_events.h"
#include "mapm/state_index.h"
#include "mapm/state_runs.h"
#include "mapm/state_trust.h"
#include "mapm/store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"

/* [F2] Each system call of a command fails in turn: the store has done what it
 * reports, and reports an error otherwise. */

static int calls_left = -1; /* number of calls before the one that fails; -1:
                             * none fails */

static bool fails(void)
{
    if (calls_left < 0 || calls_left-- > 0)
        return false;
    errno = EIO;
    return true;
}

#define CALL(type, name, parameters, ...)                                      \
    type name parameters;                                                      \
    type name parameters                                                       \
    {                                                                          \
        return fails() ? -1 : (type)syscall(__VA_ARGS__);                      \
    }

CALL(int, linkat,
     (int from, const char *old, int to, const char *new, int flags),
     SYS_linkat, from, old, to, new, flags)
CALL(int, fchmod, (int fd, mode_t mode), SYS_fchmod, fd, mode)
CALL(int, ftruncate64, (int fd, off_t size), SYS_ftruncate, fd, size)
CALL(ssize_t, write, (int fd, const void *p, size_t n), SYS_write, fd, p, n)
CALL(ssize_t, pwrite64, (int fd, const void *p, size_t n, off_t at),
     SYS_pwrite64, fd, p, n, at)
CALL(ssize_t, read, (int fd, void *p, size_t n), SYS_read, fd, p, n)
CALL(ssize_t, pread, (int fd, void *p, size_t n, off_t at), SYS_pread64, fd, p,
     n, at)

int openat(int fd, const char *path, int flags, ...)
{
    va_list ap;
    int mode;

    va_start(ap, flags);
    mode = va_arg(ap, int);
    va_end(ap);
    return fails() ? -1 : (int)syscall(SYS_openat, fd, path, flags, mode);
}

static bool others_are_first; /* a folder is created just before mkdir */

int mkdirat(int fd, const char *path, mode_t mode)
{
    int result = fails() ? -1 : (int)syscall(SYS_mkdirat, fd, path, mode);

    if (result < 0 || !others_are_first)
        return result;
    errno = EEXIST;
    return -1;
}

/* [F2] A merged pack is on the disk before those that it replaces are removed. */
static bool pack_is_new, removed_too_early;

static bool is_pack(const char *name)
{
    return str_ends(str_cstr(name), STR(".pack"));
}

int renameat(int from, const char *old, int to, const char *new)
{
    if (fails())
        return -1;
    pack_is_new |= is_pack(new);
    return (int)syscall(SYS_renameat, from, old, to, new);
}

static bool database_synced, log_synced;

/* Without syncs, which no test can observe and which take long. */
static int synced(int fd)
{
    char self[32], path[256] = "";

    if (fails())
        return -1;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    (void)!readlink(self, path, sizeof path - 1);
    database_synced |= str_ends(str_cstr(path), STR("/mapm.db"));
    log_synced |= str_ends(str_cstr(path), STR("/mapm.db-wal"));
    pack_is_new &= fd < 0;
    return 0;
}

int fsync(int fd)
{
    return synced(fd);
}

int fdatasync(int fd)
{
    return synced(fd);
}

int syncfs(int fd)
{
    return synced(fd);
}

int unlinkat(int fd, const char *path, int flags)
{
    if (fails())
        return -1;
    removed_too_early |= pack_is_new && is_pack(path);
    return (int)syscall(SYS_unlinkat, fd, path, flags);
}

struct rig {
    char home[64];
    struct store *store;
    struct arena arena;
    struct err err;
    struct hash h[PACK_MIN_OBJECTS], large, package;
    struct store_stats stats;
    uint64_t run;
};

static char large[PACK_OBJECT_MAX_BYTES + 1];

static void rig_reopen(struct rig *r)
{
    struct err e = {0};

    store_close(r->store);
    r->store = NULL;
    if (!store_open(str_cstr(r->home), &r->store, &e)) {
        printf("Bail out! %s: %s\n", r->home, err_first(&e));
        exit(1);
    }
}

static void rig_init(struct rig *r)
{
    *r = (struct rig){0};
    memset(large, 'l', sizeof large);
    snprintf(r->home, sizeof r->home, "/tmp/mapm-faults-test-XXXXXX");
    if (!mkdtemp(r->home)) {
        printf("Bail out! %s\n", r->home);
        exit(1);
    }
    rig_reopen(r);
}

static void rig_done(struct rig *r)
{
    struct err e = {0};

    store_close(r->store);
    arena_done(&r->arena);
    CHECK(fs_remove_tree_at(AT_FDCWD, r->home, &e));
}

static struct str content(struct rig *r, size_t i)
{
    return arena_printf(&r->arena, "object %zu", i);
}

static bool put_all(struct rig *r)
{
    for (size_t i = 0; i < PACK_MIN_OBJECTS; i++)
        if (!store_put(r->store, content(r, i), &r->h[i], &r->err))
            return false;
    return store_put(r->store, str_make(large, sizeof large), &r->large,
                     &r->err);
}

static bool has_all(struct rig *r)
{
    struct str got;

    for (size_t i = 0; i < PACK_MIN_OBJECTS; i++)
        if (!store_read(r->store, &r->h[i], 100, &r->arena, &got, &r->err) ||
            !str_eq(got, content(r, i)))
            return false;
    return store_read(r->store, &r->large, sizeof large, &r->arena, &got,
                      &r->err) &&
           str_eq(got, str_make(large, sizeof large));
}

static bool nothing(struct rig *r)
{
    (void)r;
    return true;
}

static bool adopt(struct rig *r)
{
    struct store_session session;
    bool ok;

    r->h[0] = hash_of(STR("adopted"));
    if (!store_session_begin(r->store, &session, &r->err))
        return false;
    ok = fs_create_at(session.dirfd, "part-0", 0600, STR("adopted"), &r->err) &&
         store_adopt(r->store, &session, 0, 7, &r->h[0], &r->err);
    store_session_end(r->store, &session);
    return ok;
}

static bool is_adopted(struct rig *r)
{
    struct str got;

    return store_read(r->store, &r->h[0], 7, &r->arena, &got, &r->err) &&
           str_is(got, "adopted");
}

static bool hold_all(struct rig *r)
{
    store_begin_staging(r->store);
    return put_all(r) && store_publish(r->store, &r->err);
}

/* The largest that share a file: more than stays in memory. */
enum { MANY = (2 << 20) / PACK_OBJECT_MAX_BYTES + 2 };

static struct str much(size_t i)
{
    static char bytes[PACK_OBJECT_MAX_BYTES - 1];

    memset(bytes, (int)('a' + i), sizeof bytes);
    return str_make(bytes, sizeof bytes);
}

static bool hold_much(struct rig *r)
{
    struct hash ignored;

    store_begin_staging(r->store);
    for (size_t i = 0; i < MANY; i++)
        if (!store_put(r->store, much(i), &ignored, &r->err))
            return false;
    return store_publish(r->store, &r->err);
}

static bool has_much(struct rig *r)
{
    for (size_t i = 0; i < MANY; i++) {
        struct hash h = hash_of(much(i));
        struct str got;

        if (!store_read(r->store, &h, PACK_OBJECT_MAX_BYTES, &r->arena, &got,
                        &r->err))
            return false;
    }
    return true;
}

static bool keep_pack(struct rig *r, size_t which)
{
    struct hash ignored;

    store_begin_staging(r->store);
    for (size_t i = 0; i < PACK_MIN_OBJECTS; i++)
        if (!store_put(r->store,
                       arena_printf(&r->arena, "%zu of pack %zu", i, which),
                       &ignored, &r->err))
            return false;
    return store_publish(r->store, &r->err);
}

static bool hold_among_many(struct rig *r)
{
    for (size_t i = 0; i < PACKS_MAX; i++)
        if (!keep_pack(r, i))
            return false;
    return true;
}

static bool has_among_many(struct rig *r)
{
    for (size_t i = 0; i < PACKS_MAX * PACK_MIN_OBJECTS; i++) {
        struct hash h =
            hash_of(arena_printf(&r->arena, "%zu of pack %zu",
                                 i % PACK_MIN_OBJECTS, i / PACK_MIN_OBJECTS));

        if (!store_has(r->store, &h))
            return false;
    }
    return has_all(r);
}

static const struct state_proof proof = {
    STR_INIT("o/r"), STR_INIT("c1"), STR_INIT("p"), STR_INIT("0b"), {{0}}};
static const struct state_ref ref = {STR_INIT("main"), STR_INIT("c1"),
                                     STR_INIT("p")};

static bool put_notes(struct rig *r)
{
    struct store *s = r->store;
    struct state_package package = {.object = STR("01"), .summary = STR("s")};

    return store_put(s, STR("object"), &package.digest, &r->err) &&
           store_put_package(s, STR("o/r"), STR("c1"), STR("p"), &package,
                             &r->err) &&
           store_put_blob(s, STR("b1"), &package.digest, 6, &r->err) &&
           store_put_ref(s, STR("o/r"), STR("main"), &ref, &r->err) &&
           store_put_trees(s, STR("o/r"), STR("c1"), STR("trees"), &r->err) &&
           store_put_reachable(s, STR("o/r"), STR("c1"), &r->err) &&
           store_put_host(s, STR("o"), STR("caps"), &r->err) &&
           store_put_proof(s, &proof, &r->err) &&
           state_put_workspace(store_state(s), STR("/w"), &r->err);
}

static bool has_notes(struct rig *r)
{
    struct store *s = r->store;
    struct state_package package;
    struct state_ref found;
    struct hash h;
    struct str text, *paths;
    uint64_t size;
    size_t n;

    return state_find_package(store_state(s), STR("o/r"), STR("c1"), STR("p"),
                              &r->arena, &package) &&
           store_find_blob(s, STR("b1"), &h, &size) && size == 6 &&
           state_find_ref(store_state(s), STR("o/r"), STR("main"), &r->arena,
                          &found) &&
           store_find_trees(s, STR("o/r"), STR("c1"), &r->arena, &text) &&
           state_is_reachable(store_state(s), STR("o/r"), STR("c1")) &&
           store_find_host(s, STR("o"), &r->arena, &text) &&
           str_is(text, "caps") && state_has_proof(store_state(s), &proof) &&
           state_list_workspaces(store_state(s), &r->arena, &paths, &n,
                                 &r->err) &&
           n == 1;
}

static bool put_notes_at_once(struct rig *r)
{
    return store_begin(r->store, &r->err) && put_notes(r) &&
           store_commit(r->store, &r->err);
}

static bool hold_notes(struct rig *r)
{
    store_begin_staging(r->store);
    return put_notes(r) && store_publish(r->store, &r->err) &&
           store_publish_notes(r->store, &r->err);
}

/* In a state that a power cut may leave. */
static bool damage_index(struct rig *r)
{
    char path[128];
    bool ok;
    FILE *f;

    if (!put_notes(r))
        return false;
    snprintf(path, sizeof path, "%s/mapm.db", r->home);
    f = fopen(path, "r+");
    ok = f && fputs("no database", f) >= 0;
    return f && fclose(f) == 0 && ok;
}

static bool forget_workspace(struct rig *r)
{
    return state_forget_workspace(store_state(r->store), STR("/w"), &r->err);
}

static bool is_forgotten(struct rig *r)
{
    struct str *paths;
    size_t n;

    return state_list_workspaces(store_state(r->store), &r->arena, &paths, &n,
                                 &r->err) &&
           n == 0;
}

static bool list_workspaces(struct rig *r)
{
    struct str *paths;
    size_t n;

    if (!state_list_workspaces(store_state(r->store), &r->arena, &paths, &n,
                               &r->err))
        return false;
    CHECK(n == 1);
    return true;
}

static bool trust(struct rig *r)
{
    return state_put_trust(store_state(r->store), STATE_TRUST_METASKILL,
                           STR("a/x"), &r->large, STR("f"), &r->err);
}

static bool is_trusted(struct rig *r)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str folder;

    return state_find_trust(store_state(r->store), STATE_TRUST_METASKILL,
                            STR("a/x"), &r->large, &a, &folder, &r->err);
}

static bool trust_no_more(struct rig *r)
{
    size_t n = 1;

    return state_forget_trust(store_state(r->store), STATE_TRUST_METASKILL,
                              STR("a/x"), &n, &r->err) &&
           n == 1;
}

static bool is_not_trusted(struct rig *r)
{
    return !is_trusted(r) && r->err.code == ERR_NONE;
}

static bool list_trust(struct rig *r)
{
    struct state_trust *list;
    size_t n;

    if (!state_list_trust(store_state(r->store), &r->arena, &list, &n, &r->err))
        return false;
    CHECK(n == 1);
    return true;
}

static struct state_run a_run(void)
{
    return (struct state_run){.name = STR("a/x"),
                              .digest = STR(""),
                              .workspace = STR("/w"),
                              .started_ms = 1700000000000,
                              .status = STR("ok"),
                              .error = STR(""),
                              .backend = STR(""),
                              .detail = STR("detail")};
}

static bool write_run(struct rig *r)
{
    struct state_run run = a_run();

    if (!state_begin_run(store_state(r->store), &run, &run.id, &r->err))
        return false;
    r->run = run.id;
    return state_end_run(store_state(r->store), &run, &r->err);
}

static bool has_run(struct rig *r)
{
    struct state_run run;

    return state_find_run(store_state(r->store), r->run, &r->arena, &run,
                          &r->err) &&
           str_is(run.status, "ok") && str_is(run.detail, "detail");
}

static bool list_runs(struct rig *r)
{
    struct state_run *list;
    size_t n;

    if (!state_list_runs(store_state(r->store), STR(""), 9, &r->arena, &list,
                         &n, &r->err))
        return false;
    CHECK(n == 1);
    return true;
}

static bool put_event(struct rig *r)
{
    const struct state_event v = {.session_id = STR("s"),
                                  .type = STR("skill.loaded"),
                                  .actor = STR("system"),
                                  .sensitivity = STR("pseudonymous"),
                                  .payload = STR("{}")};

    return state_put_event(store_state(r->store), &v, &r->err);
}

static bool list_events(struct rig *r)
{
    struct state_event *list;
    size_t n;

    if (!state_list_events(store_state(r->store),
                           &(struct state_event_query){.max = 9}, &r->arena,
                           &list, &n, &r->err))
        return false;
    CHECK(n == 1);
    return true;
}

static bool put_session(struct rig *r)
{
    return state_put_session(store_state(r->store), STR("s"), STR("state"),
                             &r->err) &&
           state_put_library(store_state(r->store), STR("/r"), STR("bytes"),
                             &r->err);
}

static bool has_session(struct rig *r)
{
    struct str state, bytes;

    return state_find_session(store_state(r->store), STR("s"), &r->arena,
                              &state, &r->err) &&
           str_is(state, "state") &&
           state_find_library(store_state(r->store), STR("/r"), &r->arena,
                              &bytes) &&
           str_is(bytes, "bytes");
}

static bool place(struct rig *r, enum store_link how)
{
    char path[128];

    snprintf(path, sizeof path, "%s/placed", r->home);
    return store_place(r->store, &r->large, how, AT_FDCWD, path, 0644, NULL,
                       &r->err);
}

static bool place_copy(struct rig *r)
{
    return place(r, STORE_LINK_COPY);
}

static bool place_link(struct rig *r)
{
    return place(r, STORE_LINK_HARDLINK);
}

static bool is_placed(struct rig *r)
{
    char path[128];
    struct str got;

    snprintf(path, sizeof path, "%s/placed", r->home);
    return fs_read_file_at(AT_FDCWD, path, sizeof large, &r->arena, &got,
                           &r->err) &&
           str_eq(got, str_make(large, sizeof large));
}

static bool count(struct rig *r)
{
    return store_stats(r->store, &r->stats, &r->err);
}

static bool verify(struct rig *r)
{
    return store_verify(r->store, NULL, NULL, &r->stats, &r->err);
}

static bool collect(struct rig *r)
{
    return store_gc(r->store, NULL, 0, false, &r->stats, &r->err);
}

/* A pack with objects of a package and others, all of which gc may remove. */
static bool keep_old_package(struct rig *r)
{
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct package_file files[] = {{.path = STR("SKILL.md")},
                                   {.path = STR("x.sh")}};
    struct fs_entry *packs;
    struct str text, path;
    size_t n;

    store_begin_staging(r->store);
    if (!put_all(r))
        return false;
    files[0].hash = r->h[0];
    files[1].hash = r->h[1];
    store_listing_format(files, 2, &r->arena, &text);
    path = arena_printf(&r->arena, "%s/store/packs", r->home);
    if (!store_put(r->store, text, &r->package, &r->err) ||
        !store_publish(r->store, &r->err) ||
        !fs_list_at(AT_FDCWD, path.p, 9, &r->arena, &packs, &n, &r->err))
        return false;
    path = arena_printf(&r->arena, "%s/%s", path.p, packs[0].name.p);
    return n == 1 && utimensat(AT_FDCWD, path.p, old, 0) == 0;
}

/* An unreferenced object in a separate file. */
static bool put_old_object(struct rig *r)
{
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    char hex[HASH_HEX_CHARS + 1];
    struct str path;

    if (!store_put(r->store, STR("old"), &r->h[0], &r->err))
        return false;
    hash_format(&r->h[0], hex);
    path = arena_printf(&r->arena, "%s/store/objects/%.2s/%s", r->home, hex,
                        hex + 2);
    return utimensat(AT_FDCWD, path.p, old, 0) == 0;
}

static bool has_no_object(struct rig *r)
{
    return !store_has(r->store, &r->h[0]);
}

static bool collect_others(struct rig *r)
{
    return store_gc(r->store, &r->package, 1, false, &r->stats, &r->err);
}

static bool has_package(struct rig *r)
{
    return store_has_package(r->store, &r->package);
}

static const struct {
    const char *name;
    bool (*before)(struct rig *), (*step)(struct rig *), (*holds)(struct rig *);
} steps[] = {
    {"put", nothing, put_all, has_all},
    {"put what is there", put_all, put_all, has_all},
    {"hold and keep", nothing, hold_all, has_all},
    {"hold and keep more", put_all, hold_all, has_all},
    {"hold and keep much", nothing, hold_much, has_much},
    {"merge packs", hold_among_many, hold_all, has_among_many},
    {"adopt", nothing, adopt, is_adopted},
    {"index", nothing, put_notes, has_notes},
    {"index in one transaction", nothing, put_notes_at_once, has_notes},
    {"index that is damaged", damage_index, put_notes, has_notes},
    {"notes", nothing, hold_notes, has_notes},
    {"forget a workspace", put_notes, forget_workspace, is_forgotten},
    {"list workspaces", put_notes, list_workspaces, nothing},
    {"trust", nothing, trust, is_trusted},
    {"no more trust", trust, trust_no_more, is_not_trusted},
    {"list trust", trust, list_trust, nothing},
    {"run", nothing, write_run, has_run},
    {"list runs", write_run, list_runs, nothing},
    {"find a run", write_run, has_run, nothing},
    {"event", nothing, put_event, list_events},
    {"list events", put_event, list_events, nothing},
    {"session", nothing, put_session, has_session},
    {"place a copy", put_all, place_copy, is_placed},
    {"place a link", put_all, place_link, is_placed},
    {"count", hold_all, count, nothing},
    {"verify", hold_all, verify, nothing}, /* unreadable objects are damaged */
    {"gc", put_all, collect, has_all},
    {"gc of an object", put_old_object, collect, has_no_object},
    {"gc of a pack", keep_old_package, collect_others, has_package},
};

/* Returns whether a call failed; otherwise all calls were tried. */
static bool try_step(size_t i, int call)
{
    bool ok, failed;
    struct rig r;

    rig_init(&r);
    CHECK(steps[i].before(&r));
    rig_reopen(&r);
    calls_left = call;
    pack_is_new = removed_too_early = false;
    ok = steps[i].step(&r);
    failed = calls_left < 0;
    calls_left = -1;
    CHECK(!removed_too_early);
    if (ok != (r.err.code == ERR_NONE) || (!ok && !failed))
        printf("# %s, call %d: %s\n", steps[i].name, call, err_first(&r.err));
    CHECK(ok == (r.err.code == ERR_NONE) && (ok || failed));
    rig_reopen(&r);
    err_clear(&r.err);
    /* collected objects are gone, others never */
    if ((ok || steps[i].holds == has_package) && !steps[i].holds(&r)) {
        printf("# %s, call %d: not done\n", steps[i].name, call);
        CHECK(false);
    }
    rig_done(&r);
    return failed;
}

TEST(a_call_that_fails_is_an_error_or_does_no_harm) /* [F2] */
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        for (int call = 0; try_step(i, call); call++)
            CHECK(call < 1000);
}

/* [F2] Of all rows, only decisions of the user must survive a power cut. */
TEST(trust_is_on_the_disk_when_it_returns)
{
    struct rig r;

    rig_init(&r);
    CHECK(trust(&r));
    for (int i = 0; i < 2; i++) {
        database_synced = log_synced = false;
        CHECK(i ? trust(&r) : trust_no_more(&r));
        CHECK(database_synced && log_synced);
        database_synced = log_synced = false;
        CHECK(write_run(&r));
        CHECK(!database_synced && !log_synced);
    }
    rig_done(&r);
}

/* [row 28] Two installs add the first objects of a folder at the same time. */
TEST(another_process_makes_the_folder_of_an_object_first)
{
    struct rig r;

    rig_init(&r);
    others_are_first = true;
    CHECK(put_all(&r) && keep_pack(&r, 0)); /* packs/ is one, too */
    others_are_first = false;
    CHECK(has_all(&r));
    rig_done(&r);
}

/* [F2] With a database of a newer version, which must not be changed. */
TEST(nothing_is_known_of_a_newer_database)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char path[128];
        sqlite3 *db = NULL;
        struct rig r;

        rig_init(&r);
        CHECK(trust(&r)); /* there is one */
        rig_reopen(&r);
        snprintf(path, sizeof path, "%s/mapm.db", r.home);
        CHECK(sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db, "PRAGMA user_version=99", NULL, NULL, NULL) ==
                  SQLITE_OK);
        sqlite3_close(db);
        if (steps[i].holds == has_notes || steps[i].holds == is_trusted ||
            steps[i].holds == has_run || steps[i].holds == has_session ||
            steps[i].step == list_trust || steps[i].step == list_runs ||
            steps[i].step == has_run || steps[i].step == list_events ||
            steps[i].step == put_event || steps[i].step == trust_no_more ||
            steps[i].step == forget_workspace || steps[i].step == count) {
            CHECK(!steps[i].step(&r) && r.err.code == ERR_REFUSED);
            CHECK(!steps[i].holds(&r) || steps[i].holds == nothing);
        }
        rig_done(&r);
    }
}
