#include "jobs.h"
#include "server.h"

/* The part of each method before the function of struct mcp_server is
 * called. */

/* --- initialize and server/discover ------------------------------------- */

static bool has_tools(const struct mcp_server *is)
{
    return is->tools && is->call;
}

static bool has_resources(const struct mcp_server *is)
{
    return is->read;
}

static bool has_directory(const struct mcp_server *is)
{
    return is->directory;
}

static bool has_updates(const struct mcp_server *is)
{
    return is->read && is->updates;
}

static bool has_prompts(const struct mcp_server *is)
{
    return is->prompts && is->prompt;
}

static bool has_completion(const struct mcp_server *is)
{
    return is->complete;
}

static bool has_logs(const struct mcp_server *is)
{
    return is->logs;
}

static bool has_skills(const struct mcp_server *is)
{
    return is->skills_list && is->skills_get && is->read;
}

static void put_listed(struct json_writer *w, const struct mcp_server *is,
                       const char *name, unsigned list)
{
    json_member_object(w, name);
    if (is->changes & list)
        json_member_bool(w, "listChanged", true);
    if (list == MCP_RESOURCES && is->updates)
        json_member_bool(w, "subscribe", true);
    json_end_object(w);
}

static void put_empty(struct json_writer *w, const char *name)
{
    json_member_object(w, name);
    json_end_object(w);
}

/* "capabilities":{…} */
static void put_capabilities(struct buf *out, const struct mcp_call *c)
{
    const struct mcp_server *is = c->s->is;
    struct json_writer w;

    buf_text(out, "\"capabilities\":");
    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    if (has_tools(is))
        put_listed(&w, is, "tools", MCP_TOOLS);
    if (has_resources(is))
        put_listed(&w, is, "resources", MCP_RESOURCES);
    if (has_prompts(is))
        put_listed(&w, is, "prompts", MCP_PROMPTS);
    if (has_completion(is) && c->revision >= REV_2025_03_26)
        put_empty(&w, "completions");
    if (has_logs(is))
        put_empty(&w, "logging");
    if (has_skills(is)) {
        json_member_object(&w, "extensions");
        json_member_object(&w, "io.modelcontextprotocol/skills");
        if (has_directory(is))
            json_member_bool(&w, "directoryRead", true);
        json_end_object(&w);
        json_end_object(&w);
    }
    json_end_object(&w);
}

static void put_instructions(struct buf *out, const struct mcp_server *is)
{
    if (!is->instructions.n)
        return;
    buf_text(out, ",\"instructions\":");
    put_string(out, is->instructions);
}

static void answer(struct mcp_call *c, struct buf *members)
{
    if (members->overflowed)
        mcp_call_error(c, MCP_INTERNAL, STR(""), "The answer is too long");
    else
        mcp_call_result(c, buf_str(members));
}

static void discover(struct mcp_call *c)
{
    CLEANUP(buf_done) struct buf out = {0};

    buf_init(&out, MCP_TASK_MAX_BYTES);
    buf_text(&out, "\"supportedVersions\":[\"2026-07-28\"],");
    put_capabilities(&out, c);
    put_instructions(&out, c->s->is);
    answer(c, &out);
}

/* The requested revision if it is supported, else the newest of that
 * protocol. */
static enum revision choose_revision(struct str asked)
{
    for (int i = REV_2024_11_05; i < REV_2025_11_25; i++)
        if (str_eq(asked, revision_names[i]))
            return (enum revision)i;
    return REV_2025_11_25;
}

