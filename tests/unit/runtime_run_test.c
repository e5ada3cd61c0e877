#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/runtime.h"

#include "runtime_host.h"

/* A whole run: from a program, an input and a scripted host to one string.
 * [K19, K20, K21, K22, K23, K24, K25, K26, K27, K28, K29, K30, K31, K32] [K33,
 * K34, K35, K38, K39, K40]. */

/* --- what run() returns -------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *program;
    const char *status, *answer; /* NULL: an error with the text below */
    const char *more;            /* in the envelope, or in the error */
} results[] = {
    /* [K32] */
    {"def run(input): return None", "ok", "", ""},
    {"def run(input): pass", "ok", "", ""},
    {"def run(input): return 'done'", "ok", "done", ""},
    {"def run(input): return ''", "ok", "", ""},
    {"def run(input): return {}", "ok", "", ""},
    {"def run(input): return {'status': 'accepted'}", "accepted", "", ""},
    {"def run(input): return {'answer': 'a', 'n': 1}", "ok", "a", "\"n\":1"},
    {"def run(input): return {'l': (1, [2.5, None, True])}", "ok", "", "\"l\":[1,[2.5,null,true]]"},
    {"def run(input): return 42", NULL, NULL, "run() returned int;"},
    {"def run(input): return [1]", NULL, NULL, "run() returned list;"},
    {"def run(input): return True", NULL, NULL, "run() returned bool;"},
    {"def run(input): return b'x'", NULL, NULL, "run() returned bytes;"},
    {"def run(input): return run", NULL, NULL, "run() returned function;"},
    {"def run(input): return {1: 2}", NULL, NULL, "a key that is no string"},
    {"def run(input): return {'a': run}", NULL, NULL, "a dict that is no JSON: "},
    {"def run(input): return {'a': set([1])}", NULL, NULL, "a dict that is no JSON: "},
    {"def run(input): return {'a': float('nan')}", NULL, NULL, "a dict that is no JSON: "},
    /* other types than usual are unchanged */
    {"def run(input): return {'answer': 1, 'status': None}", "null", "1", ""},
    /* [K19] The function run exists and takes the input. */
    {"x = 1", NULL, NULL, "it has no function run(input)"},
    {"run = 1", NULL, NULL, "its global run is no function"},
    {"def run(): pass", NULL, NULL, "run"},
    {"def run(a, b): pass", NULL, NULL, "run"},
    {"def run(*args): return args[0]['key']", "ok", "value", ""},
    {"def run(x, y=2): return x['key']", "ok", "value", ""},
    {"run = lambda input: input['key']", "ok", "value", ""},
    {"def _r(i): return i['key']\nrun = _r", "ok", "value", ""},
    /* [K21, K38] hermetic */
    {"load('x.star', 'x')\ndef run(input): pass", NULL, NULL, "SKILL.star:1:1: load is not available"},
    {"def run(input): open('/etc/passwd')", NULL, NULL, "SKILL.star:1:17: undefined: open"},
    {"def run(input): import os", NULL, NULL, "SKILL.star:1:17:"},
    {"def run(input): time.now()", NULL, NULL, "undefined: time"},
    {"def run(input): json.decode('1')", NULL, NULL, "undefined: json"},
    {"def run(input): agent.ask('x')", NULL, NULL, "undefined: agent"},
    /* [K33] errors with their place */
    {"def run(input):\n  return (", NULL, NULL, "error: metaskill 'x': SKILL.star:2:"},
    {"def run(input):\n    x = 1\n    return 1 // 0", NULL, NULL, "error: metaskill 'x': SKILL.star:3:14: "},
    {"def run(input): return input['nokey']", NULL, NULL, "SKILL.star:1:29: key \"nokey\" not"},
    {"def run(input): fail('no', 'way')", NULL, NULL, "no way"},
    {"fail('top')\ndef run(input): pass", NULL, NULL, "SKILL.star:1:5: "},
    {"def run(input):\n  for i in range(3):\n    input['key' + str(i)] = 1\n  return str(len(input))", "ok", "4", ""},
};
/* clang-format on */

