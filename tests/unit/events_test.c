#include "base/fs.h"
#include "mapm/state.h"
#include "mapm/state_events.h"
#include "mapm/store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* [T21, T23, T24, T25] events, sessions and the library's cache in mapm.db. */

/* What the kernel gives instead of chance; -1: as it is, -2: nothing. */
static int chance = -1;

ssize_t getrandom(void *out, size_t n, unsigned flags)
{
    if (chance == -1)
        return syscall(SYS_getrandom, out, n, flags);
    if (chance == -2)
        return -1;
    memset(out, chance, n);
    return (ssize_t)n;
}

struct rig {
    char home[64];
    struct store *store;
    struct arena arena;
    struct err err;
    struct state_event *events;
    size_t count;
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
    snprintf(r->home, sizeof r->home, "/tmp/mapm-events-test-XXXXXX");
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

    CHECK_STR(err_first(&r->err), "");
    store_close(r->store);
    arena_done(&r->arena);
    CHECK(fs_remove_tree_at(AT_FDCWD, r->home, &e));
}

static struct state_event loaded(const char *session)
{
    return (struct state_event){
        .session_id = str_cstr(session),
        .type = STR("skill.loaded"),
        .actor = STR("system"),
        .sensitivity = STR("pseudonymous"),
        .payload = STR("{\"skill_id\":\"pdf\"}"),
    };
}

static void list(struct rig *r, const struct state_event_query *query)
{
    CHECK(state_list_events(store_state(r->store), query, &r->arena, &r->events,
                            &r->count, &r->err));
}

static bool is_ulid(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!strchr("0123456789ABCDEFGHJKMNPQRSTVWXYZ", id.p[i]))
            return false;
    return id.n == STATE_ID_CHARS && id.p[0] <= '7';
}

TEST(ids_ascend_also_when_the_clock_goes_back)
{
    char last[STATE_ID_CHARS + 1] = "", id[STATE_ID_CHARS + 1];
    struct state_event v = loaded("s");
    struct rig r;

    rig_init(&r);
    for (int i = 0; i < 5000; i++) {
        state_make_id(store_state(r.store), id);
        CHECK(is_ulid(str_cstr(id)) && strcmp(last, id) < 0);
        memcpy(last, id, sizeof id);
    }
    v.timestamp_us = 1;
    CHECK(state_put_event(store_state(r.store), &v, &r.err));
    list(&r, &(struct state_event_query){.max = 9});
    CHECK(r.count == 1 && r.events[0].timestamp_us == 1);
    CHECK(str_cmp(r.events[0].id, str_cstr(last)) > 0);
    rig_done(&r);
}

/* Examples of the ULID specification have these times. */
TEST(an_id_says_when_it_was_made)
{
    struct state_event v = loaded("s");
    struct rig r;

    rig_init(&r);
    v.timestamp_us = 1469922850259000;
    CHECK(state_put_event(store_state(r.store), &v, &r.err));
    list(&r, &(struct state_event_query){.max = 9});
    CHECK(r.count == 1 && str_starts(r.events[0].id, STR("01ARZ3NDEK")));
    v.timestamp_us = 1469918176385000;
    rig_reopen(&r);
    CHECK(state_put_event(store_state(r.store), &v, &r.err));
    list(&r, &(struct state_event_query){.max = 1});
    CHECK(r.count == 1 && str_starts(r.events[0].id, STR("01ARYZ6S41")));
    rig_done(&r);
}

/* [T24] */
TEST(an_event_comes_back_whole)
{
    struct state_event v = loaded("session \xc3\xa4"), got;
    struct rig r;

    rig_init(&r);
    CHECK(state_put_event(store_state(r.store), &v, &r.err));
    v.turn_id = STR("t1");
    v.parent_event_id = STR("p1");
    v.actor = STR("worker");
    v.sensitivity = STR("aggregatable");
    v.type = STR("some.other");
    CHECK(state_put_event(store_state(r.store), &v, &r.err));
    rig_reopen(&r);
    list(&r, &(struct state_event_query){.max = 9});
    CHECK(r.count == 2);
    got = r.events[0];
    CHECK(str_is(got.session_id, "session \xc3\xa4") && is_ulid(got.id));
    CHECK(got.turn_id.n == 0 && got.parent_event_id.n == 0);
    CHECK(got.timestamp_us > 1700000000000000);
    CHECK(str_is(got.payload, "{\"skill_id\":\"pdf\"}"));
    got = r.events[1];
    CHECK(str_is(got.turn_id, "t1") && str_is(got.parent_event_id, "p1"));
    CHECK(str_is(got.actor, "worker") && str_is(got.type, "some.other"));
    CHECK(str_is(got.sensitivity, "aggregatable"));
    rig_done(&r);
}

