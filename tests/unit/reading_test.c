#include "base/fs.h"
#include "base/text.h"
#include "mapm/clients.h"
#include "mapm/limits.h"

#include <fcntl.h>
#include <stdlib.h>

#include "../../runtime/reading.h"
#include "tap.h"

/* [K24, row 22] what agent programs print, as tests/cases/agents has it. */

static struct str load(struct arena *a, const char *path)
{
    struct str text = {"", 0};
    struct err e = {0};

    if (!fs_read_file_at(AT_FDCWD, path, 1 << 20, a, &text, &e))
        printf("# %s: %s\n", path, err_first(&e));
    return text;
}

static void feed(struct reading *r, struct str text, size_t block)
{
    for (size_t at = 0; at < text.n; at += block)
        reading_feed(r, str_slice(text, at, at + block));
    reading_end(r);
}

#define NOT_LOGGED_IN "Not logged in \302\267 Please run /login"

/* clang-format off */
static const struct {
    const char *path;
    unsigned cap, turns;
    bool stop, exhausted, answered;
    const char *text, *why; /* NULL: it did not fail */
} recorded[] = {
    {"claude/plain",   3, 1, false, false, true,  "PONG", NULL},
    {"claude/tools",   3, 3, false, false, true,  "PONG", NULL},
    {"claude/many",    3, 4, false, true,  false, "", NULL}, /* N + 1 */
    {"claude/error",   3, 1, false, false, false, NULL, "API Error: 400 the scripted model fails"},
    {"claude/login",   3, 1, false, false, false, NULL, NOT_LOGGED_IN},
    {"codex/plain",    3, 1, false, false, true,  "PONG", NULL},
    {"codex/tools",    3, 3, false, false, true,  "PONG", NULL},
    {"codex/tools",    2, 2, true,  true,  false, "", NULL},
    {"codex/many",     3, 3, true,  true,  false, "", NULL},
    {"codex/many",     9, 6, false, false, true,  "PONG", NULL},
    {"codex/error",    3, 0, false, false, false, "", "{\"type\": \"error\", \"error\": {\"type\": \"invalid_request_error\", \"code\": 400, \"status\": \"INVALID_ARGUMENT\", \"message\": \"the scripted model fails\"}}"},
    {"gemini/plain",   3, 1, false, false, false, "PONG", NULL},
    {"gemini/tools",   3, 3, false, false, false, "PONG", NULL},
    {"gemini/tools",   1, 1, true,  true,  false, "", NULL},
    {"gemini/many",    3, 3, true,  true,  false, "", NULL},
    {"gemini/error",   3, 0, false, false, false, "", "[API Error: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"code\":400,\"status\":\"INVALID_ARGUMENT\",\"message\":\"the scripted model fails\"}}]"},
    {"opencode/plain", 3, 1, false, false, false, "PONG", NULL},
    {"opencode/tools", 3, 3, false, false, false, "PONG", NULL},
    {"opencode/tools", 1, 1, true,  true,  false, "", NULL},
    {"opencode/many",  3, 3, true,  true,  false, "", NULL},
    {"opencode/error", 3, 0, false, false, false, "", "the scripted model fails"},
    {"copilot/plain",  3, 1, false, false, true,  "PONG", NULL},
    {"copilot/tools",  3, 3, false, false, true,  "PONG", NULL},
    {"copilot/tools",  2, 2, true,  true,  false, "", NULL},
    {"copilot/many",   3, 3, true,  true,  false, "", NULL},
    {"copilot/error",  3, 1, false, false, false, "", "400 the scripted model fails"},
    {"qwen/plain",     3, 1, false, false, true,  "PONG", NULL},
    {"qwen/tools",     3, 3, false, false, true,  "PONG", NULL},
    {"qwen/many",      3, 3, false, false, false, "", NULL}, /* exit code 53 */
    {"qwen/error",     3, 1, false, false, false, NULL, "[API Error: 400 the scripted model fails]"},
    {"cline/plain",    3, 1, false, false, true,  "PONG", NULL},
    {"cline/tools",    3, 3, false, false, true,  "PONG", NULL},
    {"cline/tools",    2, 2, true,  true,  false, "", NULL},
    {"cline/many",     3, 3, true,  true,  false, "", NULL},
    {"cline/error",    3, 1, false, false, false, NULL, "the scripted model fails"},
};
/* clang-format on */

static void check_recorded(size_t i, size_t block, struct arena *a)
{
    struct str path = str_cstr(recorded[i].path), client;
    const struct preset *p;
    struct reading r;

    str_cut(&path, '/', &client);
    p = clients_find_backend(client);
    printf("# %s, cap %u, blocks of %zu\n", recorded[i].path, recorded[i].cap,
           block);
    reading_init(&r, p->rules, p->keeps_cap ? 0 : recorded[i].cap, 1000);
    feed(&r,
         load(a,
              arena_printf(a, "tests/cases/agents/%s.out", recorded[i].path).p),
         block);
    CHECK(r.had_event);
    CHECK(r.turns == recorded[i].turns);
    CHECK(r.stop == recorded[i].stop);
    CHECK(r.exhausted == recorded[i].exhausted);
    CHECK(r.answered == recorded[i].answered);
    CHECK(r.failed == (recorded[i].why != NULL));
    if (recorded[i].text)
        CHECK_STR(str_dup0(buf_str(&r.text), a), recorded[i].text);
    if (recorded[i].why)
        CHECK_STR(str_dup0(buf_str(&r.why), a), recorded[i].why);
    reading_done(&r);
}

