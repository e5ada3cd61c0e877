#ifndef TESTS_MCP_TASKS_H
#define TESTS_MCP_TASKS_H

/* What the fixture server of mcp does in processes: it asks, waits, floods,
 * crashes and does not listen. */

#include "base/fs.h"
#include "base/proc.h"
#include "mapm/mcp.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IMAGE                                                                  \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIA" \
    "X8jx0gAAAABJRU5ErkJggg=="
#define AUDIO     "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
#define TEXT(t)   "{\"type\":\"text\",\"text\":\"" t "\"}"
#define ANSWER(t) "\"content\":[" TEXT(t) "]"
#define PICTURE                                                                \
    "{\"type\":\"image\",\"data\":\"" IMAGE "\",\"mimeType\":\"image/png\"}"
#define NO_ARGUMENTS "{\"type\":\"object\",\"properties\":{}}"

static void nap(uint64_t ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1000),
                         .tv_nsec = (long)(ms % 1000) * 1000000};

    nanosleep(&t, NULL);
}

static uint64_t number_of(const struct json *arguments, const char *key)
{
    const struct json *j = json_get(arguments, key);
    uint64_t n = 0;

    return j && j->kind == JSON_NUMBER && str_number(j->text, UINT64_MAX, &n)
               ? n
               : 0;
}

/* "content" of one text. */
static struct str say(struct arena *a, struct str text)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct json_writer w;

    buf_init(&out, 1u << 26);
    buf_text(&out, "\"content\":[{\"type\":\"text\",\"text\":");
    json_writer_init(&w, &out, 0);
    json_string(&w, text);
    buf_text(&out, "}]");
    return arena_str(a, buf_str(&out));
}

static struct str spell(struct arena *a, const struct json *j)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct json_writer w;

    buf_init(&out, 1u << 26);
    json_writer_init(&w, &out, 0);
    if (j)
        json_value(&w, j);
    return arena_str(a, buf_str(&out));
}

/* --- works ------------------------------------------------------------------- */

/* The copy of the call that a work has keeps what it was called with. */
static const struct json *work_arguments(struct mcp_task *w)
{
    return json_get(mcp_call_params(mcp_task_call(w)), "arguments");
}

static void work_progress(void *ctx, struct mcp_task *w)
{
    (void)ctx;
    for (int i = 0; i <= 100; i += 50) {
        mcp_task_progress(w, i, 100, STR("step"));
        nap(20);
    }
    mcp_task_result(w, STR(ANSWER("done")));
}

static void work_logging(void *ctx, struct mcp_task *w)
{
    (void)ctx;
    mcp_task_log(w, "info", STR("\"Tool execution started\""));
    nap(20);
    mcp_task_log(w, "info", STR("\"Tool processing data\""));
    nap(20);
    mcp_task_log(w, "info", STR("\"Tool execution completed\""));
    mcp_task_result(w, STR(ANSWER("logged")));
}

struct inquiry {
    const char *tool;
    struct {
        const char *key, *method, *params;
    } questions[3];
    const char *head;
};

#define FORM(message, properties, required)                                    \
    "{\"message\":\"" message "\",\"requestedSchema\":{\"type\":\"object\","   \
    "\"properties\":{" properties "},\"required\":[" required "]}}"
#define SAMPLE(text)                                                           \
    "{\"messages\":[{\"role\":\"user\",\"content\":" TEXT(                     \
        text) "}],\"maxTokens\":100}"
#define STRING "{\"type\":\"string\"}"
#define CONFIRM                                                                \
    FORM("Please confirm", "\"ok\":{\"type\":\"boolean\"}", "\"ok\"")
#define CHOICES "\"enum\":[\"option1\",\"option2\",\"option3\"]"
#define TITLED                                                                 \
    "[{\"const\":\"value1\",\"title\":\"First\"},{\"const\":\"value2\","       \
    "\"title\":\"Second\"},{\"const\":\"value3\",\"title\":\"Third\"}]"

