/*
 * A server of mcp for tests: the tools, prompts and resources that the official
 * conformance suite asks for, and some that misbehave. It speaks on stdin and
 * stdout; tests/mcp/bridge makes HTTP of it.
 *
 *     mcp_fixture [--journal DIR] [--ask-ms N] [--many N] [--watch FIFO]
 *                 [--out-bytes N]
 */

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp_journal.h"
#include "mcp_tasks.h"

struct fixture {
    struct folder_journal folder;
    struct mcp_journal journal;
    struct mcp_server server;
    const char *ready_file;
    size_t many;
    unsigned char key[32];
    struct str uri;
};

/* --- tools --------------------------------------------------------------------- */

#define SCHEMA_2020                                                            \
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","           \
    "\"type\":\"object\",\"$defs\":{\"address\":{\"$anchor\":\"addressDef\","  \
    "\"type\":\"object\",\"properties\":{\"street\":" STRING                   \
    ",\"city\":" STRING "}}},\"properties\":{\"name\":" STRING                 \
    ",\"address\":{\"$ref\":\"#/$defs/address\"},\"contactMethod\":{\"type\":" \
    "\"string\",\"enum\":[\"phone\",\"email\"]},\"phone\":" STRING             \
    ",\"email\":" STRING                                                       \
    "},\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":["      \
    "\"email\"]}]}],\"if\":{\"properties\":{\"contactMethod\":{\"const\":"     \
    "\"phone\"}},\"required\":[\"contactMethod\"]},\"then\":{\"required\":["   \
    "\"phone\"]},\"else\":{\"required\":[\"email\"]},"                         \
    "\"additionalProperties\":false}"

/* clang-format off */
static const struct {
    const char *name;
    const char *schema; /* NULL: no arguments */
    const char *result; /* NULL: by `work` or in call() */
    void (*work)(void *ctx, struct mcp_task *w);
} tools[] = {
    {"test_simple_text", NULL, ANSWER("This is a simple text response for testing."), NULL},
    {"test_image_content", NULL, "\"content\":[" PICTURE "]", NULL},
    {"test_audio_content", NULL, "\"content\":[{\"type\":\"audio\",\"data\":\"" AUDIO "\",\"mimeType\":\"audio/wav\"}]", NULL},
    {"test_embedded_resource", NULL, "\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\","
        "\"mimeType\":\"text/plain\",\"text\":\"This is an embedded resource content.\"}}]", NULL},
    {"test_multiple_content_types", NULL, "\"content\":[" TEXT("Multiple content types test:") "," PICTURE
        ",{\"type\":\"resource\",\"resource\":{\"uri\":\"test://mixed-content-resource\",\"mimeType\":\"application/json\","
        "\"text\":\"{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}\"}}]", NULL},
    {"test_error_handling", NULL, ANSWER("This tool intentionally returns an error for testing") ",\"isError\":true", NULL},
    {"json_schema_2020_12_tool", SCHEMA_2020, ANSWER("called"), NULL},
    {"test_tool_with_logging", NULL, NULL, work_logging},
    {"test_logging_tool", NULL, NULL, work_logging},
    {"test_tool_with_progress", NULL, NULL, work_progress},
    {"test_reconnection", NULL, ANSWER("Reconnection test completed successfully."), NULL},
    {"test_sampling", "{\"type\":\"object\",\"properties\":{\"prompt\":" STRING "},\"required\":[\"prompt\"]}", NULL, NULL},
    {"test_elicitation", "{\"type\":\"object\",\"properties\":{\"message\":" STRING "},\"required\":[\"message\"]}", NULL, NULL},
    {"test_elicitation_sep1034_defaults", NULL, NULL, NULL},
    {"test_elicitation_sep1330_enums", NULL, NULL, NULL},
    {"test_streaming_elicitation", NULL, NULL, NULL},
    {"elicit_url", NULL, NULL, NULL},
    {"elicit_form", NULL, NULL, NULL},
    {"elicit_other", NULL, NULL, NULL},
    {"sample_tools", NULL, NULL, NULL},
    {"test_input_required_result_elicitation", NULL, NULL, NULL},
    {"test_input_required_result_sampling", NULL, NULL, NULL},
    {"test_input_required_result_list_roots", NULL, NULL, NULL},
    {"test_input_required_result_request_state", NULL, NULL, NULL},
    {"test_input_required_result_multiple_inputs", NULL, NULL, NULL},
    {"test_input_required_result_multi_round", NULL, NULL, work_rounds},
    {"test_input_required_result_tampered_state", NULL, NULL, NULL},
    {"test_input_required_result_capabilities", NULL, NULL, NULL},
    {"test_missing_capability", NULL, NULL, NULL},
    {"test_trigger_tool_change", NULL, NULL, NULL},
    {"test_trigger_prompt_change", NULL, NULL, NULL},
    {"echo", "{\"type\":\"object\",\n\"properties\":{\"text\":" STRING "}}", NULL, NULL},
    {"once", NULL, NULL, work_once},
    {"sleep", NULL, NULL, work_sleep},
    {"stubborn", NULL, NULL, work_stubborn},
    {"crash", NULL, NULL, work_crash},
    {"silent", NULL, NULL, work_silent},
    {"flood", NULL, NULL, work_flood},
    {"talk", NULL, NULL, work_talk},
    {"nothing", NULL, NULL, NULL},
    {"busy", NULL, NULL, NULL},
    {"long", NULL, NULL, NULL},
};
/* clang-format on */

#define TOOL_COUNT (sizeof tools / sizeof *tools)

static bool list_tools(void *ctx, struct arena *a, const struct mcp_tool **out,
                       size_t *count)
{
    static struct mcp_tool all[TOOL_COUNT];

    (void)ctx;
    (void)a;
    for (size_t i = 0; i < TOOL_COUNT && !all[i].name.n; i++)
        all[i] = (struct mcp_tool){
            .name = str_cstr(tools[i].name),
            .title = STR("A tool"),
            .description = STR("Of the fixture"),
            .input_schema =
                str_cstr(tools[i].schema ? tools[i].schema : NO_ARGUMENTS),
            .annotations = STR("{\"readOnlyHint\":true}"),
        };
    *out = all;
    *count = TOOL_COUNT;
    return true;
}

/* The table is not written to; works take any pointer. */
static bool inquire(struct str name, struct mcp_call *c)
{
    for (size_t i = 0; i < sizeof inquiries / sizeof *inquiries; i++)
        if (str_is(name, inquiries[i].tool)) {
            struct inquiry *copy = arena_alloc(mcp_call_arena(c), sizeof *copy);

            *copy = inquiries[i];
            mcp_call_run_task(c, work_inquiry, copy);
            return true;
        }
    return false;
}

/* A text of so many bytes. */
static struct str say_much(struct arena *a, uint64_t bytes)
{
    char *text = arena_alloc(a, (size_t)bytes + 1);

    memset(text, 'x', (size_t)bytes);
    return say(a, str_make(text, (size_t)bytes));
}

static void call_tool(void *ctx, struct str tool, const struct json *arguments,
                      struct mcp_call *c)
{
    struct arena *a = mcp_call_arena(c);

    (void)ctx;
    if (inquire(tool, c))
        return;
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        if (!str_is(tool, tools[i].name))
            continue;
        if (tools[i].result)
            mcp_call_result(c, str_cstr(tools[i].result));
        else if (tools[i].work)
            mcp_call_run_task(c, tools[i].work, NULL);
    }
    if (str_is(tool, "echo")) {
        mcp_call_result(c, say(a, json_text(json_get(arguments, "text"))));
    } else if (str_is(tool, "busy")) { /* not in a process of its own */
        nap(number_of(arguments, "ms"));
        mcp_call_result(c, STR(ANSWER("was busy")));
    } else if (str_is(tool, "long")) {
        mcp_call_result(c, say_much(a, number_of(arguments, "bytes")));
    } else if (str_starts(tool, STR("test_trigger"))) {
        mcp_call_changed(c, str_is(tool, "test_trigger_tool_change")
                                ? MCP_TOOLS
                                : MCP_PROMPTS);
        mcp_call_updated(c, STR("test://watched-resource"));
        mcp_call_result(c, STR(ANSWER("Mutation triggered")));
    } else if (str_is(tool, "test_missing_capability")) {
        struct str wants = json_text(json_get(arguments, "capability"));
        const char *capability = wants.n ? str_dup0(wants, a) : "sampling";

        if (mcp_call_client_can(c, capability))
            mcp_call_result(c, STR(ANSWER("Success")));
        else
            mcp_call_missing_capability(c, capability);
    }
}

