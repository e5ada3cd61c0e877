#include "jobs.h"
#include "server.h"

/* Parses a line into a call: JSON, JSON-RPC, then the protocol. An invalid line
 * is answered with an error code, and with its id if there is one. */

#define ID_MAX_BYTES      256
#define PROTOCOL          "io.modelcontextprotocol/protocolVersion"
#define CAPABILITIES      "io.modelcontextprotocol/clientCapabilities"
#define LOG_LEVEL         "io.modelcontextprotocol/logLevel"
#define SUPPORTED_VERSION "2026-07-28"

/* --- ids --------------------------------------------------------------------- */

/* Returns whether the id is an integer, which is compared without decoding. */
static bool is_integer(struct str s)
{
    size_t i = s.n && s.p[0] == '-';

    if (i == s.n || s.n > 32 || (s.p[i] == '0' && s.n > i + 1))
        return false;
    for (; i < s.n; i++)
        if (!char_is_digit(s.p[i]))
            return false;
    return true;
}

static bool id_is_good(const struct json *id)
{
    return id && id->end - id->start <= ID_MAX_BYTES &&
           (id->kind == JSON_STRING ||
            (id->kind == JSON_NUMBER && is_integer(id->text)));
}

static struct str spelled(struct str line, const struct json *j)
{
    return str_slice(line, j->start, j->end);
}

/* Returns the index after a string, or the end of the text. */
static size_t skip_string(struct str s, size_t at)
{
    for (at++; at < s.n && s.p[at] != '"'; at++)
        if (s.p[at] == '\\')
            at++;
    return at < s.n ? at + 1 : s.n;
}

static size_t skip_blanks(struct str s, size_t at)
{
    while (at < s.n && (s.p[at] == ' ' || s.p[at] == '\t' || s.p[at] == '\r'))
        at++;
    return at;
}

/* Returns the value of "id" at `at` if it contains no escapes. */
static struct str plain_id(struct str s, size_t at)
{
    size_t end = at;

    at = skip_blanks(s, at);
    if (at == s.n || s.p[at] != ':')
        return STR("");
    at = end = skip_blanks(s, at + 1);
    if (at < s.n && s.p[at] == '"') {
        end = skip_string(s, at);
        s = str_slice(s, at, end);
        if (s.n < 2 || s.n > ID_MAX_BYTES || s.p[s.n - 1] != '"')
            return STR("");
        for (size_t i = 0; i < s.n; i++)
            if (s.p[i] < 0x20 || s.p[i] == 0x7f || s.p[i] == '\\')
                return STR("");
        return s;
    }
    while (end < s.n && (char_is_digit(s.p[end]) || s.p[end] == '-'))
        end++;
    s = str_slice(s, at, end);
    return is_integer(s) ? s : STR("");
}

/* Finds the id of a line that is invalid JSON (an incomplete character, too
 * deep nesting …), so that its sender gets an answer. Returns "" if there is
 * none. */
static struct str glance_id(struct str s)
{
    size_t depth = 0, at = 0;

    while (at < s.n) {
        size_t here = at;
        char c = s.p[at++];

        if (c == '"') {
            at = skip_string(s, here);
            if (depth == 1 && str_eq(str_slice(s, here, at), STR("\"id\"")) &&
                skip_blanks(s, at) < s.n && s.p[skip_blanks(s, at)] == ':')
                return plain_id(s, at);
        } else if (c == '{' || c == '[') {
            if (depth == 0 && c == '[')
                return STR(""); /* a batch has several ids */
            depth++;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
        }
    }
    return STR("");
}

/* Returns "" for an id that is in use, which must not be answered twice. */
static struct str free_id(struct server *s, struct str id)
{
    bool is_text = id.n && id.p[0] == '"';
    struct str text = is_text ? str_slice(id, 1, id.n - 1) : id;

    return id.n && call_find(s, is_text, text) ? STR("") : id;
}

void server_take_long(struct server *s, struct str start)
{
    CLEANUP(arena_done) struct arena a = {0};

    reply_bad(
        s, NULL, free_id(s, glance_id(start)), MCP_INVALID,
        arena_printf(&a, "A message has at most %u bytes", MCP_LINE_MAX_BYTES));
}

/* --- notifications and answers ------------------------------------------------ */

static void take_cancelled(struct server *s, const struct json *params)
{
    const struct json *id = json_get(params, "requestId");
    struct mcp_call *c;

    if (!id_is_good(id))
        return;
    c = call_find(s, id->kind == JSON_STRING, id->text);
    if (c && !str_is(c->method, "initialize"))
        call_drop(c);
}

static void take_notification(struct server *s, struct str method,
                              const struct json *params)
{
    if (str_is(method, "notifications/cancelled"))
        take_cancelled(s, params);
    else if (str_is(method, "notifications/initialized") && s->initialized)
        jobs_ask(s);
}

