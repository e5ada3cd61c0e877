#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "jobs.h"
#include "server.h"

#define MESSAGE_MAX_BYTES 1024

const struct str revision_names[] = {
    STR_INIT("2024-11-05"), STR_INIT("2025-03-26"), STR_INIT("2025-06-18"),
    STR_INIT("2025-11-25"), STR_INIT("2026-07-28"),
};

const char *const log_levels[LOG_LEVELS] = {
    "debug", "info",     "notice", "warning",
    "error", "critical", "alert",  "emergency",
};

unsigned log_level_find(struct str name)
{
    unsigned i = 0;

    while (i < LOG_LEVELS && !str_is(name, log_levels[i]))
        i++;
    return i;
}

/* --- looking ---------------------------------------------------------------- */

enum mcp_era mcp_call_era(const struct mcp_call *c)
{
    return c->revision == REV_2026_07_28 ? MCP_NEW : MCP_OLD;
}

struct str mcp_call_version(const struct mcp_call *c)
{
    return revision_names[c->revision];
}

struct arena *mcp_call_arena(struct mcp_call *c)
{
    return &c->a;
}

const struct json *mcp_call_params(const struct mcp_call *c)
{
    return c->params;
}

const struct json *mcp_call_meta(const struct mcp_call *c)
{
    return c->meta;
}

static bool is_object(const struct json *j)
{
    return j && j->kind == JSON_OBJECT;
}

/* Before 2025-11-25 there was the form alone; since then who names neither mode
 * means the form. */
static bool can_elicit(const struct mcp_call *c, const struct json *elicitation,
                       struct str mode)
{
    bool is_form = str_is(mode, "form");

    if (c->revision < REV_2025_11_25)
        return is_form;
    if (is_object(json_get_str(elicitation, mode)))
        return true;
    return is_form && !json_get(elicitation, "form") &&
           !json_get(elicitation, "url");
}

/* "a/b": a member of a member; what follows "extensions/" is one name. */
bool mcp_call_client_can(const struct mcp_call *c, const char *capability)
{
    struct str rest = str_from(capability), head;
    const struct json *one;

    str_cut(&rest, '/', &head);
    one = json_get_str(c->caps, head);
    if (!is_object(one))
        return false;
    if (!rest.p)
        return true;
    if (str_is(head, "elicitation"))
        return can_elicit(c, one, rest);
    return is_object(json_get_str(one, rest));
}

/* --- answering --------------------------------------------------------------- */

void mcp_call_result(struct mcp_call *c, struct str members)
{
    reply_result(c, members);
}

void mcp_call_error(struct mcp_call *c, int code, struct str data,
                    const char *format, ...)
{
    char message[MESSAGE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    reply_error(c, code, data, str_from(message));
}

void mcp_call_no_resource(struct mcp_call *c, struct str uri)
{
    struct buf data;
    struct json_writer w;

    buf_init(&data, MCP_LINE_MAX_BYTES * 2);
    json_writer_init(&w, &data, 0);
    json_begin_object(&w);
    json_member_string(&w, "uri", uri);
    json_end_object(&w);
    reply_error(c, mcp_call_era(c) == MCP_NEW ? MCP_PARAMS : MCP_NO_RESOURCE,
                data.overflowed ? STR("") : buf_str(&data),
                STR("Resource not found"));
    buf_done(&data);
}

int lack_code(const struct mcp_call *c)
{
    return mcp_call_era(c) == MCP_NEW ? MCP_LACKS : MCP_INVALID;
}

struct str lack_data(const char *capability, struct arena *a)
{
    struct str rest = str_from(capability), head;

    str_cut(&rest, '/', &head);
    if (!rest.p)
        return arena_printf(a, "{\"requiredCapabilities\":{\"%.*s\":{}}}",
                            STR_ARG(head));
    return arena_printf(a,
                        "{\"requiredCapabilities\":{\"%.*s\":{\"%.*s\":{}}}}",
                        STR_ARG(head), STR_ARG(rest));
}

void mcp_call_lacks(struct mcp_call *c, const char *capability)
{
    mcp_call_error(c, lack_code(c), lack_data(capability, &c->a),
                   "This needs a client with the capability %s", capability);
}

void mcp_call_changed(struct mcp_call *c, unsigned lists)
{
    send_changes(c->s, lists, STR(""));
}

void mcp_call_updated(struct mcp_call *c, struct str uri)
{
    send_changes(c->s, 0, uri);
}

/* --- the list ------------------------------------------------------------------ */

struct mcp_call *call_find(struct server *s, bool is_text, struct str id)
{
    struct mcp_call *c = s->calls;

    while (c && (c->id_is_text != is_text || !str_eq(c->id_text, id)))
        c = c->next;
    return c;
}

void call_drop(struct mcp_call *c)
{
    struct server *s = c->s;
    struct mcp_call **at = &s->calls;
    struct batch *b = c->batch;

    job_forget_call(c);
    if (c->held)
        return;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    s->call_count--;
    arena_done(&c->a);
    heap_free(c);
    if (b)
        batch_leave(s, b);
}

void call_keep_little(struct mcp_call *c)
{
    struct arena a = {0};
    struct str *uris = arena_array(&a, c->uri_count, sizeof *uris);

    for (size_t i = 0; i < c->uri_count; i++)
        uris[i] = arena_str(&a, c->uris[i]);
    c->uris = uris;
    c->id = arena_str(&a, c->id);
    c->id_text = arena_str(&a, c->id_text);
    c->method = c->how->name;
    c->params = c->meta = c->caps = NULL;
    c->token = STR("");
    arena_done(&c->a);
    c->a = a;
}