/* --- resources ------------------------------------------------------------------- */

static const struct mcp_resource resources[] = {
    {STR_INIT("test://static-text"), STR_INIT("static-text"),
     STR_INIT("Static Text Resource"), STR_INIT("For testing"),
     STR_INIT("text/plain"), UINT64_MAX, STR_INIT("")},
    {STR_INIT("test://static-binary"), STR_INIT("static-binary"), STR_INIT(""),
     STR_INIT("An image"), STR_INIT("image/png"), 70, STR_INIT("")},
    {STR_INIT("test://watched-resource"), STR_INIT("watched-resource"),
     STR_INIT(""), STR_INIT(""), STR_INIT("text/plain"), UINT64_MAX,
     STR_INIT("")},
    {STR_INIT("skill://demo/hello/SKILL.md"), STR_INIT("hello"), STR_INIT(""),
     STR_INIT("Says hello."), STR_INIT("text/markdown"), UINT64_MAX,
     STR_INIT("")},
};

static bool list_resources(void *ctx, struct arena *a,
                           const struct mcp_resource **out, size_t *count)
{
    const struct fixture *f = ctx;
    size_t fixed = sizeof resources / sizeof *resources;
    struct mcp_resource *all = arena_array(a, fixed + f->many, sizeof *all);

    memcpy(all, resources, sizeof resources);
    for (size_t i = 0; i < f->many; i++)
        all[fixed + i] = (struct mcp_resource){
            .uri = arena_printf(a, "test://many/%zu", i),
            .name = arena_printf(a, "many-%zu", i),
            .size = UINT64_MAX,
        };
    *out = all;
    *count = fixed + f->many;
    return true;
}

