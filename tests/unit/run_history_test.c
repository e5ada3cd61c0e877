#include "base/fs.h"
#include "base/text.h"
#include "mapm/run_detail.h"
#include "mapm/run_history.h"
#include "mapm/state_runs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

/* [K28, K40, K42, row 22] what is kept of a run, how much of it, and what is
 * said of it. */

struct rig {
    char home[64];
    struct store *store;
    struct run_history h;
    struct arena arena;
    struct err err;
    struct state_run run; /* as it is read again */
    struct run_detail detail;
};

static void rig_init(struct rig *r)
{
    *r = (struct rig){0};
    snprintf(r->home, sizeof r->home, "/tmp/mapm-history-test-XXXXXX");
    if (!mkdtemp(r->home) ||
        !store_open(str_cstr(r->home), &r->store, &r->err)) {
        printf("Bail out! %s: %s\n", r->home, err_first(&r->err));
        exit(1);
    }
}

static void rig_done(struct rig *r)
{
    struct err e = {0};

    store_close(r->store);
    arena_done(&r->arena);
    CHECK(fs_remove_tree_at(AT_FDCWD, r->home, &e));
}

static bool begin(struct rig *r, enum run_keep keep, struct str input)
{
    static const struct state_run first = {
        .name = STR_INIT("acme/test-fix"),
        .digest = STR_INIT("sha256:00"),
        .workspace = STR_INIT("/ws"),
    };
    bool ok = run_history_begin(&r->h, r->store, keep, &first, input, &r->err);

    if (ok)
        run_history_limits(&r->h, &limits_default);
    return ok;
}

static void end_with(struct rig *r, const struct runtime_result *result)
{
    uint64_t id = r->h.run.id;

    CHECK(run_history_end(&r->h, result, STR("claude"), &r->err));
    CHECK(
        run_history_end(&r->h, result, STR("claude"), &r->err)); /* harmless */
    CHECK(
        state_find_run(store_state(r->store), id, &r->arena, &r->run, &r->err));
    CHECK(r->run.detail.n <= RUN_DETAIL_MAX_BYTES);
    CHECK(text_is_utf8(r->run.detail));
    CHECK(run_detail_parse(r->run.detail, &r->arena, &r->detail, &r->err));
    CHECK_STR(err_first(&r->err), "");
}

static void end(struct rig *r)
{
    static const struct runtime_result result = {
        .end = RUNTIME_COMPLETED,
        .text = STR_INIT("[Metaskill: test-fix completed]\n{}"),
        .status = STR_INIT("accepted"),
        .asks = 1,
        .commands = 2,
        .traces = 3,
        .took_ms = 5000,
    };

    end_with(r, &result);
}

/* --- steps --------------------------------------------------------------------- */

static void ask(struct rig *r, struct str prompt, struct str answer)
{
    struct ask a = {.number = 1,
                    .prompt = prompt,
                    .purpose = STR("fix-tests"),
                    .max_turns = 10};
    struct answer got = {.text = answer, .turns = 3, .truncated = true};
    struct step s = {.kind = STEP_ASK, .at_ms = 100, .ask = &a};

    run_history_step(&r->h, &s);
    s.done = true;
    s.at_ms = 2600;
    s.took_ms = 2500;
    s.answer = &got;
    run_history_step(&r->h, &s);
}

static void command(struct rig *r, const struct str *argv, size_t argc,
                    struct str result)
{
    struct command c = {.number = 2, .argv = argv, .argc = argc};
    struct command_result o = {.exit_code = 3, .result = result};
    struct step s = {.kind = STEP_COMMAND,
                     .done = true,
                     .at_ms = 2900,
                     .took_ms = 200,
                     .command = &c,
                     .outcome = &o};

    run_history_step(&r->h, &s);
}

static void trace(struct rig *r, struct str kind, struct str data)
{
    struct step s = {
        .kind = STEP_TRACE, .at_ms = 3000, .text = kind, .data = data};

    run_history_step(&r->h, &s);
}

