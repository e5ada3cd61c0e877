/* The two shapes of an API, as texts: [K23, K24, row 22]. */

#include "base/text.h"

#include "../../runtime/chat.h"
#include "tap.h"

static struct str written(const struct chat_request *r, struct arena *a)
{
    struct buf b;
    struct str s;

    buf_init(&b, 1u << 20);
    chat_write(r, &b);
    s = arena_str(a, buf_str(&b));
    buf_done(&b);
    return s;
}

TEST(requests) /* [K23] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct chat_request r = {.shape = CHAT_ANTHROPIC,
                             .model = STR("m"),
                             .prompt = STR("a\"b\n\xff"),
                             .max_tokens = 9};

    CHECK_STR(written(&r, &a).p,
              "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":"
              "\"user\",\"content\":\"a\\\"b\\n\xef\xbf\xbd\"}]}");
    r.shape = CHAT_OPENAI;
    r.prompt = STR("");
    CHECK_STR(written(&r, &a).p,
              "{\"model\":\"m\",\"max_tokens\":9,\"stream\":false,"
              "\"messages\":[{\"role\":\"user\",\"content\":\"\"}]}");
    r.is_openai = true;
    CHECK_STR(written(&r, &a).p,
              "{\"model\":\"m\",\"max_completion_tokens\":9,\"stream\":false,"
              "\"messages\":[{\"role\":\"user\",\"content\":\"\"}]}");
}

#define TEXT(t)      "{\"type\":\"text\",\"text\":" t "}"
#define ANT(blocks)  "{\"content\":[" blocks "]}"
#define OPEN(fields) "{\"choices\":[{\"message\":{" fields "}}]}"

static const struct {
    enum chat_shape shape;
    const char *body;
    const char *text; /* NULL: refused */
    bool exhausted;
    const char *why; /* how the complaint begins */
} answers[] = {
    {CHAT_ANTHROPIC, ANT(TEXT("\"a\"") "," TEXT("\"b\"")), "ab", false, NULL},
    {CHAT_ANTHROPIC, ANT(TEXT("1")), "", false, NULL},
    {CHAT_ANTHROPIC, ANT("1,null,[],{},\"x\""), "", false, NULL},
    {CHAT_ANTHROPIC, ANT("{\"type\":\"text\"}"), "", false, NULL},
    {CHAT_ANTHROPIC, ANT("{\"type\":\"thinking\",\"text\":\"x\"}"), "", false,
     NULL},
    {CHAT_ANTHROPIC,
     "{\"content\":[" TEXT("\"x\"") "],\"stop_reason\":\"max_tokens\"}", "x",
     true, NULL},
    {CHAT_ANTHROPIC,
     "{\"content\":[],\"stop_reason\":\"model_context_window_exceeded\"}", "",
     true, NULL},
    {CHAT_ANTHROPIC, "{\"content\":[],\"stop_reason\":\"pause_turn\"}", NULL,
     false, "the response contains no text (pause_turn)"},
    {CHAT_ANTHROPIC, "{\"content\":[],\"stop_reason\":\"refusal\"}", NULL,
     false, "the model refused to answer (refusal)"},
    {CHAT_ANTHROPIC, "{\"content\":\"x\"}", NULL, false,
     "the response does not have the format of this API"},
    {CHAT_ANTHROPIC, "{}", NULL, false,
     "the response does not have the format of this API"},
    {CHAT_ANTHROPIC, "null", NULL, false,
     "the response does not have the format of this API"},
    {CHAT_ANTHROPIC, "", NULL, false, "the response is not JSON"},
    {CHAT_ANTHROPIC, "{\"error\":null,\"content\":[]}", "", false, NULL},
    {CHAT_ANTHROPIC, "{\"error\":\"x\",\"content\":[]}", NULL, false,
     "the API reports an error: x"},
    {CHAT_ANTHROPIC, "{\"error\":{},\"content\":[]}", NULL, false,
     "the API reports an error"},
    {CHAT_OPENAI, OPEN("\"content\":\"x\""), "x", false, NULL},
    {CHAT_OPENAI, OPEN("\"content\":null,\"refusal\":\"no\""), "no", false,
     NULL},
    {CHAT_OPENAI, OPEN("\"content\":\"x\",\"refusal\":\"no\""), "x", false,
     NULL},
    {CHAT_OPENAI, OPEN("\"content\":[" TEXT("\"a\"") "]"), "a", false, NULL},
    {CHAT_OPENAI, OPEN(""), "", false, NULL},
    {CHAT_OPENAI, OPEN("\"content\":7"), "", false, NULL},
    {CHAT_OPENAI,
     "{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":"
     "\"length\"}]}",
     "x", true, NULL},
    {CHAT_OPENAI,
     "{\"choices\":[{\"message\":{},\"finish_reason\":\"tool_calls\"}]}", NULL,
     false, "the response contains no text (tool_calls)"},
    {CHAT_OPENAI, "{\"choices\":[]}", NULL, false,
     "the response does not have the format of this API"},
    {CHAT_OPENAI, "{\"choices\":[{}]}", NULL, false,
     "the response does not have the format of this API"},
    {CHAT_OPENAI, "{\"choices\":{\"message\":{}}}", NULL, false,
     "the response does not have the format of this API"},
    {CHAT_OPENAI, "[]", NULL, false,
     "the response does not have the format of this API"},
};