/* Keeps the client's data for the connection, because calls borrow from it. */
static void remember_client(struct mcp_call *c)
{
    struct server *s = c->s;
    const struct json *caps = json_get(c->params, "capabilities");
    CLEANUP(buf_done) struct buf text = {0};
    static const struct json_options options = {
        .max_depth = MCP_LINE_MAX_DEPTH, .max_nodes = MCP_LINE_MAX_NODES};
    const struct json *copy;
    struct json_writer w;
    struct err e;

    buf_init(&text, 2 * MCP_LINE_MAX_BYTES);
    json_writer_init(&w, &text, 0);
    json_value(&w, c->params);
    if (!caps || text.overflowed ||
        !json_parse(arena_str(&s->hello, buf_str(&text)), &options, &s->hello,
                    &copy, NULL, &e))
        return;
    s->caps = json_get(copy, "capabilities");
}

static void initialize(struct mcp_call *c)
{
    struct server *s = c->s;
    CLEANUP(buf_done) struct buf out = {0};
    struct json_writer w;
    struct str asked = json_text(json_get(c->params, "protocolVersion"));

    if (!asked.p) {
        mcp_call_error(c, MCP_PARAMS, STR(""),
                       "protocolVersion is not a string");
        return;
    }
    if (s->initialized) { /* calls in progress use its capabilities */
        mcp_call_error(c, MCP_INVALID, STR(""),
                       "initialize came before: once is enough");
        return;
    }
    s->revision = c->revision = choose_revision(asked);
    s->initialized = true;
    s->ready = false;
    remember_client(c);
    buf_init(&out, MCP_TASK_MAX_BYTES);
    buf_printf(&out, "\"protocolVersion\":\"%.*s\",",
               STR_ARG(revision_names[s->revision]));
    put_capabilities(&out, c);
    buf_text(&out, ",\"serverInfo\":");
    json_writer_init(&w, &out, 0);
    json_begin_object(&w);
    json_member_string(&w, "name", s->is->name);
    if (s->is->title.n && s->revision >= REV_2025_06_18)
        json_member_string(&w, "title", s->is->title);
    json_member_string(&w, "version", s->is->version);
    json_end_object(&w);
    put_instructions(&out, s->is);
    answer(c, &out);
}

static void ping(struct mcp_call *c)
{
    mcp_call_result(c, STR(""));
}

/* --- with one text among their parameters ---------------------------------------- */

static bool take_text(struct mcp_call *c, const char *name, struct str *out)
{
    *out = json_text(json_get(c->params, name));
    if (out->p)
        return true;
    mcp_call_error(c, MCP_PARAMS, STR(""), "%s is not a string", name);
    return false;
}

/* Returns NULL if the arguments are not an object. */
static const struct json *take_arguments(struct mcp_call *c)
{
    static const struct json none = {.kind = JSON_OBJECT};
    const struct json *arguments = json_get(c->params, "arguments");

    if (!arguments)
        return &none;
    if (arguments->kind == JSON_OBJECT)
        return arguments;
    mcp_call_error(c, MCP_PARAMS, STR(""), "arguments is not an object");
    return NULL;
}

