#include "base/json.h"
#include "mapm/runtime.h"
#include "mapm/tape.h"

#include "tap.h"

/* [K33, K39, row 16, row 21, row 22] tapes as they are read, written and played. */

#define HEAD "{\"tape\":1,\"name\":\"x\",\"digest\":\"\",\"input\":{\"a\":1}}\n"
#define ASK  "{\"ask\":{\"prompt\":\"p\"},\"result\":{\"answer\":\"yes\"}}\n"
#define RUN                                                                    \
    "{\"command\":{\"argv\":[\"ls\"]},\"result\":{\"result\":\"f\\n\"}}\n"
#define END   "{\"envelope\":{\"status\":\"ok\",\"answer\":\"\"}}\n"
#define ZEROS "00000000000000000000000000000000"

static struct err last;

static bool parse(const char *text, struct arena *a, struct tape *t)
{
    last = (struct err){0};
    return tape_parse(str_cstr(text), "x.jsonl", a, t, &last);
}

/* --- reading ------------------------------------------------------------------- */

TEST(a_tape_is_read)
{
    struct arena a = {0};
    struct tape t = {0};
    const struct tape_entry *entry;
    const char *text =
        "{\"tape\":1,\"name\":\"test-fix\",\"digest\":\"sha256:" ZEROS ZEROS
        "\",\"input\":{\"a\":[1, 2]},\"limits\":{\"run_max_asks\":7}}\n"
        "{\"ask\":{\"prompt\":\"do\\nit\",\"opts\":{\"max_turns\":4}},"
        "\"result\":{\"answer\":\"\\u00e4\",\"exhausted\":true,\"turns\":6,"
        "\"truncated\":true}}\n"
        "{\"ask\":{\"prompt\":\"\"},\"result\":{\"error\":\"no model\"}}\n"
        "{\"command\":{\"argv\":[\"make\",\"\"],\"opts\":{}},\"result\":{"
        "\"ok\":false,\"exit_code\":-1,\"result\":\"error: x\","
        "\"truncated\":false}}\n"
        "{\"error\":\"error: y\"}"; /* no LF: fine */

    CHECK(parse(text, &a, &t));
    CHECK_STR(err_first(&last), "");
    CHECK(str_is(t.name, "test-fix") && t.digest.n == 71);
    CHECK(str_is(t.input, "{\"a\":[1, 2]}"));
    CHECK(t.limits.run_max_asks.value == 7);
    CHECK(t.limits.run_max_commands.value == RUN_MAX_COMMANDS);
    CHECK(t.count == 3 && t.envelope.n == 0 && str_is(t.error, "error: y"));
    CHECK(t.end_line == 5);
    entry = &t.entries[0];
    CHECK(entry->is_ask && entry->line == 2);
    CHECK(str_is(entry->prompt, "do\nit"));
    CHECK(str_is(entry->opts, "{\"max_turns\":4}"));
    CHECK(str_is(entry->answer.text, "\xc3\xa4"));
    CHECK(entry->answer.exhausted && entry->answer.truncated);
    CHECK(entry->answer.turns == 6);
    CHECK(str_is(t.entries[1].failure, "no model"));
    CHECK(str_is(t.entries[1].opts, "{}"));
    entry = &t.entries[2];
    CHECK(!entry->is_ask && entry->argc == 2 && entry->argv[1].n == 0);
    CHECK(!entry->outcome.ok && entry->outcome.exit_code == -1);
    CHECK(str_is(entry->outcome.result, "error: x"));
    arena_done(&a);
}

TEST(a_tape_that_is_not_ended_is_read_as_begun)
{
    struct arena a = {0};
    struct tape t = {0};

    last = (struct err){0};
    CHECK(!parse(HEAD ASK, &a, &t));
    CHECK(tape_parse_begun(str_cstr(HEAD ASK RUN), "x", &a, &t, &last));
    CHECK(t.count == 2 && !t.envelope.n && !t.error.n && !t.end_line);
    CHECK(tape_parse_begun(str_cstr(HEAD), "x", &a, &t, &last));
    CHECK(t.count == 0);
    CHECK(!tape_parse_begun(STR(""), "x", &a, &t, &last));
    CHECK(last.code == ERR_FORMAT);
    CHECK(!tape_parse_begun(str_cstr(ASK), "x", &a, &t, &last));
    arena_done(&a);
}