TEST(answers_are_read) /* [K24] */
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct chat_reply r = {.text = STR("untouched")};
        struct err e = {0};
        bool ok =
            chat_read(answers[i].shape, str_cstr(answers[i].body), &a, &r, &e);

        CHECK(ok == (answers[i].text != NULL));
        CHECK_STR(str_dup0(r.text, &a), ok ? answers[i].text : "untouched");
        CHECK(r.exhausted == answers[i].exhausted);
        if (!ok)
            CHECK(
                str_starts(str_cstr(err_first(&e)), str_cstr(answers[i].why)));
        if (tap_failed)
            printf("# row %zu: %s: %s\n", i, answers[i].body, err_first(&e));
    }
}

/* In a JSON string; what comes out. [row 22] */
static const struct {
    const char *in, *out;
} texts[] = {
    {"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
    {"\\uD83D\\uDE00", "\xf0\x9f\x98\x80"},
    {"\\ud83d", "\xef\xbf\xbd"},
    {"\\ud83dx", "\xef\xbf\xbdx"},
    {"\\ud83d\\n", "\xef\xbf\xbd\n"},
    {"\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
    {"\\ude00", "\xef\xbf\xbd"},
    {"\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd"},
    {"\\\\ud83d", "\\ud83d"},
    {"\\\\\\ud83d", "\\\xef\xbf\xbd"},
    {"\\udbff\\udfff", "\xf4\x8f\xbf\xbf"},
    {"\\udc00", "\xef\xbf\xbd"},
    {"\\ud800\\u0041", "\xef\xbf\xbd"
                       "A"},
    {"\\u0041\\u00e9", "A\xc3\xa9"},
    {"\xff", "\xef\xbf\xbd"},
    {"a\xc3", "a\xef\xbf\xbd"},
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xff\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd"},
    {"\\u001b[31m", "\x1b[31m"},
};

TEST(what_is_no_text_becomes_a_replacement) /* [K24, row 22] */
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct chat_reply r = {0};
        struct err e = {0};
        struct str body = arena_printf(
            &a, "{\"choices\":[{\"message\":{\"content\":\"%s\"}}]}",
            texts[i].in);

        CHECK(chat_read(CHAT_OPENAI, body, &a, &r, &e));
        CHECK_STR(str_dup0(r.text, &a), texts[i].out);
        CHECK(text_is_utf8(r.text));
    }
}

TEST(broken_json_stays_broken) /* [row 22] */
{
    static const char *const rows[] = {
        "{\"content\":[\\ud83d]}",
        "{\"content\":[]}x",
        "{\"content\":[],}",
        "{\"content\":[],\"content\":[]}",
        "{\"content\":[],\"x\":\"\\u12\"}",
        "{\"content\":[],\"x\":\"\\ud83d\\u12\"}",
        "{\"content\":[],\"x\":\"\\",
        "{\"content\":[],\"x\":NaN}",
        "data: {\"content\":[]}",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct chat_reply r;
        struct err e = {0};

        CHECK(!chat_read(CHAT_ANTHROPIC, str_cstr(rows[i]), &a, &r, &e));
        CHECK(e.code == ERR_FORMAT);
    }
}

static const struct {
    const char *body, *said;
} complaints[] = {
    {"{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\","
     "\"message\":\"slow down\"}}",
     "rate_limit_error: slow down"},
    {"{\"error\":{\"message\":\"no\",\"type\":null,\"code\":\"x\"}}", "no"},
    {"{\"error\":{\"type\":\"overloaded_error\"}}", "overloaded_error"},
    {"{\"error\":\"model 'x' not found\"}", "model 'x' not found"},
    {"{\"message\":\"no\"}", "no"},
    {"{\"detail\":\"Not Found\"}", "Not Found"},
    {"{\"detail\":[{\"msg\":\"x\"}]}", ""},
    {"{\"error\":{\"message\":\"a\\n  b\\tc\"}}", "a b c"},
    {"{\"error\":7}", ""},
    {"{}", ""},
    {"", ""},
    {"<!DOCTYPE html><title>502</title>", ""},
    {"upstream connect error\n", "upstream connect error"},
    {"\xff\xfe", ""},
};

TEST(complaints_are_found)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct buf b;
    struct str said;

    for (size_t i = 0; i < sizeof complaints / sizeof *complaints; i++)
        CHECK_STR(
            str_dup0(chat_complaint(str_cstr(complaints[i].body), &a), &a),
            complaints[i].said);

    /* 400 characters, and 401 */
    for (size_t n = 400; n <= 401; n++) {
        buf_init(&b, 10000);
        buf_text(&b, "{\"error\":\"");
        for (size_t i = 0; i < n; i++)
            buf_text(&b, "\xc3\xa9");
        buf_text(&b, "\"}");
        said = chat_complaint(buf_str(&b), &a);
        CHECK(text_count(said) == n);
        CHECK(str_ends(said, STR("\xe2\x80\xa6")) == (n > 400));
        buf_done(&b);
    }
}