static void print(struct rig *r, struct str line)
{
    struct step s = {.kind = STEP_PRINT, .at_ms = 3001, .text = line};

    run_history_step(&r->h, &s);
}

static const struct str words[] = {STR_INIT("git"), STR_INIT("diff"),
                                   STR_INIT("--stat"), STR_INIT("secret")};

static void play(struct rig *r)
{
    struct step s = {.kind = STEP_START};

    run_history_step(&r->h, &s);
    ask(r, STR("the prompt"), STR("the answer"));
    command(r, words, 4, STR("the output"));
    trace(r, STR("missing"), STR("{\"attempt\":1}"));
    print(r, STR("the line"));
    s.kind = STEP_FINISH;
    run_history_step(&r->h, &s);
}

static bool has(struct str s, const char *text)
{
    return str_find(s, str_cstr(text)) != SIZE_MAX;
}

static char *filled(struct arena *a, size_t n, char c)
{
    char *p = arena_alloc(a, n);

    memset(p, c, n);
    return p;
}

TEST(keep_is_read_as_a_word)
{
    CHECK(run_keep_find(STR("none")) == RUN_KEEP_NONE);
    CHECK(run_keep_find(STR("summary")) == RUN_KEEP_SUMMARY);
    CHECK(run_keep_find(STR("full")) == RUN_KEEP_FULL);
    CHECK(run_keep_find(STR("")) == RUN_KEEP_SUMMARY);
}

TEST(with_keep_none_there_is_no_row)
{
    struct state_run *runs;
    size_t count = 9;
    struct rig r;

    rig_init(&r);
    CHECK(begin(&r, RUN_KEEP_NONE, STR("{}")));
    play(&r);
    CHECK(run_history_end(&r.h, &(struct runtime_result){0}, STR(""), &r.err));
    CHECK(state_list_runs(store_state(r.store), STR(""), 10, &r.arena, &runs,
                          &count, &r.err));
    CHECK(count == 0);
    rig_done(&r);
}

TEST(a_run_shows_before_it_ends)
{
    struct state_run *runs;
    size_t count = 0;
    struct rig r;

    rig_init(&r);
    CHECK(begin(&r, RUN_KEEP_SUMMARY, STR("{}")));
    CHECK(state_list_runs(store_state(r.store), STR("/ws"), 10, &r.arena, &runs,
                          &count, &r.err));
    CHECK(count == 1 && str_is(runs[0].status, "running"));
    CHECK(count == 1 && runs[0].started_ms > 0 && runs[0].input_bytes == 2);
    end(&r);
    rig_done(&r);
}

TEST(a_summary_keeps_what_happened_and_no_texts)
{
    const struct run_step *s;
    struct rig r;

    rig_init(&r);
    CHECK(begin(&r, RUN_KEEP_SUMMARY, STR("{\"task\":\"the input\"}")));
    play(&r);
    end(&r);
    CHECK(str_is(r.run.status, "accepted") && str_is(r.run.backend, "claude"));
    CHECK(r.run.asks == 1 && r.run.commands == 2 && r.run.traces == 3);
    CHECK(r.run.took_ms == 5000 && r.run.result_bytes == 34);
    CHECK(!has(r.run.detail, "the prompt") && !has(r.run.detail, "the answer"));
    CHECK(!has(r.run.detail, "the output") && !has(r.run.detail, "secret"));
    CHECK(!has(r.run.detail, "the input") && !has(r.run.detail, "the line"));
    CHECK(!has(r.run.detail, "completed]"));
    CHECK(r.detail.known && str_is(r.detail.keep, "summary"));
    CHECK(r.detail.has_limits && r.detail.max_asks == RUN_MAX_ASKS);
    CHECK(r.detail.count == 3 && r.detail.left_out == 0);
    s = r.detail.steps;
    CHECK(s[0].kind == STEP_ASK && s[0].ok && s[0].turns == 3);
    CHECK(s[0].at_ms == 100 && s[0].took_ms == 2500 && s[0].truncated);
    CHECK(str_is(s[0].label, "fix-tests") && s[0].in.bytes == 10);
    CHECK(s[0].out.known && !s[0].out.kept && s[0].out.bytes == 10);
    CHECK(s[1].kind == STEP_COMMAND && !s[1].ok && s[1].exit_code == 3);
    CHECK(s[1].at_ms == 2700 && s[1].argc == 3 && s[1].words == 4);
    CHECK(s[2].kind == STEP_TRACE && str_is(s[2].label, "missing"));
    CHECK(str_is(s[2].data, "{\"attempt\":1}"));
    rig_done(&r);
}