TEST(what_a_hand_leaves_out)
{
    struct arena a = {0};
    struct tape t = {0};

    CHECK(parse("{\"tape\":1,\"name\":\"x\",\"input\":{}}\r\n" ASK RUN
                "{\"command\":{\"argv\":[\"a\"]},\"result\":{\"exit_code\":2,"
                "\"result\":\"\"}}\n" END,
                &a, &t));
    CHECK_STR(err_first(&last), "");
    CHECK(t.digest.n == 0 && str_is(t.input, "{}"));
    CHECK(!t.entries[0].answer.exhausted && !t.entries[0].answer.truncated);
    CHECK(t.entries[0].answer.turns == 1);
    CHECK(t.entries[1].outcome.ok && t.entries[1].outcome.exit_code == 0);
    CHECK(!t.entries[2].outcome.ok && t.entries[2].outcome.exit_code == 2);
    CHECK(str_is(t.envelope, "{\"status\":\"ok\",\"answer\":\"\"}"));
    arena_done(&a);
}

TEST(what_is_no_tape)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"", "x.jsonl: no tape: it is empty"},
        {"\n", "x.jsonl:1: column 1: expected a value, not the end"},
        {"[]\n", "x.jsonl:1: a line of a tape is a JSON object"},
        {"{}\n", "x.jsonl:1: no tape: its first line has no \"tape\""},
        {"{\"tape\":2,\"more\":1}\n",
         "x.jsonl:1: a tape of a version that this program does not know"},
        {"{\"tape\":\"1\"}\n",
         "x.jsonl:1: a tape of a version that this program does not know"},
        {"{\"tape\":1,\"name\":\"x\"}\n",
         "x.jsonl:1: the head of the tape: \"input\" is missing"},
        {"{\"tape\":1,\"name\":\"X\",\"input\":{}}\n",
         "x.jsonl:1: \"name\" is not the name of a metaskill"},
        {"{\"tape\":1,\"name\":\"x\",\"input\":[]}\n",
         "x.jsonl:1: the head of the tape: \"input\" has to be an object"},
        {"{\"tape\":1,\"name\":\"x\",\"input\":{},\"digest\":\"sha256:00\"}\n",
         "x.jsonl:1: \"digest\" has to be \"sha256:\" and 64 digits"},
        {"{\"tape\":1,\"name\":\"x\",\"input\":{},\"time\":1}\n",
         "x.jsonl:1: the head of the tape: unknown key \"time\""},
        {"{\"tape\":1,\"name\":\"x\",\"input\":{},\"limits\":"
         "{\"run_max_asks\":21}}\n",
         "x.jsonl:1: limits: run_max_asks has to be a number from 1 to 20"},
        {"{\"tape\":1,\"name\":\"x\",\"input\":{},\"limits\":"
         "{\"run_max_seconds\":1}}\n",
         "x.jsonl:1: limits: no limit of a tape: \"run_max_seconds\""},
        {HEAD,
         "x.jsonl:1: the tape ends here, without an envelope or an error"},
        {HEAD ASK,
         "x.jsonl:2: the tape ends here, without an envelope or an error"},
        {HEAD "{\"ask\":{\"prompt\":\"p\"},\"res",
         "x.jsonl:2: column 27: expected the end of the string, not the end"},
        {HEAD END "\n",
         "x.jsonl:3: something stands behind the end of the tape"},
        {HEAD END END,
         "x.jsonl:3: something stands behind the end of the tape"},
        {HEAD "\n" END, "x.jsonl:2: column 1: expected a value, not the end"},
        {HEAD "{}\n", "x.jsonl:2: the line: \"result\" is missing"},
        {HEAD "{\"result\":{}}\n",
         "x.jsonl:2: the line has to have either \"ask\" or \"command\""},
        {HEAD "{\"ask\":{},\"command\":{},\"result\":{}}\n",
         "x.jsonl:2: the line has to have either \"ask\" or \"command\""},
        {HEAD "{\"ask\":\"p\",\"result\":{}}\n",
         "x.jsonl:2: the line: \"ask\" has to be an object"},
        {HEAD "{\"ask\":{},\"result\":{}}\n",
         "x.jsonl:2: ask: \"prompt\" is missing"},
        {HEAD "{\"ask\":{\"prompt\":\"p\",\"opts\":[]},\"result\":{}}\n",
         "x.jsonl:2: ask: \"opts\" has to be an object"},
        {HEAD "{\"ask\":{\"prompt\":\"p\"},\"result\":{}}\n",
         "x.jsonl:2: result: \"answer\" is missing"},
        {HEAD "{\"ask\":{\"prompt\":\"p\"},\"result\":{\"answer\":\"\","
              "\"exhausted\":0}}\n",
         "x.jsonl:2: result: \"exhausted\" has to be true or false"},
        {HEAD "{\"ask\":{\"prompt\":\"p\"},\"result\":{\"answer\":\"\","
              "\"turns\":1.5}}\n",
         "x.jsonl:2: \"turns\" has to be a whole number, at most 4294967295"},
        {HEAD "{\"ask\":{\"prompt\":\"p\"},\"result\":{\"error\":\"\"}}\n",
         "x.jsonl:2: \"error\" is empty"},
        {HEAD "{\"ask\":{\"prompt\":\"p\"},\"result\":{\"error\":\"e\","
              "\"answer\":\"\"}}\n",
         "x.jsonl:2: result: unknown key \"answer\""},
        {HEAD "{\"command\":{\"argv\":[]},\"result\":{}}\n",
         "x.jsonl:2: command: \"argv\" has to have 1 to 1000 words"},
        {HEAD "{\"command\":{\"argv\":[1]},\"result\":{}}\n",
         "x.jsonl:2: command: \"argv\" has to be a list of strings"},
        {HEAD "{\"command\":{\"argv\":\"ls\"},\"result\":{}}\n",
         "x.jsonl:2: command: \"argv\" has to be an array"},
        {HEAD "{\"command\":{\"argv\":[\"a\"]},\"result\":{\"ok\":true,"
              "\"exit_code\":1,\"result\":\"\"}}\n",
         "x.jsonl:2: result: \"ok\" with an \"exit_code\" other than 0"},
        {HEAD "{\"command\":{\"argv\":[\"a\"]},\"result\":{\"ok\":false,"
              "\"result\":\"\"}}\n",
         "x.jsonl:2: result: \"ok\" is false: \"exit_code\" is missing"},
        {HEAD "{\"command\":{\"argv\":[\"a\"]},\"result\":{\"exit_code\":-2,"
              "\"result\":\"\"}}\n",
         "x.jsonl:2: \"exit_code\" has to be a whole number, at most 65535"},
        {HEAD "{\"envelope\":{},\"error\":\"error: x\"}\n",
         "x.jsonl:2: the tape ends with an envelope and an error"},
        {HEAD "{\"envelope\":\"\"}\n",
         "x.jsonl:2: the end of the tape: \"envelope\" has to be an object"},
        {HEAD "{\"error\":\"it failed\"}\n",
         "x.jsonl:2: \"error\" has to begin with \"error:\""},
        {HEAD "{\"envelope\":{},\"envelope\":{}}\n",
         "x.jsonl:2: column 16: \"envelope\" is given twice"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct tape t = {0};

        CHECK(!parse(rows[i].text, &a, &t));
        CHECK_STR(err_first(&last), rows[i].why);
        CHECK(t.file == NULL); /* untouched */
        arena_done(&a);
    }
}