TEST(results_are_made_one_envelope) /* [K31, K32, K33] */
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        struct tried t;

        try_init(&t);
        try_run(&t, results[i].program, "{\"key\":\"value\"}");
        printf("# %s\n", results[i].program);
        if (results[i].status) {
            CHECK(t.r.end == RUNTIME_COMPLETED);
            CHECK(str_starts(t.r.text, STR("[Metaskill: x completed]\n{")));
            CHECK(str_ends(t.r.text, t.r.envelope));
            CHECK(!str_has_char(t.r.envelope, '\n'));
            CHECK_STR(member_of(&t, "status"), results[i].status);
            CHECK_STR(str_dup0(t.r.status, &t.arena), results[i].status);
            CHECK_STR(member_of(&t, "answer"), results[i].answer);
            CHECK(text_has(t.r.envelope, results[i].more));
            CHECK(t.r.report.n == 0);
        } else {
            CHECK(t.r.end == RUNTIME_FAILED);
            CHECK(str_starts(t.r.text, STR("error: metaskill 'x': ")));
            CHECK(text_has(t.r.text, results[i].more));
            CHECK(t.r.envelope.n == 0);
            CHECK(str_is(t.r.status, "error"));
        }
        if (tap_failed)
            printf("# %.*s\n", STR_ARG(t.r.text));
        try_done(&t);
    }
}

TEST(an_error_comes_with_the_traceback)
{
    struct tried t;

    try_init(&t);
    try_run(&t,
            "def f(x):\n  return 1 // x\n"
            "def run(input):\n  return f(0)",
            "{}");
    CHECK_STR(str_dup0(t.r.text, &t.arena),
              "error: metaskill 'x': SKILL.star:2:12: floored division by "
              "zero");
    CHECK(text_has(t.r.report, "Traceback (most recent call last):\n"
                               "  SKILL.star:4:11: in run\n"
                               "  SKILL.star:2:12: in f\n"));
    CHECK(text_has(t.r.report, "    return 1 // x\n"));
    try_done(&t);
}

TEST(top_level_and_run_happen_once) /* [K19] */
{
    struct tried t;

    try_init(&t);
    try_run(&t,
            "print('top')\ndef run(input):\n  print('run')\n"
            "  return None",
            "{}");
    CHECK_STR(t.script.log.p, "step start x\nstep print top\nstep print run\n"
                              "step finish ok\n");
    try_done(&t);
}

/* --- ask and command --------------------------------------------------------------- */

static const struct answer long_answer[] = {
    {.text = STR_INIT("first"), .turns = 3},
    {.text = STR_INIT("second"), .exhausted = true, .turns = 30},
};
static const struct command_result two_outcomes[] = {
    {.ok = true, .exit_code = 0, .result = STR_INIT("out")},
    {.exit_code = 3, .result = STR_INIT("bad"), .truncated = true},
};

TEST(ask_and_command_give_dicts) /* [K22, K24, K27] */
{
    struct tried t;

    try_init(&t);
    t.script.answers = long_answer;
    t.script.answer_count = 2;
    t.script.outcomes = two_outcomes;
    t.script.outcome_count = 2;
    try_run(&t,
            "def run(input):\n"
            "  a = ask('one')\n"
            "  b = ask(prompt='two', opts={'purpose': 'p', 'max_turns': 4})\n"
            "  c = command(['ls', '-l', 'a b'])\n"
            "  d = command(argv=('false',), opts={'timeout': 7, 'x': [1]})\n"
            "  trace('t')\n"
            "  return {'a': a, 'b': b, 'c': c, 'd': d}\n",
            "{}");
    CHECK_STR(member_of(&t, "a"),
              "{\"answer\":\"first\",\"exhausted\":false,\"turns\":3,"
              "\"truncated\":false}");
    CHECK_STR(member_of(&t, "b"),
              "{\"answer\":\"second\",\"exhausted\":true,\"turns\":30,"
              "\"truncated\":false}");
    CHECK_STR(member_of(&t, "c"), "{\"ok\":true,\"exit_code\":0,\"result\":"
                                  "\"out\",\"truncated\":false}");
    CHECK_STR(member_of(&t, "d"), "{\"ok\":false,\"exit_code\":3,\"result\":"
                                  "\"bad\",\"truncated\":true}");
    CHECK(log_has(&t, "ask 1 [] 30 {}: one\n"));
    CHECK(log_has(&t, "ask 2 [p] 4 {\"purpose\":\"p\",\"max_turns\":4}: two"));
    CHECK(log_has(&t, "command 1 30s {}: "));
    CHECK(log_has(&t, "  ls\n  -l\n  a b\n"));
    CHECK(log_has(&t, "command 2 7s {\"timeout\":7,\"x\":[1]}: "));
    CHECK(t.r.asks == 2 && t.r.commands == 2 && t.r.traces == 1);
    try_done(&t);
}