/* clang-format off */
static const struct inquiry inquiries[] = {
    {"test_sampling", {{"ask", "sampling/createMessage", NULL}}, "LLM response: "},
    {"test_elicitation", {{"ask", "elicitation/create", NULL}}, "User response: "},
    {"test_elicitation_sep1034_defaults", {{"ask", "elicitation/create",
        FORM("Please review and update the form fields with defaults",
             "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
             "\"age\":{\"type\":\"integer\",\"default\":30},"
             "\"score\":{\"type\":\"number\",\"default\":95.5},"
             "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],\"default\":\"active\"},"
             "\"verified\":{\"type\":\"boolean\",\"default\":true}", "")}},
     "Elicitation completed: "},
    {"test_elicitation_sep1330_enums", {{"ask", "elicitation/create",
        FORM("Please select options from the enum fields",
             "\"untitledSingle\":{\"type\":\"string\"," CHOICES "},"
             "\"titledSingle\":{\"type\":\"string\",\"oneOf\":" TITLED "},"
             "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
             "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
             "\"untitledMulti\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":3,"
             "\"items\":{\"type\":\"string\"," CHOICES "}},"
             "\"titledMulti\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":3,"
             "\"items\":{\"anyOf\":" TITLED "}}", "")}},
     "Elicitation completed: "},
    {"test_streaming_elicitation", {{"ask", "elicitation/create", CONFIRM}}, "Streamed: "},
    {"elicit_url", {{"ask", "elicitation/create",
        "{\"mode\":\"url\",\"message\":\"Sign in\",\"url\":\"https://example.com/\"}"}}, "Visited: "},
    {"elicit_form", {{"ask", "elicitation/create",
        "{\"mode\":\"form\",\"message\":\"Who?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}"}}, "Filled: "},
    {"elicit_other", {{"ask", "elicitation/create", "{\"mode\":\"voice\",\"message\":\"Who?\"}"}}, "Said: "},
    {"sample_tools", {{"ask", "sampling/createMessage",
        "{\"messages\":[],\"maxTokens\":1,\"tools\":[]}"}}, "Sampled: "},
    {"test_input_required_result_elicitation", {{"user_name", "elicitation/create",
        FORM("What is your name?", "\"name\":" STRING, "\"name\"")}}, "Hello, "},
    {"test_input_required_result_sampling", {{"capital_question", "sampling/createMessage",
        SAMPLE("What is the capital of France?")}}, "Sampling result: "},
    {"test_input_required_result_list_roots", {{"client_roots", "roots/list", "{}"}}, "Roots: "},
    {"test_input_required_result_request_state", {{"confirm", "elicitation/create", CONFIRM}}, "state-ok: "},
    {"test_input_required_result_tampered_state", {{"confirm", "elicitation/create", CONFIRM}}, "integrity-ok: "},
    {"test_input_required_result_multiple_inputs", {
        {"user_name", "elicitation/create", FORM("What is your name?", "\"name\":" STRING, "\"name\"")},
        {"greeting", "sampling/createMessage", SAMPLE("Generate a greeting")},
        {"client_roots", "roots/list", "{}"}}, "All: "},
    {"test_input_required_result_capabilities", {
        {"elicit_input", "elicitation/create", FORM("Elicitation input", "\"value\":" STRING, "\"value\"")},
        {"sample_input", "sampling/createMessage", SAMPLE("Sample request")}}, "capabilities-ok: "},
    {"test_input_required_result_prompt", {{"user_context", "elicitation/create",
        FORM("What context should the prompt use?", "\"context\":" STRING, "\"context\"")}}, NULL},
};
/* clang-format on */