/* [row 16] each reader takes a maximum. */
TEST(a_tape_is_bounded)
{
    struct arena a = {0};
    struct tape t = {0};
    struct buf b;

    buf_init(&b, (size_t)2 * TAPE_MAX_BYTES);
    buf_text(&b, HEAD);
    for (int i = 0; i < TAPE_MAX_ENTRIES; i++)
        buf_text(&b, ASK);
    buf_text(&b, END);
    CHECK(parse(b.p, &a, &t) && t.count == TAPE_MAX_ENTRIES);
    buf_clear(&b);
    buf_text(&b, HEAD);
    for (int i = 0; i <= TAPE_MAX_ENTRIES; i++)
        buf_text(&b, ASK);
    buf_text(&b, END);
    CHECK(!parse(b.p, &a, &t) && last.code == ERR_LIMIT);

    buf_clear(&b);
    buf_text(&b, HEAD "{\"envelope\":{\"a\":[");
    for (int i = 0; i < TAPE_MAX_NODES; i++)
        buf_text(&b, "1,");
    buf_text(&b, "1]}}\n");
    CHECK(!parse(b.p, &a, &t) && last.code == ERR_LIMIT);

    buf_clear(&b);
    buf_text(&b, HEAD "{\"envelope\":{\"a\":");
    for (int i = 0; i < 1000; i++)
        buf_char(&b, '[');
    CHECK(!parse(b.p, &a, &t) && last.code == ERR_LIMIT);

    buf_clear(&b);
    buf_text(&b, HEAD);
    for (size_t i = 0; i < TAPE_MAX_BYTES; i += 64)
        buf_text(&b, "                                "
                     "                                ");
    CHECK(!parse(b.p, &a, &t) && last.code == ERR_LIMIT);
    buf_done(&b);
    arena_done(&a);
}