/* [K23, K26] Any requested value is limited to the documented range. */
/* clang-format off */
static const struct {
    const char *call, *log;
} clamps[] = {
    {"ask('p', {'max_turns': 30})", "ask 1 [] 30 "},
    {"ask('p', {'max_turns': 31})", "ask 1 [] 30 "},
    {"ask('p', {'max_turns': 1000000})", "ask 1 [] 30 "},
    {"ask('p', {'max_turns': 1 << 100})", "ask 1 [] 30 "},
    {"ask('p', {'max_turns': 0})", "ask 1 [] 1 "},
    {"ask('p', {'max_turns': -(1 << 100)})", "ask 1 [] 1 "},
    {"ask('p', {'max_turns': 1})", "ask 1 [] 1 "},
    {"command(['a'], {'timeout': 120})", "command 1 120s "},
    {"command(['a'], {'timeout': 121})", "command 1 120s "},
    {"command(['a'], {'timeout': 0})", "command 1 1s "},
    {"command(['a'], {'timeout': -5})", "command 1 1s "},
    {"command(['a'])", "command 1 30s "},
};
/* clang-format on */

TEST(wishes_are_clamped) /* [K23, K26] */
{
    for (size_t i = 0; i < sizeof clamps / sizeof *clamps; i++) {
        struct tried t;
        char program[200];

        snprintf(program, sizeof program, "def run(input): %s\n",
                 clamps[i].call);
        try_init(&t);
        try_run(&t, program, "{}");
        CHECK(t.r.end == RUNTIME_COMPLETED);
        CHECK(log_has(&t, clamps[i].log));
        if (tap_failed)
            printf("# %s\n", clamps[i].call);
        try_done(&t);
    }
}

/* clang-format off */
static const struct {
    const char *call, *why;
} faults[] = {
    {"ask()", "ask"},
    {"ask(1)", "ask: prompt: got int, want string"},
    {"ask('a', 'b')", "ask: opts: got string, want dict"},
    {"ask('a', None)", "ask: opts: got NoneType, want dict"},
    {"ask('a', {'purpose': 1})", "ask: opts.purpose: got int, want string"},
    {"ask('a', {'max_turns': '4'})", "ask: opts.max_turns: got string, want int"},
    {"ask('a', {'max_turns': True})", "ask: opts.max_turns: got bool, want int"},
    {"ask('a', {'max_turns': 1.5})", "ask: opts.max_turns: got float, want int"},
    {"ask('a', {'x': run})", "ask: opts: "},
    {"ask('a', {1: 2})", "ask: opts: "},
    {"ask('a', opts={}, more=1)", "ask"},
    {"ask('a' * (4 * 1024 * 1024 + 1))", "ask: the prompt has more than 4194304 bytes"},
    {"command()", "command"},
    {"command(['a'], [])", "command: opts: got list, want dict"},
    {"command(['a'], {'timeout': 'x'})", "command: opts.timeout: got string, want int"},
    {"trace()", "trace"},
    {"trace(1)", "trace: kind: got int, want string"},
    {"trace('a', 1)", "trace: data: got int, want dict"},
    {"trace('a', {'f': len})", "trace: data: "},
    {"trace('a', {1: 2})", "trace: data: "},
    {"trace('a', {'x': float('inf')})", "trace: data: "},
};
/* clang-format on */

TEST(wrong_types_are_errors_of_the_program)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct tried t;
        char program[200];

        snprintf(program, sizeof program, "def run(input): %s\n",
                 faults[i].call);
        try_init(&t);
        try_run(&t, program, "{}");
        CHECK(t.r.end == RUNTIME_FAILED);
        CHECK(str_starts(t.r.text, STR("error: metaskill 'x': SKILL.star:1:")));
        CHECK(text_has(t.r.text, faults[i].why));
        CHECK(t.script.asked + t.script.commanded == 0);
        if (tap_failed)
            printf("# %s: %.*s\n", faults[i].call, STR_ARG(t.r.text));
        try_done(&t);
    }
}