TEST(what_is_no_event_is_refused)
{
    struct state_event v = loaded("s");
    static char text[EVENT_MAX_BYTES + 1];
    struct rig r;

    rig_init(&r);
    memset(text, ' ', sizeof text);
    v.payload = str_make(text, EVENT_MAX_BYTES);
    CHECK(state_put_event(store_state(r.store), &v, &r.err));
    v.payload = str_make(text, EVENT_MAX_BYTES + 1);
    CHECK(!state_put_event(store_state(r.store), &v, &r.err) &&
          r.err.code == ERR_LIMIT);
    v = loaded("s");
    v.actor = STR("robot");
    CHECK(!state_put_event(store_state(r.store), &v, &r.err) &&
          r.err.code == ERR_FORMAT);
    v = loaded("s");
    v.sensitivity = STR("");
    CHECK(!state_put_event(store_state(r.store), &v, &r.err) &&
          r.err.code == ERR_FORMAT);
    err_clear(&r.err);
    list(&r, &(struct state_event_query){.max = 9});
    CHECK(r.count == 1);
    rig_done(&r);
}

TEST(events_are_chosen_by_type_session_and_time)
{
    static const struct {
        const char *type, *session;
        int64_t since_us;
        size_t max, count;
        int64_t first; /* timestamp of the first one */
    } rows[] = {
        {"", "", 0, 99, 6, 1},   {"", "", 0, 2, 2, 5},  {"a", "", 0, 99, 3, 1},
        {"b", "", 0, 99, 3, 2},  {"b", "", 0, 1, 1, 6}, {"", "x", 0, 99, 3, 1},
        {"a", "y", 0, 99, 1, 5}, {"", "", 4, 99, 3, 4}, {"c", "", 0, 99, 0, 0},
        {"", "", 7, 99, 0, 0},   {"", "", 0, 0, 0, 0},
    };
    struct rig r;

    rig_init(&r);
    for (int i = 1; i <= 6; i++) {
        struct state_event v = loaded(i <= 3 ? "x" : "y");

        v.type = i % 2 ? STR("a") : STR("b");
        v.timestamp_us = i;
        CHECK(state_put_event(store_state(r.store), &v, &r.err));
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        list(&r, &(struct state_event_query){
                     .type = str_cstr(rows[i].type),
                     .session_id = str_cstr(rows[i].session),
                     .since_us = rows[i].since_us,
                     .max = rows[i].max,
                 });
        CHECK(r.count == rows[i].count || printf("# row %zu\n", i) < 0);
        CHECK(r.count == 0 || r.events[0].timestamp_us == rows[i].first);
    }
    rig_done(&r);
}

/* What another process writes is followed, each once, in order. */
TEST(events_are_followed)
{
    struct state_event_query query = {.follow = true, .max = 3};
    int64_t last = 0;
    struct rig r;
    int status;

    rig_init(&r);
    list(&r, &query);
    CHECK(r.count == 0);
    if (fork() == 0) {
        struct rig other = r;
        struct state_event v = loaded("s");
        bool ok = true;

        other.store = NULL;
        rig_open(&other);
        for (int i = 1; i <= 8; i++) {
            v.timestamp_us = 100 - i; /* not in the order of clocks */
            ok =
                ok && state_put_event(store_state(other.store), &v, &other.err);
        }
        _exit(!ok);
    }
    CHECK(wait(&status) > 0 && status == 0);
    for (int i = 1; i <= 8; i++) {
        query.after = last;
        query.max = 1;
        list(&r, &query);
        CHECK(r.count == 1 && r.events[0].timestamp_us == 100 - i);
        CHECK(r.count == 1 && r.events[0].row > last);
        last = r.count ? r.events[0].row : last;
    }
    query.after = last;
    list(&r, &query);
    CHECK(r.count == 0);
    rig_done(&r);
}

/* Bounded history; numbers of rows go on. */
TEST(the_oldest_events_are_forgotten)
{
    struct state_event v = loaded("s");
    struct rig r;

    rig_init(&r);
    CHECK(store_begin(r.store, &r.err));
    for (int i = 1; i <= EVENTS_MAX + 200; i++) {
        v.timestamp_us = i;
        if (!state_put_event(store_state(r.store), &v, &r.err))
            break;
    }
    CHECK(store_commit(r.store, &r.err));
    list(&r, &(struct state_event_query){.max = SIZE_MAX});
    /* 64 at once, the last time at a multiple of 64 */
    CHECK(r.count == EVENTS_MAX + (EVENTS_MAX + 200) % 64);
    CHECK(r.events[r.count - 1].timestamp_us == EVENTS_MAX + 200);
    CHECK(r.events[0].timestamp_us > 64);
    for (int i = 0; i < 64; i++) /* each in a transaction of its own */
        CHECK(state_put_event(store_state(r.store), &v, &r.err));
    list(&r, &(struct state_event_query){.max = SIZE_MAX});
    CHECK(r.count == EVENTS_MAX + (EVENTS_MAX + 200) % 64);
    rig_done(&r);
}