/* --- requests -------------------------------------------------------------------- */

static bool refuse(struct mcp_call *c, int code, struct str data,
                   const char *text)
{
    reply_error(c, code, data, str_cstr(text));
    return false;
}

static bool take_token(struct mcp_call *c, struct str line)
{
    const struct json *token = json_get(c->meta, "progressToken");

    if (!token)
        return true;
    if (!id_is_good(token))
        return refuse(c, MCP_PARAMS, STR(""),
                      "progressToken is a string or an integer");
    c->token = spelled(line, token);
    return true;
}

/* Members that each stateless request has. */
static bool take_modern(struct mcp_call *c, const struct json *version)
{
    const struct json *level = json_get(c->meta, LOG_LEVEL);

    if (!json_text(version).p)
        return refuse(c, MCP_PARAMS, STR(""),
                      "_meta: " PROTOCOL " is not a string");
    c->revision = REV_2026_07_28;
    c->s->modern_seen = true;
    if (!str_is(version->text, SUPPORTED_VERSION)) {
        struct buf data;

        buf_init(&data, MCP_LINE_MAX_BYTES * 2);
        buf_text(&data,
                 "{\"supported\":[\"" SUPPORTED_VERSION "\"],\"requested\":");
        put_string(&data, version->text);
        buf_char(&data, '}');
        refuse(c, MCP_VERSION, data.overflowed ? STR("") : buf_str(&data),
               "Unsupported protocol version");
        buf_done(&data);
        return false;
    }
    c->caps = json_get(c->meta, CAPABILITIES);
    if (!c->caps || c->caps->kind != JSON_OBJECT)
        return refuse(c, MCP_PARAMS, STR(""),
                      "_meta: " CAPABILITIES " is missing");
    c->log_from = level ? log_level_find(json_text(level)) : LOG_NONE;
    if (level && c->log_from == LOG_NONE)
        return refuse(c, MCP_PARAMS, STR(""),
                      "_meta: " LOG_LEVEL " is not a level");
    return true;
}

static bool is_for_all(struct str method)
{
    return str_is(method, "initialize") || str_is(method, "ping");
}

/* After `initialize` a request needs no version in _meta. */
static bool take_old(struct mcp_call *c)
{
    struct server *s = c->s;

    c->revision = s->revision;
    c->caps = s->caps;
    c->log_from = s->is->logs ? s->log_from : LOG_NONE;
    if (is_for_all(c->method))
        return true;
    if (s->initialized && !str_is(c->method, "server/discover") &&
        !str_is(c->method, "subscriptions/listen")) {
        jobs_on_client_ready(s);
        return true;
    }
    return refuse(c, MCP_PARAMS, STR(""),
                  "params._meta: " PROTOCOL " is missing (or begin with "
                  "initialize)");
}

static bool take_request(struct mcp_call *c, struct str line)
{
    const struct json *version;

    if (c->params && c->params->kind != JSON_OBJECT)
        return refuse(c, MCP_PARAMS, STR(""), "params is not an object");
    c->meta = json_get(c->params, "_meta");
    if (c->meta && c->meta->kind != JSON_OBJECT)
        return refuse(c, MCP_PARAMS, STR(""), "_meta is not an object");
    version = json_get(c->meta, PROTOCOL);
    if (version ? !take_modern(c, version) : !take_old(c))
        return false;
    if (!take_token(c, line))
        return false;
    if (c->batch && str_is(c->method, "initialize"))
        return refuse(c, MCP_INVALID, STR(""), "initialize in a batch");
    c->how = method_find(c->s, c->method, version != NULL);
    if (!c->how)
        return refuse(c, MCP_NO_METHOD, STR(""), "Method not found");
    return true;
}

/* A request is kept in its serialized form until it is answered. */
static bool is_too_much(const struct mcp_call *c)
{
    size_t bytes = 0;

    if (c->a.bytes <= MCP_HELD_ANY_BYTES)
        return false;
    for (const struct mcp_call *o = c->s->calls; o; o = o->next)
        bytes += o->a.bytes;
    return bytes > MCP_HELD_MAX_BYTES;
}

/* The call owns the arena that it was read into, or belongs to a batch. */
static void run_request(struct server *s, struct batch *b, struct str line,
                        const struct json *message, struct arena *a)
{
    const struct json *id = json_get(message, "id");
    struct mcp_call *c = heap_alloc(sizeof *c);

    *c = (struct mcp_call){
        .s = s,
        .a = *a,
        .id = spelled(line, id),
        .id_is_text = id->kind == JSON_STRING,
        .id_text = id->text,
        .method = json_text(json_get(message, "method")),
        .params = json_get(message, "params"),
        .batch = b,
        .held = true,
        .next = s->calls,
    };
    arena_init(a);
    if (b)
        b->waiting++;
    s->calls = c;
    s->call_count++;
    /* ping is always answered */
    if (s->call_count > MCP_MAX_CALLS && !str_is(c->method, "ping"))
        refuse(c, MCP_INTERNAL, STR(""), "Too many calls are under way");
    else if (is_too_much(c))
        refuse(c, MCP_INTERNAL, STR(""), "Too much is under way");
    else if (take_request(c, line))
        method_run(c);
    if (!c->answered && !c->listens && !c->job)
        refuse(c, MCP_INTERNAL, STR(""), "There is no answer to this");
    c->held = false;
    if (c->answered)
        call_drop(c);
    else if (c->listens)
        call_trim(c);
}