static bool list_templates(void *ctx, struct arena *a,
                           const struct mcp_template **out, size_t *count)
{
    static const struct mcp_template one = {
        STR_INIT("test://template/{id}/data"), STR_INIT("template"),
        STR_INIT("Resource Template"), STR_INIT("With a parameter"),
        STR_INIT("application/json")};

    (void)ctx;
    (void)a;
    *out = &one;
    *count = 1;
    return true;
}

#define SKILL_URI "skill://demo/hello/SKILL.md"
#define NOTE_URI  "skill://demo/hello/notes/more.md"
#define NOTE      "More.\n"
#define SKILL     "---\nname: hello\ndescription: Says hello.\n---\n\nSay hello.\n"

static void read_resource(void *ctx, struct str uri, struct mcp_call *c)
{
    struct arena *a = mcp_call_arena(c);
    const char *text = "This is the content of the static text resource.";
    const char *mime = "text/plain", *key = "text";
    struct str id;
    CLEANUP(buf_done) struct buf out = {0};
    struct json_writer w;

    (void)ctx;
    if (str_starts(uri, STR("test://template/")) &&
        str_ends(uri, STR("/data"))) {
        id = str_slice(uri, 16, uri.n - 5);
        text = arena_printf(a,
                            "{\"id\":\"%.*s\",\"templateTest\":true,\"data\":"
                            "\"Data for ID: %.*s\"}",
                            STR_ARG(id), STR_ARG(id))
                   .p;
        mime = "application/json";
    } else if (str_is(uri, "test://static-binary")) {
        text = IMAGE;
        mime = "image/png";
        key = "blob";
    } else if (str_is(uri, SKILL_URI)) {
        text = SKILL;
        mime = "text/markdown";
    } else if (str_is(uri, NOTE_URI)) {
        text = NOTE;
        mime = "text/markdown";
    } else if (!str_is(uri, "test://static-text") &&
               !str_is(uri, "test://watched-resource")) {
        mcp_call_no_resource(c, uri);
        return;
    }
    buf_init(&out, 1u << 24);
    buf_text(&out, "\"contents\":");
    json_writer_init(&w, &out, 0);
    json_begin_array(&w);
    json_begin_object(&w);
    json_member_string(&w, "uri", uri);
    json_member_string(&w, "mimeType", str_cstr(mime));
    json_member_string(&w, key, str_cstr(text));
    json_end_object(&w);
    json_end_array(&w);
    mcp_call_result(c, buf_str(&out));
}

#define FILE_OF(uri, name)                                                     \
    "{\"uri\":\"" uri "\",\"name\":\"" name "\",\"mimeType\":\"text/"          \
    "markdown\"}"

static void read_directory(void *ctx, struct str uri, struct mcp_call *c)
{
    (void)ctx;
    if (str_is(uri, "skill://demo/hello"))
        mcp_call_result(
            c,
            STR("\"resources\":[" FILE_OF(
                SKILL_URI, "SKILL.md") ",{\"uri\":\"skill://demo/hello/notes\","
                                       "\"name\":\"notes\",\"mimeType\":"
                                       "\"inode/directory\"}]"));
    else if (str_is(uri, "skill://demo/hello/notes"))
        mcp_call_result(
            c, STR("\"resources\":[" FILE_OF(NOTE_URI, "more.md") "]"));
    else
        mcp_call_error(c, MCP_PARAMS, STR(""), "There is no such directory");
}