/* [K25, K26] No shell strings; an invalid command gives a result, and uses
 * budget. */
static const char *const bad_argvs[] = {
    "[]",
    "[1]",
    "'ls -l'",
    "None",
    "{}",
    "['a', None]",
    "['']",
    "['a\\x00b']",
    "['a'] * 1001",
    "['a' * (256 * 1024 + 1)]",
    "['\xc3\xa4'[:1]]",
};

TEST(a_bad_argv_is_refused_and_counts) /* [K25, K26] */
{
    for (size_t i = 0; i < sizeof bad_argvs / sizeof *bad_argvs; i++) {
        struct tried t;
        char program[200];

        snprintf(program, sizeof program,
                 "def run(input):\n  r = command(%s)\n"
                 "  return {'r': [r['ok'], r['exit_code'], r['truncated'],"
                 " r['result'].startswith('error: ')]}\n",
                 bad_argvs[i]);
        try_init(&t);
        try_run(&t, program, "{}");
        CHECK_STR(member_of(&t, "r"), "[false,-1,false,true]");
        CHECK(t.r.commands == 1 && t.script.commanded == 0);
        CHECK(log_has(&t, "step command\nstep command done\n"));
        if (tap_failed)
            printf("# %s: %.*s\n", bad_argvs[i], STR_ARG(t.r.text));
        try_done(&t);
    }
}

/* [K24, K29, row 22] 20,000 and 20,001 characters; the result is always
 * UTF-8. */
TEST(answers_and_outcomes_are_cut) /* [K24, K29] */
{
    struct tried t;
    char text[40002];
    struct answer answers[4] = {{.turns = 1}};
    struct command_result outcomes[2] = {{.exit_code = 0}};

    for (size_t i = 0; i < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa4", 2);
    answers[0].text = str_make(text, 40000);
    answers[1].text = str_make(text, 40002);
    answers[2].text = STR("a\xff\xc3");
    answers[3].text = STR("n\0ul");
    outcomes[0].result = str_make(text, 40000);
    outcomes[1].result = str_make(text, 40002);
    try_init(&t);
    t.script.answers = answers;
    t.script.answer_count = 4;
    t.script.outcomes = outcomes;
    t.script.outcome_count = 2;
    try_run(&t,
            "def size(s): return len([c for c in s.codepoints()])\n"
            "def run(input):\n"
            "  r = []\n"
            "  for i in range(2):\n"
            "    a = ask('p')\n"
            "    r += [size(a['answer']), a['truncated']]\n"
            "    c = command(['c'])\n"
            "    r += [size(c['result']), c['truncated']]\n"
            "  r += [ask('p')['answer'], ask('p')['answer']]\n"
            "  return {'r': r}\n",
            "{}");
    CHECK_STR(member_of(&t, "r"),
              "[20000,false,20000,false,20000,true,20000,true,"
              "\"a\xef\xbf\xbd\xef\xbf\xbd\",\"n\\u0000ul\"]");
    try_done(&t);
}

TEST(an_ask_that_fails_ends_the_run)
{
    struct tried t;

    try_init(&t);
    t.script.ask_fails = true;
    try_run(&t, "def run(input):\n  ask('p')\n  print('never')", "{}");
    CHECK_STR(str_dup0(t.r.text, &t.arena),
              "error: metaskill 'x': ask nobody: the model is ill (name "
              "another)");
    CHECK(log_has(&t, "step ask done failed\nstep finish failed error\n"));
    CHECK(!log_has(&t, "never"));
    try_done(&t);
}

/* --- budgets ------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *program;
    unsigned asks, commands; /* limits */
    unsigned asked, commanded;
    const char *error; /* NULL: it completes */
} budgets[] = {
    /* [K29] 5 and 10 by default; 6 and 11 are too many. */
    {"for i in range(5): ask('p')", 0, 0, 5, 0, NULL},
    {"for i in range(6): ask('p')", 0, 0, 5, 0, "ask budget exhausted: 5 calls (run_max_asks)"},
    {"for i in range(10): command(['c'])", 0, 0, 0, 10, NULL},
    {"for i in range(11): command(['c'])", 0, 0, 0, 10, "command budget exhausted: 10 calls (run_max_commands)"},
    {"for i in range(11): command([])", 0, 0, 0, 0, "command budget exhausted: 10 calls"},
    /* [K30] Lower and higher limits; no command at all. */
    {"for i in range(2): ask('p')", 1, 1, 1, 0, "ask budget exhausted: 1 calls"},
    {"for i in range(20): ask('p')", 20, 1, 20, 0, NULL},
    {"command(['c'])", 1, 99, 0, 1, NULL},
    {"command(['c'])", 1, 0, 0, 0, NULL /* see below */},
    /* [K28] traces use no budget */
    {"for i in range(500): trace('t')", 1, 1, 0, 0, NULL},
};
/* clang-format on */

