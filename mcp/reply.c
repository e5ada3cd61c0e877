#include <string.h>

#include "server.h"

/*
 * Output: one message a line. Answers are joined from pieces of JSON, which
 * are not parsed again.
 */

static void blank_out(char *p, size_t n, char c)
{
    for (char *at = p; (at = memchr(at, c, n - (size_t)(at - p))) != NULL;)
        *at = ' ';
}

void put_json(struct buf *out, struct str json)
{
    size_t from = out->n;

    buf_append(out, json);
    if (out->n == from)
        return;
    /* Outside of strings a line end is white space, and inside there is
     * none. */
    blank_out(out->p + from, out->n - from, '\n');
    blank_out(out->p + from, out->n - from, '\r');
}

void put_string(struct buf *out, struct str s)
{
    struct json_writer w;

    json_writer_init(&w, out, 0);
    json_string(&w, s);
}

/* The destination of a call's answer, and the text before its first byte. */
static struct buf *begin(struct server *s, struct batch *b)
{
    struct buf *out = b ? &b->out : &s->out;

    if (b)
        buf_char(out, out->n ? ',' : '[');
    buf_text(out, "{\"jsonrpc\":\"2.0\",");
    return out;
}

/* The limit holds for all batches together. */
static void end(struct server *s, struct batch *b)
{
    buf_text(b ? &b->out : &s->out, b ? "}" : "}\n");
    if (!b)
        return;
    s->batched += b->out.n - b->counted;
    b->counted = b->out.n;
    if (!b->out.overflowed && s->batched <= MCP_ANSWER_MAX_BYTES)
        return;
    buf_done(&b->out);
    b->out.overflowed = true;
    s->batched -= b->counted;
    b->counted = 0;
}

static void put_keep(struct buf *out, struct mcp_keep keep)
{
    buf_printf(out, "\"ttlMs\":%llu,\"cacheScope\":\"%s\",",
               (unsigned long long)keep.ttl_ms,
               keep.is_public ? "public" : "private");
}

static struct mcp_keep keep_of(const struct mcp_call *c)
{
    /* Depends on answers that are not part of the request: not cacheable. */
    if (c->resumed)
        return (struct mcp_keep){0};
    return c->how->flags & METHOD_READS ? c->s->is->reads : c->s->is->lists;
}

static bool fits(const struct server *s, size_t n)
{
    return n <= MCP_ANSWER_MAX_BYTES &&
           out_pending(s) + n <= out_max(s) - MCP_OUT_ENOUGH_BYTES;
}

/* Returns whether `n` more bytes may be buffered; otherwise answers the call
 * with an error. */
static bool has_room(struct mcp_call *c, size_t n)
{
    if (!fits(c->s, n))
        reply_error(c, MCP_INTERNAL, STR(""),
                    n > MCP_ANSWER_MAX_BYTES
                        ? STR("The answer is too long")
                        : STR("Too much waits to be read"));
    return !c->answered;
}

/* Begins an answer up to its id, for results and errors. */
static struct buf *begin_answer(struct mcp_call *c)
{
    struct buf *out = begin(c->s, c->batch);

    c->answered = true;
    buf_text(out, "\"id\":");
    buf_append(out, c->id);
    buf_char(out, ',');
    return out;
}

void reply_result(struct mcp_call *c, struct str members)
{
    bool modern = mcp_call_era(c) == MCP_STATELESS;
    struct buf *out;

    if (c->answered || !has_room(c, members.n))
        return;
    out = begin_answer(c);
    buf_text(out, "\"result\":{");
    if (modern) {
        buf_text(out, "\"resultType\":\"complete\",");
        if (c->how->flags & METHOD_KEEPS)
            put_keep(out, keep_of(c));
    }
    put_json(out, members);
    if (modern) {
        buf_text(out, members.n ? ",\"_meta\":{" : "\"_meta\":{");
        buf_append(out, c->s->info);
        buf_char(out, '}');
    }
    buf_char(out, '}');
    end(c->s, c->batch);
}

void reply_input_required(struct mcp_call *c, struct str requests,
                          struct str state)
{
    struct buf *out;

    if (c->answered || !has_room(c, requests.n))
        return;
    out = begin_answer(c);
    buf_text(out, "\"result\":{\"resultType\":\"input_required\","
                  "\"inputRequests\":");
    put_json(out, requests);
    buf_text(out, ",\"requestState\":\"");
    buf_append(out, state);
    buf_text(out, "\",\"_meta\":{");
    buf_append(out, c->s->info);
    buf_text(out, "}}");
    end(c->s, c->batch);
}

static void put_error(struct buf *out, int code, struct str data,
                      struct str message)
{
    buf_printf(out, "\"error\":{\"code\":%d,\"message\":", code);
    put_string(out, message);
    if (data.n) {
        buf_text(out, ",\"data\":");
        put_json(out, data);
    }
    buf_char(out, '}');
}