TEST(full_keeps_the_texts_as_untrusted_ones)
{
    const struct run_step *s;
    struct rig r;

    rig_init(&r);
    CHECK(begin(&r, RUN_KEEP_FULL, STR("{\"task\":\"the input\"}")));
    play(&r);
    end(&r);
    CHECK(has(r.run.detail, "\"untrusted\":\"the answer\""));
    CHECK(str_is(r.detail.input.text, "{\"task\":\"the input\"}"));
    CHECK(r.detail.result.kept && !r.detail.result.cut);
    CHECK(r.detail.count == 4);
    s = r.detail.steps;
    CHECK(s[0].in.kept && str_is(s[0].in.text, "the prompt"));
    CHECK(s[0].out.kept && str_is(s[0].out.text, "the answer"));
    CHECK(s[1].argc == 4 && str_is(s[1].argv[3], "secret"));
    CHECK(str_is(s[1].out.text, "the output"));
    CHECK(s[3].kind == STEP_PRINT && str_is(s[3].out.text, "the line"));
    rig_done(&r);
}

TEST(what_failed_says_so)
{
    struct runtime_result result = {
        .end = RUNTIME_FAILED,
        .text = STR("error: out of asks"),
        .status = STR("error"),
        .report = STR("SKILL.star:3:5: in run"),
        .took_ms = 1,
    };
    struct ask a = {.number = 1, .purpose = STR("p"), .prompt = STR("q")};
    struct step s = {.kind = STEP_ASK, .ask = &a, .done = true, .failed = true};
    struct rig r;

    rig_init(&r);
    CHECK(begin(&r, RUN_KEEP_SUMMARY, STR("{}")));
    run_history_step(&r.h, &s);
    end_with(&r, &result);
    CHECK(str_is(r.run.error, "error: out of asks"));
    CHECK(str_is(r.detail.report.text, "SKILL.star:3:5: in run"));
    CHECK(r.detail.count == 1 && run_step_failed(&r.detail.steps[0]));
    CHECK(begin(&r, RUN_KEEP_SUMMARY, STR("{}")));
    s.done = s.failed = false;
    s.at_ms = 40;
    run_history_step(&r.h, &s);
    result.end = RUNTIME_INTERRUPTED;
    end_with(&r, &result);
    CHECK(str_is(r.run.status, "interrupted"));
    CHECK(r.detail.count == 1 && r.detail.steps[0].unfinished);
    CHECK(r.detail.count == 1 && r.detail.steps[0].at_ms == 40);
    rig_done(&r);
}

/* [row 22] a flood, whatever it consists of. */
TEST(a_flood_is_cut_and_says_so)
{
    static const char fills[] = {'x', '\x01', '\xff', '"', '\n'};

    for (size_t i = 0; i < sizeof fills; i++) {
        struct rig r;
        struct str flood;

        rig_init(&r);
        flood = str_make(filled(&r.arena, PROMPT_MAX_BYTES, fills[i]),
                         PROMPT_MAX_BYTES);
        CHECK(begin(&r, RUN_KEEP_FULL, str_slice(flood, 0, INPUT_MAX_BYTES)));
        for (int k = 0; k < 5; k++)
            ask(&r, flood, str_slice(flood, 0, 80000));
        for (int k = 0; k < 10; k++)
            command(&r, words, 4, str_slice(flood, 0, 80000));
        end(&r);
        CHECK(r.detail.count == 15 && r.detail.left_out == 0);
        for (size_t k = 0; k < r.detail.count; k++) {
            const struct run_step *s = &r.detail.steps[k];

            CHECK(s->kind != STEP_ASK ||
                  (s->in.cut && s->in.bytes == PROMPT_MAX_BYTES));
            CHECK(s->out.bytes == 80000);
        }
        CHECK(r.detail.input.cut && r.detail.input.bytes == INPUT_MAX_BYTES);
        rig_done(&r);
    }
}

