#include "connection.h"

/* Results of tools, as the protocol has them. */

struct str serve_inside(const struct buf *object)
{
    return str_slice(buf_str(object), 1, object->n - 1);
}

static void put_text(struct json_writer *w, struct str text)
{
    json_begin_object(w);
    json_member_string(w, "type", STR("text"));
    json_member_string(w, "text", text);
    json_end_object(w);
}

void serve_put_messages(struct json_writer *w, struct str text)
{
    json_member_array(w, "messages");
    json_begin_object(w);
    json_member_string(w, "role", STR("user"));
    json_key(w, "content");
    put_text(w, text);
    json_end_object(w);
    json_end_array(w);
}

/* A truncated text would be invalid JSON or misleading. */
static struct str too_large(struct arena *a)
{
    return arena_printf(a,
                        "\"content\":[{\"type\":\"text\",\"text\":\"the result "
                        "is larger than the %u MB that an answer holds\"}],"
                        "\"isError\":true",
                        SERVE_TEXT_MAX_BYTES >> 20);
}

struct str serve_members(const struct serve_result *r, bool with_structured,
                         struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, 2 * SERVE_TEXT_MAX_BYTES, 0);
    json_member_array(&w, "content");
    put_text(&w, r->text);
    if (r->more.n)
        put_text(&w, r->more);
    json_end_array(&w);
    if (with_structured && r->structured.n) {
        json_member_raw(&w, "structuredContent", r->structured);
    }
    if (r->is_error)
        json_member_bool(&w, "isError", true);
    json_end_object(&w);
    if (b.overflowed || r->is_cut)
        return too_large(a);
    return arena_str(a, serve_inside(&b));
}

bool serve_knows_structured(const struct mcp_call *c)
{
    return str_cmp(mcp_call_version(c), STR("2025-06-18")) >= 0;
}

void serve_answer(struct mcp_call *c, const struct serve_result *r)
{
    mcp_call_result(
        c, serve_members(r, serve_knows_structured(c), mcp_call_arena(c)));
}

struct str serve_error_text(const struct err *e, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, ERR_TEXT_MAX_BYTES + 64);
    for (const char *m = err_prev(e, NULL); m; m = err_prev(e, m)) {
        if (b.n)
            buf_text(&b, ": ");
        buf_text(&b, m);
    }
    return arena_str(a, buf_str(&b));
}

void serve_answer_error(struct serve *s, struct mcp_call *c,
                        const struct err *e)
{
    struct str text = serve_error_text(e, mcp_call_arena(c));

    serve_event_failed(s, e->code, text, c);
    serve_answer(c, &(struct serve_result){.text = text,
                                           .more = str_cstr(e->hint),
                                           .is_error = true});
}