TEST(what_is_not_committed_never_was)
{
    struct state_event v = loaded("s");
    struct str state;
    struct rig r;

    rig_init(&r);
    CHECK(store_begin(r.store, &r.err));
    CHECK(state_put_event(store_state(r.store), &v, &r.err));
    CHECK(state_put_session(store_state(r.store), STR("s"), STR("1"), &r.err));
    CHECK(state_put_library(store_state(r.store), STR("/r"), STR("1"), &r.err));
    CHECK(state_find_session(store_state(r.store), STR("s"), &r.arena, &state,
                             &r.err));
    rig_reopen(&r);
    CHECK(!state_find_session(store_state(r.store), STR("s"), &r.arena, &state,
                              &r.err));
    CHECK(
        !state_find_library(store_state(r.store), STR("/r"), &r.arena, &state));
    list(&r, &(struct state_event_query){.max = 9});
    CHECK(r.count == 0);
    rig_done(&r);
}

/* [T21] what a session has activated is there in the next command. */
TEST(sessions_are_kept_the_last_ones)
{
    static char large[SESSION_MAX_BYTES + 1];
    char id[300], name[32];
    struct str state;
    struct rig r;

    rig_init(&r);
    CHECK(!state_find_session(store_state(r.store), STR("a"), &r.arena, &state,
                              &r.err));
    CHECK(
        state_put_session(store_state(r.store), STR("a"), STR("one"), &r.err));
    CHECK(state_put_session(store_state(r.store), STR("b"), STR(""), &r.err));
    CHECK(
        state_put_session(store_state(r.store), STR("a"), STR("two"), &r.err));
    rig_reopen(&r);
    CHECK(state_find_session(store_state(r.store), STR("a"), &r.arena, &state,
                             &r.err));
    CHECK(str_is(state, "two"));
    CHECK(state_find_session(store_state(r.store), STR("b"), &r.arena, &state,
                             &r.err));
    CHECK(state.n == 0);

    for (int i = 0; i < SESSION_ID_MAX_CHARS + 1; i++)
        memcpy(id + 2 * i, "\xc3\xa4", 2);
    CHECK(state_put_session(store_state(r.store),
                            str_make(id, 2 * SESSION_ID_MAX_CHARS), STR("x"),
                            &r.err));
    CHECK(!state_put_session(store_state(r.store),
                             str_make(id, 2 * SESSION_ID_MAX_CHARS + 2),
                             STR("x"), &r.err));
    CHECK(r.err.code == ERR_LIMIT);
    err_clear(&r.err);
    CHECK(state_put_session(store_state(r.store), STR("c"),
                            str_make(large, sizeof large - 1), &r.err));
    CHECK(!state_put_session(store_state(r.store), STR("c"),
                             str_make(large, sizeof large), &r.err));
    CHECK(r.err.code == ERR_LIMIT);
    err_clear(&r.err);
    CHECK(state_find_session(store_state(r.store), STR("c"), &r.arena, &state,
                             &r.err));
    CHECK(state.n == SESSION_MAX_BYTES);

    CHECK(store_begin(r.store, &r.err));
    for (int i = 0; i < SESSIONS_MAX - 1; i++) {
        snprintf(name, sizeof name, "n%d", i);
        CHECK(state_put_session(store_state(r.store), str_cstr(name), STR("x"),
                                &r.err));
        if (i == 5)
            CHECK(state_put_session(store_state(r.store), STR("a"), STR("3"),
                                    &r.err));
    }
    CHECK(store_commit(r.store, &r.err));
    CHECK(state_find_session(store_state(r.store), STR("a"), &r.arena, &state,
                             &r.err));
    CHECK(!state_find_session(store_state(r.store), STR("b"), &r.arena, &state,
                              &r.err));
    CHECK(state_find_session(store_state(r.store), STR("n0"), &r.arena, &state,
                             &r.err));
    CHECK(
        state_put_session(store_state(r.store), STR("new"), STR("x"), &r.err));
    CHECK(!state_find_session(store_state(r.store), STR("n0"), &r.arena, &state,
                              &r.err));
    rig_done(&r);
}

