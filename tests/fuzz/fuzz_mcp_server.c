/*
 * mcp: what a client says, line by line, to a server that answers at once, and
 * to one that would need a process. Whatever comes, what goes out is one JSON
 * message a line, each id answered once, and nothing is left. [row 23].
 *
 * Input: the first byte is the size of the pieces in which the rest comes.
 */

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "../../mcp/jobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINES_MAX 200

static void must(bool ok)
{
    if (!ok)
        abort();
}

/* --- what is served -------------------------------------------------------------- */

static bool tools(void *ctx, struct arena *a, const struct mcp_tool **out,
                  size_t *count)
{
    static const struct mcp_tool two[] = {
        {.name = STR_INIT("a"),
         .title = STR_INIT("A"),
         .input_schema = STR_INIT("{\"type\":\n\"object\"}")},
        {.name = STR_INIT("work"), .input_schema = STR_INIT("{}")},
    };

    (void)ctx;
    (void)a;
    *out = two;
    *count = 2;
    return true;
}

static void work(void *ctx, struct mcp_task *w)
{
    (void)ctx;
    (void)w;
}

static struct str one_string(struct arena *a, const char *key, struct str s)
{
    struct buf out;
    struct json_writer w;
    struct str text;

    buf_init(&out, 1u << 26);
    buf_printf(&out, "\"%s\":", key);
    json_writer_init(&w, &out, 0);
    json_string(&w, s);
    text = arena_str(a, buf_str(&out));
    buf_done(&out);
    return text;
}

static void call(void *ctx, struct str tool, const struct json *arguments,
                 struct mcp_call *c)
{
    (void)ctx;
    must(arguments->kind == JSON_OBJECT);
    if (str_is(tool, "work"))
        mcp_call_run_task(c, work, NULL);
    else
        mcp_call_result(
            c, one_string(mcp_call_arena(c), "x", json_text(arguments->first)));
}

static bool resources(void *ctx, struct arena *a,
                      const struct mcp_resource **out, size_t *count)
{
    struct mcp_resource *all = arena_array(a, 600, sizeof *all);

    (void)ctx;
    for (size_t i = 0; i < 600; i++)
        all[i] = (struct mcp_resource){.uri = STR("x:y"), .name = STR("n")};
    *out = all;
    *count = 600;
    return true;
}

static void read_one(void *ctx, struct str uri, struct mcp_call *c)
{
    (void)ctx;
    must(text_is_utf8(uri));
    mcp_call_no_resource(c, uri);
}

static bool prompts(void *ctx, struct arena *a, const struct mcp_prompt **out,
                    size_t *count)
{
    (void)ctx;
    (void)a;
    *out = NULL;
    *count = 0;
    return true;
}

static void prompt(void *ctx, struct str name, const struct json *arguments,
                   struct mcp_call *c)
{
    (void)ctx;
    (void)arguments;
    mcp_call_error(c, MCP_PARAMS, STR(""), "%.*s", STR_ARG(name));
}

static bool completion(void *ctx, const struct json *ref, struct str argument,
                       struct str typed, const struct json *context,
                       struct arena *a, struct str **out, size_t *count)
{
    (void)ctx;
    (void)ref;
    (void)argument;
    (void)context;
    *out = arena_array(a, 200, sizeof **out);
    for (*count = 0; *count < 200; ++*count)
        (*out)[*count] = typed;
    return true;
}

static void skills(void *ctx, struct mcp_call *c)
{
    (void)ctx;
    mcp_call_result(c, STR("\"skills\":[]"));
}

/* --- what comes out ---------------------------------------------------------------- */

static bool is_message(const struct json *j)
{
    return j->kind == JSON_OBJECT &&
           str_is(json_text(json_get(j, "jsonrpc")), "2.0") &&
           (json_get(j, "method") != NULL) + (json_get(j, "result") != NULL) +
                   (json_get(j, "error") != NULL) ==
               1;
}

static void check_line(struct str line)
{
    static const struct json_options options = {.max_depth = 80};
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *j;
    struct err e;

    must(json_parse(line, &options, &a, &j, NULL, &e));
    if (j->kind == JSON_ARRAY) {
        must(j->count > 0);
        for (j = j->first; j; j = j->next)
            must(is_message(j));
    } else {
        must(is_message(j));
    }
}

static void check_output(struct server *s)
{
    struct str rest = buf_str(&s->out), line;

    must(!s->out.overflowed);
    must(!rest.n || rest.p[rest.n - 1] == '\n');
    while (rest.n && str_cut(&rest, '\n', &line) && rest.p)
        check_line(line);
    buf_clear(&s->out);
}

static void take_all(struct server *s, unsigned *count)
{
    enum lines_state state;
    struct str line;

    while (*count < LINES_MAX &&
           (state = lines_take(&s->lines, &line)) != LINES_MORE) {
        ++*count;
        if (state == LINES_LONG)
            server_take_long(s, line);
        else
            server_take(s, line);
        while (s->reading && *count % 2) /* else at the next batch, or never */
            server_take_part(s);
        must(s->call_count <= MCP_MAX_CALLS);
        check_output(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char key[32] = "of the fuzzer, and of nobody els";
    static const struct mcp_server is = {
        .name = STR_INIT("fuzz"),
        .version = STR_INIT("1"),
        .tools = tools,
        .call = call,
        .resources = resources,
        .read = read_one,
        .directory = read_one,
        .prompts = prompts,
        .prompt = prompt,
        .complete = completion,
        .skills_list = skills,
        .skills_get = read_one,
        .logs = true,
        .changes = MCP_TOOLS,
        .updates = true,
        .watch_fd = -1,
        .state_key = key,
    };
    size_t piece = size ? (size_t)data[0] + 1 : 1, at = 1, room, n;
    unsigned count = 0;
    struct server s;
    struct str line;

    server_init(&s, &is);
    while (at < size && count < LINES_MAX) {
        char *p = lines_room(&s.lines, &room);

        n = size - at < piece ? size - at : piece;
        must(room >= n);
        memcpy(p, data + at, n);
        lines_add(&s.lines, n);
        at += n;
        take_all(&s, &count);
    }
    if (lines_rest(&s.lines, &line))
        server_take(&s, line);
    send_changes(&s, MCP_TOOLS | MCP_PROMPTS, STR("x:y"));
    send_end_of_listening(&s);
    check_output(&s);
    server_done(&s);
    return 0;
}