/* --- a run, played by hand --------------------------------------------------------- */

static bool ask(struct runtime_host *h, const char *prompt, const char *opts,
                struct arena *a, struct answer *out)
{
    struct ask in = {
        .number = 1,
        .prompt = str_cstr(prompt),
        .opts = str_cstr(opts),
        .max_chars = ANSWER_MAX_CHARS,
    };

    last = (struct err){0};
    return h->ask(h->ctx, &in, a, out, &last);
}

static bool command(struct runtime_host *h, const char *word, const char *opts,
                    struct arena *a, struct command_result *out)
{
    struct str argv[2] = {str_cstr(word), STR("-x")};
    struct command in = {
        .number = 1,
        .argv = argv,
        .argc = 2,
        .opts = str_cstr(opts),
        .max_chars = COMMAND_MAX_CHARS,
    };

    last = (struct err){0};
    return h->command(h->ctx, &in, a, out, &last);
}

static struct runtime_result completed(const char *envelope)
{
    return (struct runtime_result){
        .end = RUNTIME_COMPLETED,
        .text = STR("[Metaskill: x completed]\n"),
        .envelope = str_cstr(envelope),
        .status = STR("ok"),
    };
}

#define PLAY(text)                                                             \
    struct arena a = {0};                                                      \
    struct tape t = {0};                                                       \
    struct tape_player p = {.tape = &t, .arena = &a};                          \
    struct runtime_host h = tape_replay(&p);                                   \
    CHECK(parse(text, &a, &t))

TEST(a_run_as_it_was)
{
    struct answer answer;
    struct command_result outcome;
    struct runtime_result r = completed("{\"answer\":\"\",\"status\":\"ok\"}");
    PLAY(HEAD
         "{\"ask\":{\"prompt\":\"p\",\"opts\":{\"a\":1,\"b\":[2.0]}},"
         "\"result\":{\"answer\":\"yes\",\"turns\":3}}\n"
         "{\"command\":{\"argv\":[\"ls\",\"-x\"]},\"result\":{\"result\":\"f"
         "\"}}\n" END);

    CHECK(ask(&h, "p", "{ \"b\": [20e-1], \"a\": 1 }", &a, &answer));
    CHECK(str_is(answer.text, "yes") && answer.turns == 3);
    CHECK(command(&h, "ls", "{}", &a, &outcome));
    CHECK(outcome.ok && str_is(outcome.result, "f"));
    CHECK(tape_verify(&p, &r, &a).n == 0 && p.difference.n == 0);
    arena_done(&a);
}

/* [K24, K29] what stands on a tape is cut as any answer is. */
TEST(limits_hold_for_a_tape)
{
    struct answer answer;
    struct ask in = {.prompt = STR("p"), .opts = STR("{}"), .max_chars = 2};
    PLAY(HEAD "{\"ask\":{\"prompt\":\"p\"},\"result\":{\"answer\":"
              "\"\xc3\xa4\xc3\xa4\xc3\xa4\"}}\n" END);

    CHECK(h.ask(h.ctx, &in, &a, &answer, &last));
    CHECK(str_is(answer.text, "\xc3\xa4\xc3\xa4") && answer.truncated);
    arena_done(&a);
}

