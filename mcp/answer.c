#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "jobs.h"
#include "server.h"

#define MESSAGE_MAX_BYTES 1024

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
    reply_error(c, code, data, str_cstr(message));
}

void mcp_call_no_resource(struct mcp_call *c, struct str uri)
{
    struct buf data;
    struct json_writer w;

    json_open(&w, &data, MCP_LINE_MAX_BYTES * 2, 0);
    json_member_string(&w, "uri", uri);
    json_end_object(&w);
    reply_error(
        c, mcp_call_era(c) == MCP_STATELESS ? MCP_PARAMS : MCP_NO_RESOURCE,
        data.overflowed ? STR("") : buf_str(&data), STR("Resource not found"));
    buf_done(&data);
}

void mcp_call_missing_capability(struct mcp_call *c, const char *capability)
{
    mcp_call_error(c, missing_capability_code(c),
                   missing_capability_data(capability, &c->a),
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

void call_trim(struct mcp_call *c)
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