static struct str skill_entry(struct arena *a)
{
    struct hash skill = hash_of(STR(SKILL)), note = hash_of(STR(NOTE));

    return arena_printf(
        a,
        "{\"uri\":\"" SKILL_URI "\",\"frontmatter\":{\"name\":\"hello\","
        "\"description\":\"Says hello.\"},\"resources\":[{\"uri\":\"" SKILL_URI
        "\",\"digest\":\"sha256:%.*s\",\"size\":%zu},{\"uri\":\"" NOTE_URI
        "\",\"digest\":\"sha256:%.*s\",\"size\":%zu}]}",
        STR_ARG(hash_hex(&skill, a)), sizeof SKILL - 1,
        STR_ARG(hash_hex(&note, a)), sizeof NOTE - 1);
}

static void list_skills(void *ctx, struct mcp_call *c)
{
    struct arena *a = mcp_call_arena(c);

    (void)ctx;
    mcp_call_result(
        c, arena_printf(a, "\"skills\":[%.*s]", STR_ARG(skill_entry(a))));
}

static void get_skill(void *ctx, struct str uri, struct mcp_call *c)
{
    struct arena *a = mcp_call_arena(c);

    (void)ctx;
    if (str_is(uri, SKILL_URI))
        mcp_call_result(
            c, arena_printf(a, "\"skill\":%.*s", STR_ARG(skill_entry(a))));
    else
        mcp_call_error(c, MCP_PARAMS, STR(""), "There is no such skill");
}

/* --- prompts ----------------------------------------------------------------------- */

static const struct mcp_argument two[] = {
    {STR_INIT("arg1"), STR_INIT("First test argument"), true},
    {STR_INIT("arg2"), STR_INIT("Second test argument"), true},
};
static const struct mcp_argument embedded[] = {
    {STR_INIT("resourceUri"), STR_INIT("What to embed"), true},
};
static const struct mcp_prompt prompts[] = {
    {STR_INIT("test_simple_prompt"), STR_INIT("Simple Test Prompt"),
     STR_INIT("Without arguments"), NULL, 0},
    {STR_INIT("test_prompt_with_arguments"), STR_INIT("With arguments"),
     STR_INIT("Of two arguments"), two, 2},
    {STR_INIT("test_prompt_with_embedded_resource"), STR_INIT("Embedding"),
     STR_INIT("Embeds a resource"), embedded, 1},
    {STR_INIT("test_prompt_with_image"), STR_INIT("Image"),
     STR_INIT("Shows an image"), NULL, 0},
    {STR_INIT("test_input_required_result_prompt"), STR_INIT("Asks"),
     STR_INIT("Asks for its context"), NULL, 0},
};

static bool list_prompts(void *ctx, struct arena *a,
                         const struct mcp_prompt **out, size_t *count)
{
    (void)ctx;
    (void)a;
    *out = prompts;
    *count = sizeof prompts / sizeof *prompts;
    return true;
}

#define MESSAGE(content) "{\"role\":\"user\",\"content\":" content "}"

static void get_prompt(void *ctx, struct str name, const struct json *arguments,
                       struct mcp_call *c)
{
    struct arena *a = mcp_call_arena(c);
    struct str text;

    (void)ctx;
    if (str_is(name, "test_simple_prompt")) {
        mcp_call_result(c, STR("\"messages\":[" MESSAGE(TEXT(
                               "This is a simple prompt for testing.")) "]"));
    } else if (str_is(name, "test_prompt_with_arguments")) {
        text = say(a, arena_printf(
                          a, "Prompt with arguments: arg1='%.*s', arg2='%.*s'",
                          STR_ARG(json_text(json_get(arguments, "arg1"))),
                          STR_ARG(json_text(json_get(arguments, "arg2")))));
        text = str_slice(text, strlen("\"content\":["), text.n - 1);
        mcp_call_result(c, arena_printf(a,
                                        "\"messages\":[{\"role\":\"user\","
                                        "\"content\":%.*s}]",
                                        STR_ARG(text)));
    } else if (str_is(name, "test_prompt_with_embedded_resource")) {
        text = spell(a, json_get(arguments, "resourceUri"));
        mcp_call_result(
            c, arena_printf(
                   a,
                   "\"messages\":[{\"role\":\"user\",\"content\":{"
                   "\"type\":\"resource\",\"resource\":{\"uri\":%.*s,"
                   "\"mimeType\":\"text/plain\",\"text\":\"Embedded "
                   "resource content for testing.\"}}}," MESSAGE(
                       TEXT("Please process the embedded resource above.")) "]",
                   STR_ARG(text)));
    } else if (str_is(name, "test_prompt_with_image")) {
        mcp_call_result(c, STR("\"messages\":[" MESSAGE(PICTURE) "," MESSAGE(
                               TEXT("Please analyze the image above.")) "]"));
    } else if (!inquire(name, c)) {
        mcp_call_error(c, MCP_PARAMS, STR(""), "Unknown prompt");
    }
}