TEST(an_ask_that_failed_fails_again)
{
    struct answer answer;
    PLAY(HEAD "{\"ask\":{\"prompt\":\"p\"},\"result\":{\"error\":\"no "
              "model\"}}\n{\"error\":\"error: x\"}\n");

    CHECK(!ask(&h, "p", "{}", &a, &answer));
    CHECK_STR(err_first(&last), "no model");
    CHECK(p.difference.n == 0);
    arena_done(&a);
}

static const char *text_of(struct str s, struct arena *a)
{
    return str_dup0(s, a);
}

TEST(another_prompt)
{
    struct answer answer;
    struct runtime_result r = completed("{}");
    PLAY(HEAD "{\"ask\":{\"prompt\":\"one\\ntwo\\nthree\"},\"result\":{"
              "\"answer\":\"\"}}\n" END);

    CHECK(!ask(&h, "one\n2\nthree", "{\"max_turns\":4}", &a, &answer));
    CHECK(last.code == ERR_FAILED);
    CHECK_STR(err_first(&last), "ask 1 is not what the tape has");
    CHECK_STR(text_of(tape_verify(&p, &r, &a), &a),
              "ask 1 has another prompt\n--- x.jsonl:2\n+++ the program\n"
              "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
              "ask 1 has another opts\n--- x.jsonl:2\n+++ the program\n"
              "@@ -1 +1,3 @@\n-{}\n+{\n+  \"max_turns\": 4\n+}\n");
    /* It stays with that. */
    CHECK(!ask(&h, "one\ntwo\nthree", "{}", &a, &answer));
    arena_done(&a);
}

TEST(another_command)
{
    struct command_result outcome;
    struct runtime_result r = completed("{}");
    PLAY(HEAD RUN END);

    CHECK(!command(&h, "ls", "{}", &a, &outcome));
    CHECK_STR(text_of(tape_verify(&p, &r, &a), &a),
              "command 1 has another argv\n--- x.jsonl:2\n+++ the program\n"
              "@@ -1 +1 @@\n-[\"ls\"]\n+[\"ls\",\"-x\"]\n");
    arena_done(&a);
}

TEST(another_kind)
{
    struct command_result outcome;
    struct runtime_result r = completed("{}");
    PLAY(HEAD ASK END);

    CHECK(!command(&h, "ls", "{}", &a, &outcome));
    CHECK_STR(text_of(tape_verify(&p, &r, &a), &a),
              "command 1 is not on the tape\n--- x.jsonl:2\n+++ the program\n"
              "-ask \"p\"\n+command [\"ls\",\"-x\"]\n");
    arena_done(&a);
}

TEST(more_than_the_tape_has)
{
    struct answer answer;
    struct runtime_result r = completed("{}");
    PLAY(HEAD END);

    CHECK(!ask(&h, "\n  first\nsecond", "{}", &a, &answer));
    CHECK_STR(text_of(tape_verify(&p, &r, &a), &a),
              "ask 1 is not on the tape\n--- x.jsonl:2\n+++ the program\n"
              "-the envelope\n+ask \"first\"\n");
    arena_done(&a);
}

TEST(less_than_the_tape_has)
{
    struct runtime_result r = completed("{}");
    PLAY(HEAD ASK END);

    CHECK_STR(text_of(tape_verify(&p, &r, &a), &a),
              "the run ended before this\n--- x.jsonl:2\n+++ the program\n"
              "-ask \"p\"\n+[Metaskill: x completed]\n");
    CHECK(h.ask != NULL);
    arena_done(&a);
}

/* --- how it ended ------------------------------------------------------------------ */