static bool is_version_two(const struct json *message)
{
    return str_is(json_text(json_get(message, "jsonrpc")), "2.0");
}

/* `line` lives in `a`, as the message does. */
static void take_message(struct server *s, struct batch *b, struct str line,
                         const struct json *message, struct arena *a)
{
    const struct json *id = json_get(message, "id");
    const struct json *method = json_get(message, "method");
    struct str known = id && id_is_good(id) ? spelled(line, id) : STR("");
    bool in_use =
        known.n && method && call_find(s, id->kind == JSON_STRING, id->text);

    if (in_use)
        reply_bad(s, b, STR(""), MCP_INVALID,
                  STR("The id is that of another request under way"));
    else if (message->kind != JSON_OBJECT)
        reply_bad(s, b, STR(""), MCP_INVALID,
                  STR("A message is a JSON object"));
    else if (!method &&
             (json_get(message, "result") || json_get(message, "error")))
        job_take_answer(s, message);
    else if (!is_version_two(message))
        reply_bad(s, b, known, MCP_INVALID, STR("jsonrpc is not \"2.0\""));
    else if (!json_text(method).p)
        reply_bad(s, b, known, MCP_INVALID, STR("method is not a string"));
    else if (!id)
        take_notification(s, method->text, json_get(message, "params"));
    else if (!known.n)
        reply_bad(s, b, STR(""), MCP_INVALID,
                  STR("id is not a string or an integer, or too long"));
    else
        run_request(s, b, line, message, a);
}

/* Each has its own arena, as their lifetimes differ. */
static void take_part(struct server *s, struct batch *b, struct str part)
{
    static const struct json_options options = {
        .max_depth = MCP_LINE_MAX_DEPTH, .max_nodes = MCP_LINE_MAX_NODES};
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *message;
    struct err e;

    part = arena_str(&a, part);
    /* The part was parsed before as part of the batch. */
    if (json_parse(part, &options, &a, &message, NULL, &e))
        take_message(s, b, part, message, &a);
}

void server_take_part(struct server *s)
{
    struct batch *b = s->reading;
    const struct json *part = b->next;

    b->next = part->next;
    take_part(s, b, spelled(b->line, part));
    if (b->next)
        return;
    s->reading = NULL;
    arena_done(&b->a);
    batch_leave(s, b);
}

static struct str refuse_batch(const struct server *s, const struct json *parts,
                               struct arena *a)
{
    if (!parts->count)
        return STR("An empty batch");
    if (!s->initialized || s->revision != REV_2025_03_26)
        return STR("There are no batches here");
    if (parts->count > MCP_BATCH_MAX_PARTS)
        return arena_printf(a, "A batch has at most %d messages",
                            MCP_BATCH_MAX_PARTS);
    return STR("");
}

/* Takes the arena. Parts are processed one by one, so that signals,
 * cancellations and pings are handled between them, whatever they cost. */
static void take_batch(struct server *s, struct str line,
                       const struct json *parts, struct arena *a)
{
    struct str why = refuse_batch(s, parts, a);
    struct batch *b;

    if (why.n) {
        reply_bad(s, NULL, STR(""), MCP_INVALID, why);
        return;
    }
    while (s->reading)
        server_take_part(s);
    b = heap_alloc(sizeof *b);
    *b = (struct batch){
        .waiting = 1, .a = *a, .line = line, .next = parts->first};
    arena_init(a);
    buf_init(&b->out, MCP_ANSWER_MAX_BYTES);
    s->reading = b;
}

void server_take(struct server *s, struct str line)
{
    static const struct json_options options = {
        .max_depth = MCP_LINE_MAX_DEPTH, .max_nodes = MCP_LINE_MAX_NODES};
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *message;
    struct err e = {0};

    if (!str_trim(line).n)
        return;
    line = arena_str(&a, line);
    if (!json_parse(line, &options, &a, &message, NULL, &e))
        reply_bad(s, NULL, free_id(s, glance_id(line)),
                  e.code == ERR_LIMIT ? MCP_INVALID : MCP_PARSE,
                  str_cstr(err_first(&e)));
    else if (message->kind == JSON_ARRAY)
        take_batch(s, line, message, &a);
    else
        take_message(s, NULL, line, message, &a);
}