/* [K28] traces and prints take no room from asks and commands. */
TEST(a_flood_of_traces_leaves_room_for_the_others)
{
    struct str data, line;
    struct rig r;
    size_t asks = 0;

    rig_init(&r);
    data = arena_printf(&r.arena, "{\"x\":\"%.*s\"}", 4000,
                        filled(&r.arena, 4000, 'x'));
    line = str_make(filled(&r.arena, 1000, 'p'), 1000);
    CHECK(begin(&r, RUN_KEEP_FULL, STR("{}")));
    for (int i = 0; i < 1000; i++)
        trace(&r, STR("kind"), data);
    for (int i = 0; i < 1000; i++)
        print(&r, line);
    ask(&r, STR("the prompt"), STR("the answer"));
    end(&r);
    for (size_t i = 0; i < r.detail.count; i++)
        asks += r.detail.steps[i].kind == STEP_ASK;
    CHECK(asks == 1);
    CHECK(r.detail.count > 50 && r.detail.left_out > 1000);
    CHECK(r.detail.count + r.detail.left_out == 2001);
    rig_done(&r);
}

TEST(labels_are_short_and_texts_end_with_a_whole_character)
{
    struct str wide, word, argv[70];
    struct rig r;

    rig_init(&r);
    wide = str_make(filled(&r.arena, 300, 'n'), 300);
    word = str_make(filled(&r.arena, 4096, 'w'), 4096);
    for (size_t i = 0; i < 70; i++)
        argv[i] = word;
    CHECK(begin(&r, RUN_KEEP_SUMMARY, STR("{}")));
    trace(&r, wide, STR("no JSON"));
    command(&r, argv, 70, STR(""));
    end(&r);
    CHECK(r.detail.steps[0].label.n == 200);
    CHECK(str_is(r.detail.steps[0].data, "\"no JSON\""));
    CHECK(r.detail.steps[1].argc == RUN_SUMMARY_WORDS);
    CHECK(r.detail.steps[1].argv[0].n == 200 && r.detail.steps[1].words == 70);
    CHECK(begin(&r, RUN_KEEP_FULL, STR("{}")));
    command(&r, argv, 70, STR(""));
    wide = STR("");
    for (int i = 0; i < 16; i++)
        wide = i ? str_join(wide, wide, &r.arena) : STR("\xe2\x82\xac\xe2\x82");
    ask(&r, wide, STR(""));
    end(&r);
    CHECK(r.detail.steps[0].argc > RUN_SUMMARY_WORDS);
    CHECK(r.detail.steps[0].words == 70);
    CHECK(r.detail.steps[1].in.cut);
    rig_done(&r);
}