TEST(budgets_are_kept) /* [K28, K29, K30] */
{
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        struct tried t;
        char program[200];

        snprintf(program, sizeof program, "def run(input):\n  %s\n",
                 budgets[i].program);
        try_init(&t);
        if (budgets[i].asks) {
            t.limits.run_max_asks.value = budgets[i].asks;
            t.limits.run_max_commands.value = budgets[i].commands;
        }
        try_run(&t, program, "{}");
        CHECK(t.script.asked == budgets[i].asked);
        CHECK(t.script.commanded == budgets[i].commanded);
        if (budgets[i].error)
            CHECK(t.r.end == RUNTIME_FAILED &&
                  text_has(t.r.text, budgets[i].error));
        else if (budgets[i].asks && !budgets[i].commands)
            CHECK(text_has(t.r.text, "command budget exhausted: 0 calls"));
        else
            CHECK(t.r.end == RUNTIME_COMPLETED);
        if (tap_failed)
            printf("# %s: %.*s\n", budgets[i].program, STR_ARG(t.r.text));
        try_done(&t);
    }
}

/* --- trace ---------------------------------------------------------------------------- */

TEST(the_trace_is_the_hosts) /* [K28, K35] */
{
    struct tried t;

    try_init(&t);
    try_run(&t,
            "def run(input):\n"
            "  trace('one')\n"
            "  trace('two', {'a': [1, 'x']})\n"
            "  trace('\xc3\xa4' * 201, {})\n"
            "  return {'trace': ['forged'], 'status': 's'}\n",
            "{}");
    CHECK(text_has(t.r.envelope,
                   "\"trace\":[{\"kind\":\"metaskill_start\",\"data\":{"
                   "\"name\":\"x\",\"language\":\"starlark\"}},"
                   "{\"kind\":\"one\"},"
                   "{\"kind\":\"two\",\"data\":{\"a\":[1,\"x\"]}},"));
    CHECK(text_has(t.r.envelope,
                   "{\"kind\":\"metaskill_finish\",\"data\":{\"name\":\"x\","
                   "\"status\":\"s\",\"ask_calls\":0,\"command_calls\":0,"
                   "\"duration_s\":0."));
    CHECK(!text_has(t.r.envelope, "forged"));
    CHECK(t.r.traces == 3);
    const struct json *third = json_get(envelope_of(&t), "trace")->first;
    for (int i = 0; i < 3; i++)
        third = third->next;
    CHECK(text_count(json_text(json_get(third, "kind"))) == 200);
    CHECK(log_has(&t, "step trace two {\"a\":[1,\"x\"]}\n"));
    try_done(&t);
}

TEST(traces_are_capped_in_number_and_size) /* [K28] */
{
    struct tried t;

    try_init(&t);
    try_run(&t,
            "def run(input):\n"
            "  trace('full', {'a': 'x' * (4096 - 8)})\n"
            "  trace('over', {'a': 'x' * (4096 - 7)})\n"
            "  trace('huge', {'a': 'x' * 10000000})\n"
            "  for i in range(98): trace('n')\n"
            "  return None",
            "{}");
    CHECK(t.r.traces == 100);
    CHECK(text_has(t.r.envelope, "[{\"kind\":\"metaskill_start\""));
    CHECK(!log_has(&t, "step trace full {\"truncated\":true}"));
    CHECK(log_has(&t, "step trace over {\"truncated\":true}\n"));
    CHECK(log_has(&t, "step trace huge {\"truncated\":true}\n"));
    try_done(&t);
}

/* --- too long a result [K35] ------------------------------------------------------------ */