void reply_error(struct mcp_call *c, int code, struct str data,
                 struct str message)
{
    struct buf *out;

    if (c->answered)
        return;
    out = begin_answer(c);
    put_error(out, code, fits(c->s, data.n) ? data : STR(""), message);
    end(c->s, c->batch);
}

void reply_bad(struct server *s, struct batch *b, struct str id, int code,
               struct str message)
{
    struct buf *out = begin(s, b);

    /* JSON-RPC has null for an id that is not known; from 2025-11-25 on the
     * protocol has none at all there. */
    if (id.n) {
        buf_text(out, "\"id\":");
        buf_append(out, id);
        buf_char(out, ',');
    } else if (!s->modern_seen && s->revision < REV_2025_11_25) {
        buf_text(out, "\"id\":null,");
    }
    put_error(out, code, STR(""), message);
    end(s, b);
}

void batch_leave(struct server *s, struct batch *b)
{
    if (--b->waiting)
        return;
    if (b->out.overflowed) {
        reply_bad(s, NULL, STR(""), MCP_INTERNAL,
                  STR("The answers to this batch are too long"));
    } else if (b->out.n) {
        buf_append(&s->out, buf_str(&b->out));
        buf_text(&s->out, "]\n");
    }
    s->batched -= b->counted;
    buf_done(&b->out);
    arena_done(&b->a);
    heap_free(b);
}

/* --- on our own account ---------------------------------------------------- */

void send_line(struct server *s, struct str members)
{
    buf_text(&s->out, "{\"jsonrpc\":\"2.0\",");
    put_json(&s->out, members);
    buf_text(&s->out, "}\n");
}

static const struct {
    unsigned list;
    const char *method;
} list_names[] = {
    {MCP_TOOLS, "notifications/tools/list_changed"},
    {MCP_RESOURCES, "notifications/resources/list_changed"},
    {MCP_PROMPTS, "notifications/prompts/list_changed"},
};

/* `id` is the id of the listener, or "" in the sessioned protocol. */
static void notify(struct server *s, const char *method, struct str uri,
                   struct str id)
{
    struct buf *out = &s->out;

    buf_printf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"", method);
    if (id.n || uri.n)
        buf_text(out, ",\"params\":{");
    if (id.n) {
        buf_text(out, "\"_meta\":{\"io.modelcontextprotocol/"
                      "subscriptionId\":");
        buf_append(out, id);
        buf_text(out, uri.n ? "}," : "}");
    }
    if (uri.n) {
        buf_text(out, "\"uri\":");
        put_string(out, uri);
    }
    buf_text(out, id.n || uri.n ? "}}\n" : "}\n");
}

static void notify_lists(struct server *s, unsigned lists, struct str id)
{
    for (size_t i = 0; i < sizeof list_names / sizeof *list_names; i++)
        if (lists & list_names[i].list)
            notify(s, list_names[i].method, STR(""), id);
}

void send_changes(struct server *s, unsigned lists, struct str uri)
{
    static const char updated[] = "notifications/resources/updated";

    lists &= s->is->changes;
    if (s->initialized) {
        notify_lists(s, lists, STR(""));
        if (uri.n && str_in(s->uris, s->uri_count, uri))
            notify(s, updated, uri, STR(""));
    }
    for (const struct mcp_call *c = s->calls; c; c = c->next) {
        if (!c->listens)
            continue;
        notify_lists(s, lists & c->lists, c->id);
        if (uri.n && str_in(c->uris, c->uri_count, uri))
            notify(s, updated, uri, c->id);
    }
}

/*
 * A subscription that we end has an answer, as others have (patterns/
 * subscriptions), and then its stream is closed, which on stdio is a
 * notification (patterns/cancellation). In this order: clients take the answer
 * for a good end, and a notification that comes first for a broken one.
 */
void send_end_of_listening(struct server *s)
{
    static const char of[] = "\"_meta\":{\"io.modelcontextprotocol/"
                             "subscriptionId\":";
    struct buf *out = &s->out;

    for (const struct mcp_call *c = s->calls; c; c = c->next) {
        if (!c->listens)
            continue;
        buf_text(out, "{\"jsonrpc\":\"2.0\",\"id\":");
        buf_append(out, c->id);
        buf_printf(out, ",\"result\":{\"resultType\":\"complete\",%s", of);
        buf_append(out, c->id);
        buf_char(out, ',');
        buf_append(out, s->info);
        buf_printf(out,
                   "}}}\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                   "cancelled\",\"params\":{%s",
                   of);
        buf_append(out, c->id);
        buf_text(out, "},\"requestId\":");
        buf_append(out, c->id);
        buf_text(out, ",\"reason\":\"The server ends\"}}\n");
    }
}