TEST(a_history_that_cannot_be_written_stops_nothing)
{
    char file[96];
    struct rig r;
    sqlite3 *db = NULL;

    rig_init(&r);
    /* The database of a newer program, which is not to be touched. */
    snprintf(file, sizeof file, "%s/mapm.db", r.home);
    CHECK(sqlite3_open(file, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(
              db, "PRAGMA application_id=0x6d61706d;PRAGMA user_version=999",
              NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    CHECK(!begin(&r, RUN_KEEP_FULL, STR("{}")));
    CHECK(r.err.code != ERR_NONE);
    err_clear(&r.err);
    play(&r);
    CHECK(run_history_end(&r.h, &(struct runtime_result){0}, STR(""), &r.err));
    rig_done(&r);
}

/* --- reading ---------------------------------------------------------------------- */

TEST(what_is_no_detail_is_read_as_far_as_it_goes)
{
    static const struct {
        const char *text;
        bool ok, known;
        size_t steps;
    } rows[] = {
        {"", true, false, 0},
        {"{}", true, true, 0},
        {"[]", true, false, 0},
        {"7", true, false, 0},
        {"{", false, false, 0},
        {"{\"steps\":7}", true, true, 0},
        {"{\"steps\":[7,null,{},{\"kind\":\"nonsense\"}]}", true, true, 0},
        {"{\"steps\":[{\"kind\":\"ask\"}]}", true, true, 1},
        {"{\"steps\":[{\"kind\":\"ask\",\"at_ms\":-1,\"prompt\":[],"
         "\"answer\":{\"untrusted\":7},\"turns\":1e9}]}",
         true, true, 1},
        {"{\"steps\":[{\"kind\":\"command\",\"argv\":[1,\"a\"],\"words\":0}]}",
         true, true, 1},
        {"{\"steps\":[{\"kind\":\"command\",\"argv\":{}}]}", true, true, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct err e = {0};
        struct run_detail d;

        CHECK(run_detail_parse(str_cstr(rows[i].text), &a, &d, &e) ==
              rows[i].ok);
        CHECK(d.known == rows[i].known);
        CHECK(d.count == rows[i].steps);
        for (size_t k = 0; k < d.count; k++) {
            CHECK(run_step_kind(&d.steps[k])[0]);
            CHECK(run_step_label(&d.steps[k], &a).n < 10);
            CHECK(run_step_outcome(&d.steps[k], &a).n < 100);
        }
        arena_done(&a);
    }
}

TEST(durations_are_read_at_a_glance)
{
    static const struct {
        uint64_t ms;
        const char *text;
    } rows[] = {
        {0, "0 ms"},
        {999, "999 ms"},
        {1000, "1.0 s"},
        {1049, "1.0 s"},
        {1050, "1.1 s"},
        {12345, "12.3 s"},
        {59949, "59.9 s"},
        {59950, "1 min 00 s"},
        {60000, "1 min 00 s"},
        {125000, "2 min 05 s"},
        {3599499, "59 min 59 s"},
        {3599500, "1 h 00 min"},
        {3720000, "1 h 02 min"},
        {UINT64_MAX / 2, "2562047788015 h 12 min"},
    };
    char out[32];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(run_seconds(rows[i].ms, out), rows[i].text);
}

TEST(times_are_local_for_people_and_utc_for_programs)
{
    char out[40];

    setenv("TZ", "XYZ-2", 1);
    CHECK_STR(run_when(1000, false, out), "1970-01-01 02:00:01");
    CHECK_STR(run_when(1000, true, out), "1970-01-01 02:00:01 +0200");
    CHECK_STR(run_utc(1003, out), "1970-01-01T00:00:01.003Z");
    CHECK_STR(run_utc(1795190232517, out), "2026-11-20T15:57:12.517Z");
}

TEST(outcomes_in_words)
{
    static const struct {
        struct run_step step;
        const char *words;
    } rows[] = {
        {{.kind = STEP_ASK, .ok = true, .turns = 1}, "1 turn"},
        {{.kind = STEP_ASK, .ok = true, .turns = 3, .exhausted = true},
         "3 turns, exhausted"},
        {{.kind = STEP_ASK,
          .ok = true,
          .turns = 2,
          .truncated = true,
          .out = {.known = true, .bytes = 1234}},
         "2 turns, 1.2 kB, truncated"},
        {{.kind = STEP_ASK}, "failed"},
        {{.kind = STEP_ASK, .unfinished = true}, "did not finish"},
        {{.kind = STEP_COMMAND, .ok = true, .has_exit = true}, "exit 0"},
        {{.kind = STEP_COMMAND, .has_exit = true}, "exit 0, not ok"},
        {{.kind = STEP_COMMAND, .has_exit = true, .exit_code = 2}, "exit 2"},
        {{.kind = STEP_COMMAND}, "not run to its end"},
        {{.kind = STEP_COMMAND, .rule = STR_INIT("git push *")}, "refused"},
        {{.kind = STEP_TRACE}, ""},
        {{.kind = STEP_PRINT, .out = {.known = true, .bytes = 5}}, ""},
    };
    struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_STR(run_step_outcome(&rows[i].step, &a).p, rows[i].words);
    arena_done(&a);
}