/* clang-format off */
static const struct {
    const char *value; /* of run() */
    size_t answer_chars;
    bool trace_cut, answer_cut;
    const char *error;
} lengths[] = {
    {"'x' * 1000", 1000, false, false, NULL},
    {"'x' * 19900", 19900, true, false, NULL},
    {"'x' * 200000", 10000, true, true, NULL},
    {"'\xe2\x82\xac' * 200000", 10000, true, true, NULL},
    {"{'answer': 'x' * 60000000, 'n': 1}", 10000, true, true, NULL},
    /* the rest is large: less than half an answer fits */
    {"{'answer': 'x' * 20000, 'more': 'y' * 15000}", 4873, true, true, NULL},
    /* characters that are two and six as JSON */
    {"'\\n' * 30000", 9945, true, true, NULL},
    {"'\\x01' * 30000", 3315, true, true, NULL},
    /* the huge one is another */
    {"{'answer': 'x', 'more': 'y' * 20000}", 0, false, false, "beside its answer (result_max_chars)"},
    {"{'answer': ['x'] * 20000}", 0, false, false, "(result_max_chars)"},
    {"{'more': 'y' * 10000000}", 0, false, false, "returned more than fits in a result"},
    {"{'status': 'y' * 30000}", 0, false, false, "(result_max_chars)"},
};
/* clang-format on */

TEST(long_results_are_cut_in_order) /* [K35] */
{
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct tried t;
        char program[400];
        const struct json *j;

        snprintf(program, sizeof program,
                 "def run(input):\n  for i in range(9): trace('t', {'x': 'y' * "
                 "100})\n  return %s\n",
                 lengths[i].value);
        try_init(&t);
        try_run(&t, program, "{}");
        printf("# %s\n", lengths[i].value);
        CHECK(text_count(t.r.text) <= 20000);
        if (lengths[i].error) {
            CHECK(t.r.end == RUNTIME_FAILED);
            CHECK(text_has(t.r.text, lengths[i].error));
        } else {
            j = envelope_of(&t);
            CHECK(j && t.r.end == RUNTIME_COMPLETED);
            size_t chars = text_count(json_text(json_get(j, "answer")));
            CHECK(chars >= lengths[i].answer_chars &&
                  chars <= lengths[i].answer_chars + 30);
            CHECK((json_get(j, "answer_truncated") != NULL) ==
                  lengths[i].answer_cut);
            CHECK(text_has(t.r.envelope,
                           "\"trace\":[{\"kind\":\"truncated\"}]") ==
                  lengths[i].trace_cut);
            if (tap_failed)
                printf("# %zu\n", chars);
        }
        try_done(&t);
    }
}

/* --- the programs of the specification [K39] --------------------------------------------- */

static struct str skill_program(const char *name, struct arena *a)
{
    struct str text = {0};
    struct err e = {0};
    struct str path =
        arena_printf(a, "%s/examples/catalog/skills/%s/SKILL.star",
                     getenv("ROOT") ? getenv("ROOT") : ".", name);

    if (!fs_read_user_file(path.p, PROGRAM_MAX_BYTES, a, &text, &e))
        printf("# %s\n", err_first(&e));
    return text;
}

/* clang-format off */
static const struct answer drafts[] = {
    {.text = STR_INIT("Nothing of it."), .turns = 1},
    {.text = STR_INIT("# Notes\n## Upgrading\nRun it."), .turns = 2},
};
static const struct answer lists[] = {
    {.text = STR_INIT("- install it"), .turns = 1},
    {.text = STR_INIT("- install it\n- test it\n- rollback"), .turns = 1},
};
static const struct command_result tests[] = {
    {.exit_code = 1, .result = STR_INIT("FAILED test_a")},
    {.exit_code = 1, .result = STR_INIT("FAILED test_b")},
    {.ok = true, .result = STR_INIT("2 passed")},
};
static const struct command_result diff[] = {{.ok = true, .result = STR_INIT("--- a\n+++ b\n")}};
static const struct answer review[] = {{.text = STR_INIT("No bugs."), .turns = 1}};