/* What these two ask is among their arguments. */
static struct str own_params(struct mcp_task *w, struct arena *a,
                             const char *method)
{
    const struct json *arguments = work_arguments(w);
    struct str text = spell(a, strcmp(method, "elicitation/create") == 0
                                   ? json_get(arguments, "message")
                                   : json_get(arguments, "prompt"));

    if (!text.n)
        text = STR("\"?\"");
    if (strcmp(method, "elicitation/create") == 0)
        return arena_printf(
            a,
            "{\"message\":%.*s,\"requestedSchema\":{\"type\":\"object\","
            "\"properties\":{\"response\":" STRING
            "},\"required\":[\"response\"]}}",
            STR_ARG(text));
    return arena_printf(a,
                        "{\"messages\":[{\"role\":\"user\",\"content\":{"
                        "\"type\":\"text\",\"text\":%.*s}}],\"maxTokens\":100}",
                        STR_ARG(text));
}

static const char *capability_of(const char *method)
{
    if (strcmp(method, "roots/list") == 0)
        return "roots";
    return strcmp(method, "elicitation/create") == 0 ? "elicitation/form"
                                                     : "sampling";
}

static void finish_inquiry(struct mcp_task *w, const struct inquiry *i,
                           struct arena *a, struct str text)
{
    struct str members = say(a, text);

    if (i->head) {
        mcp_task_result(w, members);
        return;
    }
    members = str_slice(members, strlen("\"content\":["), members.n - 1);
    mcp_task_result(w, arena_printf(a,
                                    "\"messages\":[{\"role\":\"user\","
                                    "\"content\":%.*s}]",
                                    STR_ARG(members)));
}

static void work_inquiry(void *ctx, struct mcp_task *w)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct inquiry *i = ctx;
    struct mcp_question q[3];
    struct str text = str_cstr(i->head ? i->head : "Prompt: ");
    bool choosy = strstr(i->tool, "_capabilities");
    size_t count = 0;
    struct err e = {0};

    if (strcmp(i->tool, "test_streaming_elicitation") == 0)
        mcp_task_progress(w, 50, 100, STR(""));
    for (size_t n = 0; n < 3 && i->questions[n].key; n++) {
        const char *method = i->questions[n].method;

        if (choosy &&
            !mcp_call_client_can(mcp_task_call(w), capability_of(method)))
            continue;
        q[count++] = (struct mcp_question){
            .key = str_cstr(i->questions[n].key),
            .method = str_cstr(method),
            .params = i->questions[n].params ? str_cstr(i->questions[n].params)
                                             : own_params(w, &a, method),
        };
    }
    if (count && !mcp_task_ask(w, q, count, &a, &e)) {
        text = arena_printf(&a, "Not supported or error: %s (%s)",
                            err_first(&e), err_code_name(e.code));
        finish_inquiry(w, i, &a, text);
        return;
    }
    for (size_t n = 0; n < count; n++)
        text = str_join(text, spell(&a, q[n].answer), &a);
    finish_inquiry(w, i, &a, text);
}

static void work_rounds(void *ctx, struct mcp_task *w)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = STR("Rounds:");
    uint64_t rounds = number_of(work_arguments(w), "rounds");
    struct err e = {0};

    (void)ctx;
    for (uint64_t i = 1; i <= (rounds ? rounds : 2); i++) {
        struct mcp_question q = {
            .key = arena_printf(&a, "step%llu", (unsigned long long)i),
            .method = STR("elicitation/create"),
            .params = STR(FORM("Next?", "\"name\":" STRING, "\"name\"")),
        };

        if (!mcp_task_ask(w, &q, 1, &a, &e)) {
            mcp_task_error(w, MCP_INTERNAL, STR(""), "%s", err_first(&e));
            return;
        }
        text = str_join(text, spell(&a, q.answer), &a);
    }
    mcp_task_result(w, say(&a, text));
}

static void append_line(const struct json *arguments, const char *line)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int fd =
        open(str_dup0(json_text(json_get(arguments, "file")), &a),
             O_WRONLY | O_APPEND | O_CREAT, 0600);
    struct err e;

    if (fd < 0 || !fs_write_all(fd, str_cstr(line), &e))
        nap(0);
}

