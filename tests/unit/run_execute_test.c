#include "base/fs.h"
#include "mapm/run.h"
#include "mapm/state_runs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

/* [K33, K34, X27] the run service with a host that is a table: no terminal, no
 * command line, no server. */

#define FRONT                                                                  \
    "---\nname: echo\ndescription: repeats a word.\nmetaskill: SKILL.star\n"   \
    "---\nInput keys:\n- `word`: what is repeated\n"

struct rig {
    char top[64];
    struct context cx;
    struct store *store;
    struct layer layer;
    struct arena arena;
    struct err err;
    unsigned asked, steps;
    uint64_t row;
    struct run_result result;
};

static void put(struct rig *r, const char *name, const char *text)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", r->top, name);
    if (!fs_replace_at(AT_FDCWD, path, 0644, str_cstr(text), &r->err)) {
        printf("Bail out! %s: %s\n", path, err_first(&r->err));
        exit(1);
    }
}

static void rig_init(struct rig *r, const char *policy)
{
    char path[128];

    *r = (struct rig){0};
    snprintf(r->top, sizeof r->top, "/tmp/mapm-run-test-XXXXXX");
    if (!mkdtemp(r->top) || !store_open(str_cstr(r->top), &r->store, &r->err)) {
        printf("Bail out! %s: %s\n", r->top, err_first(&r->err));
        exit(1);
    }
    snprintf(path, sizeof path, "%s/echo", r->top);
    CHECK(mkdir(path, 0755) == 0);
    put(r, "echo/SKILL.md", FRONT);
    put(r, "echo/SKILL.star",
        "def run(input):\n    return ask(input[\"word\"])\n");
    r->cx.cwd = str_cstr(r->top);
    r->layer.path = str_cstr(r->top);
    r->layer.limits = limits_default;
    r->layer.user.metaskills = str_cstr(policy);
}

static void rig_done(struct rig *r)
{
    struct err e = {0};

    store_close(r->store);
    arena_done(&r->arena);
    arena_done(&r->cx.arena);
    CHECK(fs_remove_tree_at(AT_FDCWD, r->top, &e));
}

static bool answer(void *ctx, struct run_execution *x, const struct ask *in,
                   struct arena *a, struct answer *out, struct err *e)
{
    struct rig *r = ctx;

    (void)e;
    r->asked++;
    run_name_backend(x, STR("table"));
    *out = (struct answer){
        .text = arena_printf(a, "<%.*s>", STR_ARG(in->prompt)), .turns = 1};
    return true;
}

static void count_step(void *ctx, const struct step *s)
{
    struct rig *r = ctx;

    r->steps += s->kind == STEP_ASK && s->done;
}

static void note_row(void *ctx, uint64_t id)
{
    struct rig *r = ctx;

    r->row = id;
}

static bool run(struct rig *r, const char *name, const char *input)
{
    const struct run_request q = {
        .cx = &r->cx,
        .store = r->store,
        .layer = &r->layer,
        .name = str_cstr(name),
        .input = str_cstr(input),
        .hooks = {.ask = answer,
                  .step = count_step,
                  .begun = note_row,
                  .ctx = r},
    };

    return run_execute(&q, &r->arena, &r->result, &r->err);
}

TEST(a_hook_answers_asks_and_the_history_names_it)
{
    struct state_run row;
    struct rig r;

    rig_init(&r, "trusted");
    CHECK(run(&r, "./echo", "{\"word\": \"hi\"}"));
    CHECK(r.result.status == RUN_COMPLETED);
    CHECK(str_find(r.result.program.text, STR("<hi>")) != SIZE_MAX);
    CHECK(r.asked == 1 && r.steps == 1 && r.row == 1);
    CHECK(str_is(r.result.backend, "table"));
    CHECK(state_find_run(store_state(r.store), r.row, &r.arena, &row, &r.err));
    CHECK(str_is(row.backend, "table"));
    rig_done(&r);
}

TEST(what_does_not_start_has_a_status_and_a_text)
{
    static const struct {
        const char *policy, *name, *input;
        enum run_status status;
        const char *text;
    } rows[] = {
        {"trusted", "./none", "{}", RUN_UNKNOWN, "error: "},
        {"trusted", "./echo", "", RUN_WITHOUT_INPUT,
         "error: input is required"},
        {"off", "./echo", "{\"word\": \"hi\"}", RUN_NOT_ALLOWED, "error: "},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rig r;

        rig_init(&r, rows[i].policy);
        CHECK(run(&r, rows[i].name, rows[i].input));
        CHECK(r.result.status == rows[i].status);
        CHECK(str_starts(r.result.program.text, str_cstr(rows[i].text)));
        CHECK((r.result.why.code != ERR_NONE) ==
              (rows[i].status != RUN_WITHOUT_INPUT));
        CHECK(r.asked == 0 && r.row == 0);
        rig_done(&r);
    }
}

TEST(a_skill_without_a_program_is_static)
{
    char path[128];
    struct rig r;

    rig_init(&r, "trusted");
    snprintf(path, sizeof path, "%s/echo/SKILL.star", r.top);
    CHECK(unlink(path) == 0);
    put(&r, "echo/SKILL.md", "---\nname: echo\ndescription: says.\n---\nx\n");
    CHECK(run(&r, "./echo", "{}"));
    CHECK(r.result.status == RUN_STATIC);
    rig_done(&r);
}

TEST(a_replay_needs_no_store_and_says_how_it_differs)
{
#define HEAD "{\"tape\":1,\"name\":\"echo\",\"input\":{\"word\":\"hi\"}}\n"
#define ASK(prompt)                                                            \
    "{\"ask\":{\"prompt\":\"" prompt "\"},\"result\":{\"answer\":\"yes\"}}\n"
#define FAILED "{\"error\":\"error: no\"}\n"
    static const struct {
        const char *tape;
        enum run_difference difference;
    } rows[] = {
        {HEAD ASK("ho") FAILED, REPLAY_OTHER_STEP},
        {HEAD ASK("hi") ASK("hi") FAILED, REPLAY_FEWER_STEPS},
        {HEAD ASK("hi") FAILED, REPLAY_OTHER_END},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct skill skill;
        struct tape tape;
        struct rig r;
        struct run_request q;

        rig_init(&r, "off");
        CHECK(metaskill_read(fs_join(str_cstr(r.top), STR("echo"), &r.arena),
                             &limits_default, &r.arena, &skill, &r.err));
        CHECK(tape_parse(str_cstr(rows[i].tape), "x.jsonl", &r.arena, &tape,
                         &r.err));
        q = (struct run_request){
            .cx = &r.cx, .skill = &skill, .name = tape.name, .tape = &tape};
        CHECK(run_execute(&q, &r.arena, &r.result, &r.err));
        CHECK(r.result.difference == rows[i].difference);
        CHECK(r.result.differences.n > 0);
        rig_done(&r);
    }
}