TEST(envelopes_by_value)
{
    static const struct {
        const char *taped, *got;
        bool same;
    } rows[] = {
        {"{}", "{}", true},
        {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true},
        {"{\"a\":1}", "{\"a\":1.0}", true},
        {"{\"a\":100}", "{\"a\":1e2}", true},
        {"{\"a\":-0}", "{\"a\":0.0}", true},
        {"{\"a\":0.001}", "{\"a\":1E-3}", true},
        {"{\"a\":1.5e+300}", "{\"a\":15e299}", true},
        {"{\"a\":12345678901234567890123}", "{\"a\":12345678901234567890124}",
         false},
        {"{\"a\":1e99999999999}", "{\"a\":1e99999999999}", true},
        {"{\"a\":1e99999999999}", "{\"a\":1e99999999998}", false},
        {"{\"a\":1}", "{\"a\":-1}", false},
        {"{\"a\":1}", "{\"a\":10}", false},
        {"{\"a\":0.1}", "{\"a\":1}", false},
        {"{\"a\":0}", "{\"a\":null}", false},
        {"{\"a\":\"1\"}", "{\"a\":1}", false},
        {"{\"a\":[]}", "{\"a\":{}}", false},
        {"{\"a\":[1,2]}", "{\"a\":[2,1]}", false},
        {"{\"a\":[\"x\\ny\"]}", "{\"a\":[\"x\\n\",\"y\"]}", false},
        {"{\"a\":\"x\\ny\"}", "{\"a\":\"x\\u000ay\"}", true},
        {"{\"a\":true}", "{\"a\":false}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
        /* Only the host's own durations do not count, */
        {"{\"trace\":[{\"kind\":\"metaskill_finish\",\"data\":{\"duration_s\":"
         "1.5,\"a\":1}}]}",
         "{\"trace\":[{\"kind\":\"metaskill_finish\",\"data\":{\"duration_s\":"
         "0.1,\"a\":1}}]}",
         true},
        {"{\"trace\":[{\"kind\":\"metaskill_finish\",\"data\":{\"a\":1}}]}",
         "{\"trace\":[{\"kind\":\"metaskill_finish\",\"data\":{\"a\":2}}]}",
         false},
        {"{\"trace\":[{\"kind\":\"mine\",\"data\":{\"duration_s\":1}}]}",
         "{\"trace\":[{\"kind\":\"mine\",\"data\":{\"duration_s\":2}}]}",
         false},
        {"{\"x\":[{\"kind\":\"metaskill_x\",\"data\":{\"duration_s\":1}}]}",
         "{\"x\":[{\"kind\":\"metaskill_x\",\"data\":{\"duration_s\":2}}]}",
         false},
        /* and a trace that a hand left out. */
        {"{\"a\":1}", "{\"a\":1,\"trace\":[{\"kind\":\"x\"}]}", true},
        {"{\"a\":1,\"trace\":[]}", "{\"a\":1,\"trace\":[{\"kind\":\"x\"}]}",
         false},
        {"{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1,\"trace\":[]}}", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct tape t = {.file = "x", .envelope = str_cstr(rows[i].taped)};
        struct runtime_result r = completed(rows[i].got);
        bool same = tape_compare(&t, &r, &a).n == 0;

        CHECK(same == rows[i].same);
        if (same != rows[i].same)
            printf("# %s\n# %s\n", rows[i].taped, rows[i].got);
        arena_done(&a);
    }
}

TEST(ends_that_differ)
{
    struct arena a = {0};
    struct tape t = {.file = "x", .end_line = 3, .error = STR("error: a")};
    struct runtime_result r = completed("{\"b\":\"x\\ny\",\"a\":[]}");

    CHECK_STR(text_of(tape_compare(&t, &r, &a), &a),
              "the run did not fail\n--- x:3\n+++ the program\n"
              "@@ -1 +1 @@\n-error: a\n+{\"b\":\"x\\ny\",\"a\":[]}\n");
    r = (struct runtime_result){.end = RUNTIME_FAILED, .text = STR("error: b")};
    CHECK_STR(text_of(tape_compare(&t, &r, &a), &a),
              "the run failed with another error\n--- x:3\n+++ the program\n"
              "@@ -1 +1 @@\n-error: a\n+error: b\n");
    r.text = t.error;
    CHECK(tape_compare(&t, &r, &a).n == 0);
    t.error = STR("");
    t.envelope = STR("{\"a\":\"x\\ny\"}");
    CHECK_STR(text_of(tape_compare(&t, &r, &a), &a),
              "the run failed\n--- x:3\n+++ the program\n@@ -1,4 +1 @@\n-{\n"
              "-  \"a\": \"x\\n\"\n-    \"y\"\n-}\n+error: a\n");
    r = completed("{\"a\":\"x\\nz\"}");
    CHECK_STR(text_of(tape_compare(&t, &r, &a), &a),
              "the envelope is another one\n--- x:3\n+++ the program\n"
              "@@ -1,4 +1,4 @@\n {\n   \"a\": \"x\\n\"\n-    \"y\"\n+    "
              "\"z\"\n }\n");
    arena_done(&a);
}

/* Who set a limit is another one on another machine. */
TEST(errors_without_who_set_a_limit)
{
    static const struct {
        const char *taped, *got;
        bool same;
    } rows[] = {
        {"error: full (run_max_asks)", "error: full (run_max_asks, --max)",
         true},
        {"error: full (run_max_asks, a b:3) (x)",
         "error: full (run_max_asks, mapm.yaml:3) (x)", true},
        {"error: (run_max_asks, a", "error: (run_max_asks", false},
        {"error: (run_max_asks, a", "error: (run_max_asks, a", true},
        {"error: full (run_max_asks)", "error: full (run_max_commands)", false},
        {"error: full (mine, a)", "error: full (mine, b)", false},
        {"error: ((((", "error: ((((", true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct tape t = {.file = "x", .error = str_cstr(rows[i].taped)};
        struct runtime_result r = {.end = RUNTIME_FAILED,
                                   .text = str_cstr(rows[i].got)};

        CHECK((tape_compare(&t, &r, &a).n == 0) == rows[i].same);
        arena_done(&a);
    }
}

TEST(long_lines_are_shown_where_they_differ)
{
    struct arena a = {0};
    struct buf taped, got;
    struct str text;
    struct tape t = {.file = "x", .end_line = 3};
    struct runtime_result r = {.end = RUNTIME_FAILED};

    buf_init(&taped, 1 << 20);
    buf_init(&got, 1 << 20);
    for (int i = 0; i < 1000; i++)
        buf_text(&taped, "\xc3\xa4");
    buf_text(&got, taped.p);
    buf_text(&taped, " left");
    buf_text(&got, " right");
    t.error = buf_str(&taped);
    r.text = buf_str(&got);
    text = tape_compare(&t, &r, &a);
    CHECK(text.n < 500);
    CHECK(str_find(text, STR(" left\n")) != SIZE_MAX);
    CHECK(str_find(text, STR(" right\n")) != SIZE_MAX);
    CHECK(str_find(text, STR("-[1920 bytes] \xc3\xa4")) != SIZE_MAX);
    buf_done(&taped);
    buf_done(&got);
    arena_done(&a);
}

/* --- writing ---------------------------------------------------------------------- */

static bool answer_it(void *ctx, const struct ask *in, struct arena *a,
                      struct answer *out, struct err *e)
{
    (void)ctx;
    (void)a;
    if (str_is(in->prompt, "fail")) {
        err_set(e, ERR_FETCH, "HTTP 500");
        err_wrap(e, "no answer");
        return err_hint(e, "try again");
    }
    *out = (struct answer){.text = STR("a\n\xff"), .turns = 2};
    return true;
}

static bool run_it(void *ctx, const struct command *in, struct arena *a,
                   struct command_result *out, struct err *e)
{
    (void)ctx;
    (void)a;
    (void)e;
    *out = (struct command_result){.exit_code = -1, .result = STR("error: no")};
    return in->argc > 0;
}

static void count_step(void *ctx, const struct step *s)
{
    *(unsigned *)ctx += s->kind == STEP_TRACE;
}

static void record(struct tape_recorder *r, unsigned *steps, struct arena *a)
{
    struct limits limits = limits_default;
    struct runtime_host h;
    struct answer answer;
    struct command_result outcome;

    limits.run_max_commands.value = 0;
    limits.run_max_seconds.value = 7; /* no part of a tape */
    *r = (struct tape_recorder){
        .inner = {answer_it, run_it, count_step, steps},
    };
    tape_begin(r, STR("x"), tape_digest(STR("def run(input): pass"), a),
               STR("{ \"a\": 1 }"), &limits);
    h = tape_record(r);
    h.step(h.ctx, &(struct step){.kind = STEP_TRACE});
    CHECK(ask(&h, "p\xff", "{}", a, &answer));
    CHECK(!ask(&h, "fail", "{}", a, &answer));
    CHECK(command(&h, "ls", "{\"timeout\":3}", a, &outcome));
}

/* [K33] a run that failed makes a tape, too; one that was interrupted none. */
TEST(what_is_recorded)
{
    struct arena a = {0};
    struct tape_recorder r;
    struct runtime_result result = {.end = RUNTIME_FAILED,
                                    .text = STR("error: x")};
    unsigned steps = 0;

    record(&r, &steps, &a);
    CHECK(steps == 1);
    CHECK(tape_end(&r, &result, &last));
    CHECK_STR(r.lines.p,
              "{\"tape\":1,\"name\":\"x\",\"digest\":\"sha256:6f0d37de"
              "17212bb0fe98259c4c0d7c9aa9a4879b828034bc0f5edbc5d2295455\","
              "\"input\":{\"a\":1},\"limits\":{\"run_max_commands\":0}}\n"
              "{\"ask\":{\"prompt\":\"p\xef\xbf\xbd\",\"opts\":{}},\"result\":{"
              "\"answer\":\"a\\n\xef\xbf\xbd\",\"exhausted\":false,\"turns\":2,"
              "\"truncated\":false}}\n"
              "{\"ask\":{\"prompt\":\"fail\",\"opts\":{}},\"result\":{"
              "\"error\":\"no answer: HTTP 500 (try again)\"}}\n"
              "{\"command\":{\"argv\":[\"ls\",\"-x\"],\"opts\":{\"timeout\":3}"
              "},\"result\":{\"ok\":false,\"exit_code\":-1,\"result\":"
              "\"error: no\",\"truncated\":false}}\n"
              "{\"error\":\"error: x\"}\n");
    buf_done(&r.lines);

    record(&r, &steps, &a);
    result.end = RUNTIME_INTERRUPTED;
    CHECK(!tape_end(&r, &result, &last) && last.code == ERR_INTERRUPTED);
    buf_done(&r.lines);

    record(&r, &steps, &a);
    result.end = RUNTIME_FAILED;
    r.lines.max = r.lines.n + 3;
    CHECK(!tape_end(&r, &result, &last) && last.code == ERR_LIMIT);
    buf_done(&r.lines);
    arena_done(&a);
}

TEST(what_was_recorded_plays)
{
    struct arena a = {0};
    struct tape_recorder r;
    struct runtime_result result =
        completed("{\"status\":\"ok\",\"answer\":\"x\"}");
    struct tape t = {0};
    struct tape_player p = {.tape = &t, .arena = &a};
    struct runtime_host h = tape_replay(&p);
    struct answer answer;
    struct command_result outcome;
    unsigned steps = 0;

    record(&r, &steps, &a);
    CHECK(tape_end(&r, &result, &last));
    CHECK(parse(r.lines.p, &a, &t));
    CHECK(t.limits.run_max_commands.value == 0);
    CHECK(t.limits.run_max_seconds.value == RUN_MAX_SECONDS);
    CHECK(ask(&h, "p\xff", "{}", &a, &answer));
    CHECK(!ask(&h, "fail", "{}", &a, &answer));
    CHECK_STR(err_first(&last), "no answer: HTTP 500 (try again)");
    CHECK(command(&h, "ls", "{\"timeout\":3}", &a, &outcome));
    CHECK(!outcome.ok && outcome.exit_code == -1);
    CHECK(tape_verify(&p, &result, &a).n == 0);
    buf_done(&r.lines);
    arena_done(&a);
}

TEST(the_end_is_rewritten_alone)
{
    struct arena a = {0};
    struct tape t = {0};
    struct runtime_result r = completed("{\"status\":\"ok\",\"n\":1}");
    const char *text = HEAD ASK "{ \"envelope\": {} }\n";
    struct str next;

    CHECK(parse(text, &a, &t));
    next = tape_update(str_cstr(text), &t, &r, &a);
    CHECK_STR(text_of(next, &a),
              HEAD ASK "{\"envelope\":{\"status\":\"ok\",\"n\":1}}\n");
    CHECK(parse(next.p, &a, &t) && tape_compare(&t, &r, &a).n == 0);
    r = (struct runtime_result){.end = RUNTIME_FAILED, .text = STR("error: b")};
    CHECK(parse(HEAD "{\"envelope\":{}}", &a, &t));
    next = tape_update(STR(HEAD "{\"envelope\":{}}"), &t, &r, &a);
    CHECK_STR(text_of(next, &a), HEAD "{\"error\":\"error: b\"}");
    arena_done(&a);
}