#define PLAY(list) list, sizeof list / sizeof *list
static const struct {
    const char *name, *input;
    const struct answer *answers;
    size_t answer_count;
    const struct command_result *outcomes;
    size_t outcome_count;
    unsigned asks, commands;
    const char *status, *answer;
} catalog[] = {
    {"require-heading", "{\"task\":\"notes\",\"heading\":\"## Upgrading\"}", PLAY(drafts), NULL, 0, 2, 0, "accepted", "# Notes\n## Upgrading\nRun it."},
    {"require-heading", "{\"task\":\"notes\",\"heading\":\"## Other\"}", PLAY(drafts), NULL, 0, 3, 0, "exhausted", "# Notes\n## Upgrading\nRun it."},
    {"require-checklist", "{\"task\":\"deploy\"}", PLAY(lists), NULL, 0, 2, 0, "accepted", "- install it\n- test it\n- rollback"},
    {"test-fix", "{}", PLAY(review), PLAY(tests), 2, 3, "accepted", "The tests pass."},
    {"review-diff", "{}", PLAY(review), PLAY(diff), 1, 1, "ok", "No bugs."},
};
/* clang-format on */

TEST(the_programs_of_the_catalog_run) /* [K39] */
{
    for (size_t i = 0; i < sizeof catalog / sizeof *catalog; i++) {
        struct tried t;

        try_init(&t);
        t.script.answers = catalog[i].answers;
        t.script.answer_count = catalog[i].answer_count;
        t.script.outcomes = catalog[i].outcomes;
        t.script.outcome_count = catalog[i].outcome_count;
        struct str program = skill_program(catalog[i].name, &t.arena);
        try_run(&t, str_dup0(program, &t.arena), catalog[i].input);
        CHECK_STR(member_of(&t, "status"), catalog[i].status);
        CHECK_STR(member_of(&t, "answer"), catalog[i].answer);
        CHECK(t.r.asks == catalog[i].asks);
        CHECK(t.r.commands == catalog[i].commands);
        if (tap_failed)
            printf("# %s: %.*s\n", catalog[i].name, STR_ARG(t.r.text));
        try_done(&t);
    }
}

/* The text of the specification, word for word. */
static const char *const of_the_specification[] = {
    /* 2 */
    "def run(input):\n"
    "    task = input[\"task\"]\n"
    "    heading = input[\"heading\"]\n"
    "    for i in range(3):\n"
    "        result = ask(task, {\n"
    "            \"purpose\": \"draft\",\n"
    "            \"max_turns\": 4,\n"
    "        })\n"
    "        if heading in result[\"answer\"]:\n"
    "            return {\n"
    "                \"status\": \"accepted\",\n"
    "                \"answer\": result[\"answer\"],\n"
    "                \"attempts\": i + 1,\n"
    "            }\n"
    "        trace(\"missing-heading\", {\n"
    "            \"attempt\": i + 1,\n"
    "            \"heading\": heading,\n"
    "        })\n"
    "        task = (\n"
    "            \"Revise the draft so it includes this exact heading:\\n\" +\n"
    "            heading +\n"
    "            \"\\n\\nPrevious draft:\\n\" +\n"
    "            result[\"answer\"]\n"
    "        )\n"
    "    return {\n"
    "        \"status\": \"exhausted\",\n"
    "        \"answer\": result[\"answer\"],\n"
    "        \"warning\": \"The required heading was still missing.\",\n"
    "    }\n",
    /* 11, the first */
    "def run(input):\n"
    "    test_command = input.get(\"test_command\", [\"pytest\", \"-q\"])\n"
    "    for i in range(3):\n"
    "        result = command(test_command, {\"timeout\": 120})\n"
    "        trace(\"test-run\", {\n"
    "            \"attempt\": i + 1,\n"
    "            \"ok\": result[\"ok\"],\n"
    "        })\n"
    "        if result[\"ok\"]:\n"
    "            return {\n"
    "                \"status\": \"accepted\",\n"
    "                \"answer\": \"Tests passed.\",\n"
    "                \"attempts\": i + 1,\n"
    "            }\n"
    "        ask(\n"
    "            \"The tests failed. Fix the problem, then stop.\\n\\n\" +\n"
    "            result[\"result\"],\n"
    "            {\n"
    "                \"purpose\": \"fix-tests\",\n"
    "                \"max_turns\": 10,\n"
    "            },\n"
    "        )\n"
    "    return {\n"
    "        \"status\": \"exhausted\",\n"
    "        \"answer\": result[\"result\"],\n"
    "        \"warning\": \"Tests still failed after 3 attempts.\",\n"
    "    }\n",
    /* 11, the second */
    "def run(input):\n"
    "    task = input[\"task\"]\n"
    "    required = input.get(\"required\", [\"install\", \"test\", "
    "\"rollback\"])\n"
    "    for i in range(3):\n"
    "        result = ask(task, {\n"
    "            \"purpose\": \"draft-checklist\",\n"
    "            \"max_turns\": 4,\n"
    "        })\n"
    "        missing = []\n"
    "        for word in required:\n"
    "            if word not in result[\"answer\"].lower():\n"
    "                missing.append(word)\n"
    "        if not missing:\n"
    "            return {\n"
    "                \"status\": \"accepted\",\n"
    "                \"answer\": result[\"answer\"],\n"
    "                \"attempts\": i + 1,\n"
    "            }\n"
    "        trace(\"missing-words\", {\n"
    "            \"attempt\": i + 1,\n"
    "            \"missing\": missing,\n"
    "        })\n"
    "        task = (\n"
    "            \"Revise the checklist. It must include these words: \" +\n"
    "            \", \".join(missing) +\n"
    "            \"\\n\\nPrevious checklist:\\n\" +\n"
    "            result[\"answer\"]\n"
    "        )\n"
    "    return {\n"
    "        \"status\": \"exhausted\",\n"
    "        \"answer\": result[\"answer\"],\n"
    "        \"missing\": missing,\n"
    "    }\n",
    /* 11, the third */
    "def run(input):\n"
    "    diff = command([\"git\", \"diff\"], {\"timeout\": 30})\n"
    "    if not diff[\"ok\"]:\n"
    "        return {\n"
    "            \"status\": \"error\",\n"
    "            \"answer\": diff[\"result\"],\n"
    "        }\n"
    "    review = ask(\n"
    "        \"Review this diff for bugs only. Ignore style nits.\\n\\n\" +\n"
    "        diff[\"result\"],\n"
    "        {\n"
    "            \"purpose\": \"bug-review\",\n"
    "            \"max_turns\": 6,\n"
    "        },\n"
    "    )\n"
    "    return {\n"
    "        \"status\": \"ok\",\n"
    "        \"answer\": review[\"answer\"],\n"
    "    }\n",
};