TEST(what_real_programs_printed_is_understood) /* [K24] */
{
    struct arena a = {0};

    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        check_recorded(i, 65536, &a);
        check_recorded(i, 7, &a);
    }
    arena_done(&a);
}

/* One line each, given to the rules of one client. */
/* clang-format off */
static const struct {
    const char *client, *lines, *text;
    unsigned turns;
    bool answered;
    const char *why;
} lines[] = {
    /* JavaScript writes half a character of a text that was cut. */
    {"claude", "{\"type\":\"result\",\"is_error\":false,\"num_turns\":1,\"result\":\"a\\ud83d\"}", "a\xef\xbf\xbd", 1, true, NULL},
    {"claude", "{\"type\":\"result\",\"is_error\":false,\"num_turns\":1,\"result\":\"\\ude00a\"}", "\xef\xbf\xbd""a", 1, true, NULL},
    {"claude", "{\"type\":\"result\",\"is_error\":false,\"num_turns\":1,\"result\":\"\\ud83d\\ude00\\\\ud83d\"}", "\xf0\x9f\x98\x80\\ud83d", 1, true, NULL},
    {"claude", "{\"type\":\"result\",\"is_error\":false,\"num_turns\":1,\"result\":\"\xff\xc3\"}", "\xef\xbf\xbd\xef\xbf\xbd", 1, true, NULL},
    /* An error that calls itself a success. */
    {"claude", "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"num_turns\":1,\"result\":\"API Error: 529\"}", "", 1, false, "API Error: 529"},
    {"claude", "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"errors\":[\"x\",\"y\"]}", "", 0, false, "x\ny"},
    /* Two events of one message are one turn; a sub-agent's are none. */
    {"claude", "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"t\"},{\"type\":\"text\",\"text\":\"a\"}]}}\n"
               "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"content\":[{\"type\":\"text\",\"text\":\"b\"}]}}", "ab", 1, false, NULL},
    {"claude", "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}}\n"
               "{\"type\":\"assistant\",\"parent_tool_use_id\":\"t\",\"message\":{\"id\":\"m2\",\"content\":[{\"type\":\"text\",\"text\":\"c\"}]}}", "a\nb", 1, false, NULL},
    {"claude", "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"content\":[{\"text\":\"a\"}]}}\n"
               "{\"type\":\"assistant\",\"message\":{\"id\":\"m2\",\"content\":[{\"text\":\"b\"}]}}", "b", 2, false, NULL},
    /* What is no event. */
    {"claude", "hello\n[]\n\"x\"\n{\"type\":\n{}\n{\"type\":\"result\"", "", 0, false, NULL},
    {"claude", "{\"type\":[\"result\"],\"result\":\"x\"}", "", 0, false, NULL},
    {"claude", "{\"type\":\"result\",\"num_turns\":-1,\"result\":{\"a\":1}}", "", 0, true, NULL},
    {"claude", "{\"type\":\"result\",\"num_turns\":99999999999,\"result\":null}\r\n", "", 0, true, NULL},
    /* Codex: warnings are no failure, preambles no answer to keep. */
    {"codex", "{\"type\":\"item.completed\",\"item\":{\"type\":\"error\",\"message\":\"w\"}}\n"
              "{\"type\":\"error\",\"message\":\"Reconnecting... 1/5\"}\n"
              "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"I look\"}}\n"
              "{\"type\":\"item.started\",\"item\":{\"type\":\"command_execution\"}}\n"
              "{\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\"}}\n"
              "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"done\"}}", "done", 2, true, NULL},
    /* Gemini: pieces of one message, two tools at once in one turn. */
    {"gemini", "{\"type\":\"message\",\"role\":\"user\",\"content\":\"no\"}\n"
               "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"so\"}\n"
               "{\"type\":\"tool_use\"}\n{\"type\":\"tool_use\"}\n{\"type\":\"tool_result\"}\n{\"type\":\"tool_result\"}\n"
               "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"o\"}\n"
               "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"k\"}", "ok", 2, false, NULL},
    /* Opencode recovers from an error when it says something after it. */
    {"opencode", "{\"type\":\"error\",\"error\":{\"name\":\"X\"}}", "", 0, false, "X"},
    {"opencode", "{\"type\":\"error\",\"error\":{\"name\":\"X\"}}\n{\"type\":\"text\",\"part\":{\"text\":\"a\"}}\n"
                 "{\"type\":\"text\",\"part\":{\"text\":\"b\"}}", "ab", 0, false, NULL},
    {"codex", "{\"type\":\"turn.failed\",\"error\":{}}", "", 0, false, ""},
    {"cline", "{\"type\":\"run_result\",\"finishReason\":\"aborted\",\"text\":\"\",\"iterations\":2}", "", 2, false, "aborted"},
    {"qwen", "{\"type\":\"result\",\"is_error\":true,\"num_turns\":2,\"error\":{\"message\":\"m\"}}", "", 2, false, "m"},
};
/* clang-format on */