static bool complete(void *ctx, const struct json *ref, struct str argument,
                     struct str typed, const struct json *context,
                     struct arena *a, struct str **out, size_t *count)
{
    struct str type = json_text(json_get(ref, "type"));
    size_t n = str_is(typed, "many") ? 150 : 3;

    (void)ctx;
    (void)argument;
    (void)context;
    if (!str_is(type, "ref/prompt") && !str_is(type, "ref/resource"))
        return false;
    *out = arena_array(a, n, sizeof **out);
    for (*count = 0; *count < n; ++*count)
        (*out)[*count] = arena_printf(a, "%.*s%zu", STR_ARG(typed), *count);
    return true;
}

/* --- being watched -------------------------------------------------------------------- */

/* Each byte is a change: t, p, r are lists; u is a resource. */
static void watched(void *ctx, struct mcp_changes *out, unsigned *again_ms)
{
    struct fixture *f = ctx;
    char bytes[64];
    ssize_t n = read(f->server.watch_fd, bytes, sizeof bytes);

    *again_ms = 0;
    for (ssize_t i = 0; i < n; i++) {
        out->lists |= bytes[i] == 't' ? MCP_TOOLS : 0;
        out->lists |= bytes[i] == 'p' ? MCP_PROMPTS : 0;
        out->lists |= bytes[i] == 'r' ? MCP_RESOURCES : 0;
        if (bytes[i] == 'u') {
            f->uri = STR("test://watched-resource");
            out->uris = &f->uri;
            out->uri_count = 1;
        }
    }
}

static bool is_ready(void *ctx, struct err *e)
{
    const struct fixture *f = ctx;

    return access(f->ready_file, F_OK) == 0 ||
           err_set(e, ERR_FAILED, "not ready");
}

static bool take_options(struct fixture *f, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *value = argv[i + 1];

        if (strcmp(argv[i], "--journal") == 0) {
            f->folder.dir = open(value, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            f->server.journal = &f->journal;
            f->server.state_key = f->key;
        } else if (strcmp(argv[i], "--ask-ms") == 0) {
            f->server.ask_max_ms = (unsigned)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--beat-ms") == 0) {
            f->server.heartbeat_ms = (unsigned)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--settle-ms") == 0) {
            f->server.progress_delay_ms = (unsigned)strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--out-bytes") == 0) {
            f->server.out_max_bytes = strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--many") == 0) {
            f->many = strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--ready") == 0) {
            f->ready_file = value;
            f->server.ready = is_ready;
        } else if (strcmp(argv[i], "--watch") == 0) {
            f->server.watch_fd = open(value, O_RDWR | O_NONBLOCK | O_CLOEXEC);
            f->server.watched = watched;
        } else {
            return false;
        }
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv)
{
    static struct fixture f;
    struct err e = {0};

    proc_init();
    memset(f.key, 'k', sizeof f.key);
    f.journal = folder_functions;
    f.journal.ctx = &f.folder;
    f.server = (struct mcp_server){
        .name = STR("mcp-fixture"),
        .title = STR("Fixture"),
        .version = STR("1.0.0"),
        .instructions = STR("For tests."),
        .tools = list_tools,
        .call = call_tool,
        .resources = list_resources,
        .templates = list_templates,
        .read = read_resource,
        .directory = read_directory,
        .prompts = list_prompts,
        .prompt = get_prompt,
        .complete = complete,
        .skills_list = list_skills,
        .skills_get = get_skill,
        .logs = true,
        .changes = MCP_TOOLS | MCP_RESOURCES | MCP_PROMPTS,
        .updates = true,
        .lists = {.ttl_ms = 300000, .is_public = true},
        .reads = {.ttl_ms = 1000},
        .watch_fd = -1,
        .ctx = &f,
    };
    if (!take_options(&f, argc, argv)) {
        fprintf(stderr, "usage: mcp_fixture [--journal DIR] …\n");
        return 2;
    }
    if (mcp_serve(&f.server, STDIN_FILENO, STDOUT_FILENO, &e))
        return 0;
    fprintf(stderr, "mcp_fixture: %s\n", err_first(&e));
    return 1;
}