/* [T23] where chance has no next number, and where there is none at all */
TEST(ids_ascend_whatever_chance_gives)
{
    static const int chances[] = {255, 0, -2};
    char id[STATE_ID_CHARS + 1], last[STATE_ID_CHARS + 1] = "";
    struct rig r;

    for (size_t i = 0; i < sizeof chances / sizeof *chances; i++) {
        rig_init(&r);
        chance = chances[i];
        last[0] = '\0';
        for (int n = 0; n < 2000; n++) {
            state_make_id(store_state(r.store), id);
            if (strlen(id) != STATE_ID_CHARS || strcmp(last, id) >= 0) {
                CHECK_STR(id, last);
                break;
            }
            memcpy(last, id, sizeof id);
        }
        chance = -1;
        rig_done(&r);
    }
}

/* [row 26] */
TEST(the_database_of_another_program_is_set_aside)
{
    static const char *const ways[] = {"PRAGMA application_id=1",
                                       "PRAGMA user_version=0"};

    for (size_t i = 0; i < 2; i++) {
        struct rig r;
        struct str state;
        char path[128];
        sqlite3 *db = NULL;

        rig_init(&r);
        CHECK(state_put_session(store_state(r.store), STR("a"), STR("1"),
                                &r.err));
        store_close(r.store);
        snprintf(path, sizeof path, "%s/mapm.db", r.home);
        CHECK(sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_exec(db, ways[i], NULL, NULL, NULL) == SQLITE_OK);
        sqlite3_close(db);
        rig_open(&r);
        CHECK(!state_find_session(store_state(r.store), STR("a"), &r.arena,
                                  &state, &r.err));
        CHECK(state_put_session(store_state(r.store), STR("a"), STR("2"),
                                &r.err));
        CHECK(state_lost(store_state(r.store)).n > 0);
        rig_done(&r);
    }
}

/* [L9] one blob a root, and no more than so many and so much. */
TEST(what_is_known_of_roots_is_bounded)
{
    const size_t third = LIBRARY_CACHE_MAX_BYTES / 3 + 1;
    char root[32], *big = calloc(1, third);
    struct str bytes;
    struct rig r;

    rig_init(&r);
    for (int i = 0; i <= LIBRARY_CACHE_MAX_ROOTS; i++) {
        snprintf(root, sizeof root, "/root/%d", i);
        CHECK(state_put_library(store_state(r.store), str_cstr(root),
                                STR("a\0b"), &r.err));
    }
    CHECK(!state_find_library(store_state(r.store), STR("/root/0"), &r.arena,
                              &bytes));
    CHECK(state_find_library(store_state(r.store), STR("/root/1"), &r.arena,
                             &bytes));
    CHECK(bytes.n == 3 && memcmp(bytes.p, "a\0b", 3) == 0);
    CHECK(state_put_library(store_state(r.store), STR("/x"),
                            str_make(big, third), &r.err));
    CHECK(state_put_library(store_state(r.store), STR("/y"),
                            str_make(big, third), &r.err));
    CHECK(state_find_library(store_state(r.store), STR("/root/99"), &r.arena,
                             &bytes));
    CHECK(state_put_library(store_state(r.store), STR("/z"),
                            str_make(big, third), &r.err));
    CHECK(!state_find_library(store_state(r.store), STR("/root/99"), &r.arena,
                              &bytes));
    CHECK(
        !state_find_library(store_state(r.store), STR("/x"), &r.arena, &bytes));
    CHECK(
        state_find_library(store_state(r.store), STR("/y"), &r.arena, &bytes));
    CHECK(bytes.n == third);
    free(big);
    rig_done(&r);
}

/* [T25] the columns of the specification, its key and four indexes. */
TEST(the_table_is_the_one_of_the_specification)
{
    static const char sql[] =
        "SELECT group_concat(name, ' ') || ' | ' ||"
        " (SELECT group_concat(name, ' ') FROM pragma_table_info('events')"
        "  WHERE pk=1) || ' | ' || (SELECT count(*) FROM sqlite_schema WHERE"
        " type='index' AND tbl_name='events' AND sql IS NOT NULL)"
        " FROM pragma_table_info('events')";
    struct state_event v = loaded("s");
    sqlite3_stmt *q = NULL;
    sqlite3 *db = NULL;
    char path[128];
    struct rig r;

    rig_init(&r);
    CHECK(state_put_event(store_state(r.store), &v, &r.err));
    snprintf(path, sizeof path, "%s/mapm.db", r.home);
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(db, sql, -1, &q, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(q) == SQLITE_ROW);
    CHECK_STR((const char *)sqlite3_column_text(q, 0),
              "id timestamp_us session_id turn_id parent_event_id type actor "
              "sensitivity payload_json | id | 4");
    sqlite3_finalize(q);
    sqlite3_close(db);
    rig_done(&r);
}