static bool is_tool(struct mcp_call *c, struct str name)
{
    const struct mcp_tool *tools;
    size_t count;

    if (!c->s->is->tools(c->s->is->ctx, &c->a, &tools, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (str_eq(tools[i].name, name))
            return true;
    return false;
}

static void call_tool(struct mcp_call *c)
{
    const struct json *arguments = take_arguments(c);
    struct str name;

    if (!arguments || !take_text(c, "name", &name))
        return;
    if (!is_tool(c, name))
        mcp_call_error(c, MCP_PARAMS, STR(""), "Unknown tool: %.*s",
                       (int)(name.n < 200 ? name.n : 200), name.p);
    else
        c->s->is->call(c->s->is->ctx, name, arguments, c);
}

static void get_prompt(struct mcp_call *c)
{
    const struct json *arguments = take_arguments(c);
    struct str name;

    if (arguments && take_text(c, "name", &name))
        c->s->is->prompt(c->s->is->ctx, name, arguments, c);
}

static void read_resource(struct mcp_call *c)
{
    struct str uri;

    if (take_text(c, "uri", &uri))
        c->s->is->read(c->s->is->ctx, uri, c);
}

static void read_directory(struct mcp_call *c)
{
    struct str uri;

    if (take_text(c, "uri", &uri))
        c->s->is->directory(c->s->is->ctx, uri, c);
}

static void list_skills(struct mcp_call *c)
{
    c->s->is->skills_list(c->s->is->ctx, c);
}

static void get_skill(struct mcp_call *c)
{
    struct str uri;

    if (take_text(c, "uri", &uri))
        c->s->is->skills_get(c->s->is->ctx, uri, c);
}

/* --- subscriptions ------------------------------------------------------ */

static void set_level(struct mcp_call *c)
{
    unsigned level = log_level_find(json_text(json_get(c->params, "level")));

    if (level == LOG_NONE) {
        mcp_call_error(c, MCP_PARAMS, STR(""), "level is not a level");
        return;
    }
    c->s->log_from = level;
    mcp_call_result(c, STR(""));
}

static size_t find_uri(const struct server *s, struct str uri)
{
    size_t i = 0;

    while (i < s->uri_count && !str_eq(s->uris[i], uri))
        i++;
    return i;
}

/* Texts that are no longer subscribed to stay until the list is empty. */
static void subscribe(struct mcp_call *c)
{
    struct server *s = c->s;
    struct str uri;

    if (!take_text(c, "uri", &uri))
        return;
    if (find_uri(s, uri) == s->uri_count) {
        if (s->uri_count == MCP_MAX_URIS ||
            s->subscribed.bytes > MCP_LINE_MAX_BYTES) {
            mcp_call_error(c, MCP_INTERNAL, STR(""),
                           "There are too many subscriptions");
            return;
        }
        s->uris = arena_grow(&s->subscribed, s->uris, s->uri_count,
                             &s->uri_capacity, sizeof *s->uris);
        s->uris[s->uri_count++] = arena_str(&s->subscribed, uri);
    }
    mcp_call_result(c, STR(""));
}

static void unsubscribe(struct mcp_call *c)
{
    struct server *s = c->s;
    struct str uri;
    size_t i;

    if (!take_text(c, "uri", &uri))
        return;
    i = find_uri(s, uri);
    if (i < s->uri_count)
        s->uris[i] = s->uris[--s->uri_count];
    if (s->uri_count == 0) {
        arena_done(&s->subscribed);
        s->uris = NULL;
        s->uri_capacity = 0;
    }
    mcp_call_result(c, STR(""));
}

static const struct {
    const char *name;
    unsigned list;
} wishes[] = {
    {"toolsListChanged", MCP_TOOLS},
    {"promptsListChanged", MCP_PROMPTS},
    {"resourcesListChanged", MCP_RESOURCES},
};

static bool take_uris(struct mcp_call *c, const struct json *uris)
{
    if (!uris || !has_updates(c->s->is))
        return true;
    if (uris->kind != JSON_ARRAY || uris->count > MCP_MAX_URIS)
        return false;
    c->uris = arena_array(&c->a, uris->count, sizeof *c->uris);
    for (const struct json *j = uris->first; j; j = j->next) {
        if (j->kind != JSON_STRING)
            return false;
        c->uris[c->uri_count++] = j->text;
    }
    return true;
}

static void acknowledge(struct mcp_call *c)
{
    struct json_writer w;
    CLEANUP(buf_done) struct buf out = {0};

    buf_init(&out, MCP_TASK_MAX_BYTES);
    buf_text(&out, "\"method\":\"notifications/subscriptions/acknowledged\","
                   "\"params\":{\"_meta\":{\"io.modelcontextprotocol/"
                   "subscriptionId\":");
    buf_append(&out, c->id);
    buf_text(&out, "},\"notifications\":");
    json_writer_init(&w, &out, 0);
    json_begin_object(&w);
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        if (c->lists & wishes[i].list)
            json_member_bool(&w, wishes[i].name, true);
    if (c->uri_count) {
        json_member_strings(&w, "resourceSubscriptions", c->uris, c->uri_count);
    }
    json_end_object(&w);
    buf_char(&out, '}');
    send_line(c->s, buf_str(&out));
}

static void listen_to(struct mcp_call *c)
{
    const struct json *asked = json_get(c->params, "notifications");

    if (!asked || asked->kind != JSON_OBJECT ||
        !take_uris(c, json_get(asked, "resourceSubscriptions"))) {
        mcp_call_error(c, MCP_PARAMS, STR(""), "notifications is not correct");
        return;
    }
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        if (json_is_true(json_get(asked, wishes[i].name)))
            c->lists |= wishes[i].list;
    c->lists &= c->s->is->changes;
    c->listens = true;
    acknowledge(c);
}

/* --- the table ------------------------------------------------------------------- */

#define BOTH (METHOD_OLD | METHOD_NEW)

/* clang-format off */
static const struct method methods[] = {
    {STR_INIT("tools/call"),       BOTH | METHOD_ASKS,   has_tools, call_tool},
    {STR_INIT("tools/list"),       BOTH | METHOD_KEEPS,  has_tools, list_tools},
    {STR_INIT("prompts/get"),      BOTH | METHOD_ASKS,   has_prompts, get_prompt},
    {STR_INIT("prompts/list"),     BOTH | METHOD_KEEPS,  has_prompts, list_prompts},
    {STR_INIT("resources/list"),   BOTH | METHOD_KEEPS,  has_resources, list_resources},
    {STR_INIT("resources/templates/list"), BOTH | METHOD_KEEPS, has_resources, list_templates},
    {STR_INIT("resources/read"),   BOTH | METHOD_KEEPS | METHOD_READS | METHOD_ASKS, has_resources, read_resource},
    {STR_INIT("resources/directory/read"), BOTH | METHOD_KEEPS, has_directory, read_directory},
    {STR_INIT("resources/subscribe"),      METHOD_OLD,   has_updates, subscribe},
    {STR_INIT("resources/unsubscribe"),    METHOD_OLD,   has_updates, unsubscribe},
    {STR_INIT("completion/complete"),      BOTH,         has_completion, complete},
    {STR_INIT("skills/list"),      BOTH | METHOD_KEEPS,  has_skills, list_skills},
    {STR_INIT("skills/get"),       BOTH | METHOD_KEEPS,  has_skills, get_skill},
    {STR_INIT("ping"),             METHOD_OLD,           NULL, ping},
    {STR_INIT("initialize"),       METHOD_OLD,           NULL, initialize},
    {STR_INIT("logging/setLevel"), METHOD_OLD,           has_logs, set_level},
    {STR_INIT("server/discover"),  METHOD_NEW | METHOD_KEEPS, NULL, discover},
    {STR_INIT("subscriptions/listen"),     METHOD_NEW,   NULL, listen_to},
};
/* clang-format on */

const struct method *method_find(const struct server *s, struct str name,
                                 bool modern)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const struct method *m = &methods[i];

        if (!str_eq(m->name, name))
            continue;
        if (!(m->flags & (modern ? METHOD_NEW : METHOD_OLD)) ||
            (m->served && !m->served(s->is)))
            return NULL;
        return m;
    }
    return NULL;
}

/* A method without a condition needs nothing but `instructions`. */
static bool is_ready(struct mcp_call *c)
{
    const struct mcp_server *is = c->s->is;
    struct err e = {0};

    if (!c->how->served || !is->ready || is->ready(is->ctx, &e))
        return true;
    mcp_call_error(c, MCP_INTERNAL, STR(""), "%s", err_first(&e));
    return false;
}

void method_run(struct mcp_call *c)
{
    if (!is_ready(c))
        return;
    if (mcp_call_era(c) == MCP_STATELESS && (c->how->flags & METHOD_ASKS) &&
        !job_resume(c))
        return;
    c->how->run(c);
}