/* Each round: something is done once (a line in the file), then asked. */
static void work_once(void *ctx, struct mcp_task *w)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *arguments = work_arguments(w);
    uint64_t rounds = number_of(arguments, "rounds");
    struct str text = STR("Once:"), note;
    struct err e = {0};

    (void)ctx;
    for (uint64_t i = 0; i < rounds; i++) {
        struct mcp_question q = {
            .key = arena_printf(&a, "ask%llu", (unsigned long long)i),
            .method = STR("sampling/createMessage"),
            .params = STR(SAMPLE("What next?")),
        };
        enum mcp_once state;

        if (!mcp_task_once(w,
                           arena_printf(&a, "do %llu", (unsigned long long)i),
                           &a, &state, &note, &e))
            break;
        if (state == MCP_FIRST) {
            append_line(arguments, "did\n");
            nap(number_of(arguments, "ms"));
            note = STR("n");
            if (!mcp_task_noted(w, note, &e))
                break;
        }
        text = str_join(text, state == MCP_CUT ? STR("?") : note, &a);
        if (!mcp_task_ask(w, &q, 1, &a, &e))
            break;
        text = str_join(
            text, json_text(json_get(json_get(q.answer, "content"), "text")),
            &a);
        nap(number_of(arguments, "after_ms"));
    }
    if (e.code)
        mcp_task_error(w, MCP_INTERNAL, STR(""), "%s", err_first(&e));
    else
        mcp_task_result(w, say(&a, text));
}

static void work_sleep(void *ctx, struct mcp_task *w)
{
    uint64_t ms = number_of(work_arguments(w), "ms");
    uint64_t until = proc_now_ms() + ms;

    (void)ctx;
    for (double n = 0; proc_now_ms() < until; n++) {
        mcp_task_progress(w, n, -1, STR("zzz"));
        nap(5);
        if (proc_interrupted())
            _exit(0);
    }
    mcp_task_result(w, STR(ANSWER("slept")));
}

/* Deaf to signals, with a child in a session of its own. */
static void work_stubborn(void *ctx, struct mcp_task *w)
{
    const struct json *arguments = work_arguments(w);
    char line[32];
    pid_t pid = fork();

    (void)ctx;
    if (pid == 0) {
        setsid();
        for (;;)
            nap(1000);
    }
    snprintf(line, sizeof line, "%d\n%d\n", (int)getpid(), (int)pid);
    append_line(arguments, line);
    mcp_task_progress(w, 1, -1, STR("ready"));
    for (;;)
        nap(1000);
}

static void work_crash(void *ctx, struct mcp_task *w)
{
    (void)ctx;
    (void)w;
    printf("this must not be seen\n");
    fflush(stdout);
    raise(SIGKILL);
}

static void work_silent(void *ctx, struct mcp_task *w)
{
    (void)ctx;
    (void)w;
}

static void work_flood(void *ctx, struct mcp_task *w)
{
    uint64_t count = number_of(work_arguments(w), "count");

    (void)ctx;
    for (uint64_t i = 0; i < count; i++)
        mcp_task_progress(w, (double)(i / 2), (double)count, STR("flood"));
    mcp_task_result(w, STR(ANSWER("flooded")));
}

/* All that it says are logs. */
static void work_talk(void *ctx, struct mcp_task *w)
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t n = (size_t)number_of(work_arguments(w), "bytes");
    char *text = arena_alloc(&a, n + 2);

    (void)ctx;
    memset(text, 'x', n + 2);
    text[0] = text[n + 1] = '"';
    mcp_task_log(w, "info", STR("\"first\""));
    mcp_task_log(w, "info", str_make(text, n + 2));
    mcp_task_result(w, STR(ANSWER("talked")));
}

#endif