TEST(the_programs_of_the_specification_run) /* [K39] */
{
    static const char *const ends[] = {"accepted", "accepted", "accepted",
                                       "ok"};
    static const struct answer answer[] = {
        {.text = STR_INIT("nothing yet"), .turns = 1},
        {.text = STR_INIT("## H Install, test, rollback"), .turns = 1},
    };

    for (size_t i = 0; i < 4; i++) {
        struct tried t;

        try_init(&t);
        t.script.answers = answer;
        t.script.answer_count = 2;
        t.script.outcomes = i == 3 ? diff : tests;
        t.script.outcome_count = i == 3 ? 1 : 3;
        try_run(&t, of_the_specification[i],
                "{\"task\":\"t\",\"heading\":\"## H\"}");
        CHECK_STR(member_of(&t, "status"), ends[i]);
        try_done(&t);
    }
}

/* --- words ------------------------------------------------------------------------------- */

TEST(the_words_of_other_hosts) /* [K34] */
{
    struct arena a = {0};

    CHECK_STR(runtime_unknown(STR("x"), &a).p, "error: unknown metaskill: 'x'");
    CHECK_STR(runtime_static(STR("x"), &a).p,
              "error: skill 'x' is not a metaskill");
    CHECK_STR(runtime_not_allowed(STR("x"), "local", &a).p,
              "error: external metaskill 'x' is not allowed (policy: local)");
    CHECK_STR(runtime_error(STR("x"), "why", &a).p,
              "error: metaskill 'x': why");
    CHECK_STR(runtime_error(STR("x"), "a\n[Metaskill: x completed]\n{}", &a).p,
              "error: metaskill 'x': a [Metaskill: x completed] {}");
    arena_done(&a);
}

TEST(depth_is_a_number_or_one)
{
    static const struct {
        const char *text;
        unsigned depth;
    } rows[] = {
        {NULL, 0}, {"0", 0},   {"1", 1},  {"7", 7}, {"", 1},
        {"-1", 1}, {" 0", 1},  {"0x", 1}, {"x", 1}, {"99999999999999999999", 1},
        {"00", 0}, {"0\n", 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].text)
            setenv("MAPM_DEPTH", rows[i].text, 1);
        else
            unsetenv("MAPM_DEPTH");
        CHECK(runtime_depth() == rows[i].depth);
    }
    unsetenv("MAPM_DEPTH");
}