TEST(lines_mean_what_the_rules_say) /* [K24] */
{
    struct arena a = {0};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const struct preset *p =
            clients_find_backend(str_cstr(lines[i].client));
        struct reading r;

        printf("# %zu: %s\n", i, lines[i].client);
        reading_init(&r, p->rules, p->keeps_cap ? 0 : 10, 100);
        feed(&r, str_cstr(lines[i].lines), 3);
        CHECK_STR(str_dup0(buf_str(&r.text), &a), lines[i].text);
        CHECK(r.turns == lines[i].turns);
        CHECK(r.answered == lines[i].answered);
        CHECK(r.failed == (lines[i].why != NULL));
        if (lines[i].why)
            CHECK_STR(str_dup0(buf_str(&r.why), &a), lines[i].why);
        reading_done(&r);
    }
    arena_done(&a);
}

TEST(no_more_is_kept_than_can_be_given_back) /* [row 22] */
{
    const struct preset *p = clients_find_backend(STR("gemini"));
    struct str event = STR("{\"type\":\"message\",\"role\":\"assistant\","
                           "\"content\":\"\xc3\xa9\xc3\xa9\"}\n");
    struct reading r;

    reading_init(&r, p->rules, 3, 64);
    for (int i = 0; i < 32; i++)
        reading_feed(&r, event);
    CHECK(text_count(buf_str(&r.text)) == 64);
    for (int i = 0; i < 1000; i++)
        reading_feed(&r, event);
    /* One more, by which it is known to be cut. */
    CHECK(text_count(buf_str(&r.text)) == 65);
    CHECK(r.turns == 1 && !r.stop);
    reading_done(&r);
}

TEST(a_line_without_end_is_passed_over) /* [row 22] */
{
    const struct preset *p = clients_find_backend(STR("claude"));
    static char block[1 << 16];
    struct reading r;

    memset(block, 'x', sizeof block);
    reading_init(&r, p->rules, 0, 64);
    reading_feed(&r, STR("{\"type\":\"user\",\"x\":\""));
    for (int i = 0; i < 512; i++)
        reading_feed(&r, str_make(block, sizeof block));
    CHECK(r.line.capacity <= 2 * ANSWER_LINE_MAX_BYTES);
    reading_feed(&r, STR("\"}\n{\"type\":\"result\",\"result\":\"ok\"}\n"));
    CHECK(r.answered && str_is(buf_str(&r.text), "ok") && !r.stop);
    for (int i = 0; i < 512; i++)
        reading_feed(&r, str_make(block, sizeof block));
    CHECK(r.flooded && r.stop);
    CHECK(str_is(buf_str(&r.text), "ok"));
    reading_done(&r);
}

TEST(plain_text_is_kept_up_to_its_maximum) /* [row 22] */
{
    static char block[1 << 16];
    struct reading r;

    memset(block, 'y', sizeof block);
    reading_init(&r, NULL, 0, 64);
    feed(&r, STR("{\"type\":\"result\"}\n"), 5);
    CHECK_STR(r.text.p, "{\"type\":\"result\"}\n");
    for (int i = 0; i < 1024; i++)
        reading_feed(&r, str_make(block, sizeof block));
    CHECK(r.text.n == 65 * 4 && r.text.capacity <= 1024);
    CHECK(r.flooded && r.stop);
    reading_done(&r);
}

/* Wide messages and many paths cost no more than reading them. */
TEST(many_small_parts_take_no_square_of_time) /* [row 22] */
{
    CLEANUP(buf_done) struct buf b = {0};
    struct reading r;

    buf_init(&b, ANSWER_LINE_MAX_BYTES);
    buf_text(&b, "{\"type\":\"assistant\",\"message\":{\"content\":[");
    for (int i = 0; i < 90000; i++)
        buf_text(&b, i ? ",{\"text\":\"a\"}" : "{\"text\":\"a\"}");
    buf_text(&b, "]}}\n");
    reading_init(&r, clients_find_backend(STR("claude"))->rules, 0, 20000);
    reading_feed(&r, buf_str(&b));
    CHECK(text_count(buf_str(&r.text)) == 20001);
    reading_done(&r);
}

TEST(every_preset_is_whole)
{
    const struct client *c;
    size_t i = 0;

    for (; (c = clients_backend_at(i)); i++) {
        const struct preset *p = c->backend;

        CHECK(clients_find_backend(str_cstr(c->name)) == p);
        CHECK(p->program && p->seen && p->log_in && p->install && p->args[0]);
        CHECK(p->rules[0].act != ACT_NONE);
        CHECK(p->rules[PRESET_MAX_RULES].act == ACT_NONE);
        CHECK(!p->args[PRESET_MAX_ARGS] && !p->env[PRESET_MAX_ENV]);
    }
    CHECK(i == 7);
    CHECK(!clients_find_backend(STR("swival")) &&
          !clients_find_backend(STR("")));
}
