#include <inttypes.h>
#include <stdlib.h>

#include "server.h"

/*
 * Lists by pages, and completion. A cursor is the number of the first item of
 * its page: lists have a fixed order.
 */

struct page {
    size_t from, to;
    struct buf out;
    struct json_writer w;
};

/* Parses the cursor first, so that no list is built for an invalid one. */
static bool take_cursor(struct mcp_call *c, struct page *p)
{
    const struct json *cursor = json_get(c->params, "cursor");
    uint64_t from = 0;

    *p = (struct page){0};
    if (cursor && (cursor->kind != JSON_STRING ||
                   !str_number(cursor->text, SIZE_MAX, &from) || from == 0)) {
        mcp_call_error(c, MCP_PARAMS, STR(""), "There is no such cursor");
        return false;
    }
    p->from = (size_t)from;
    return true;
}

static bool open_page(struct mcp_call *c, struct page *p, bool listed,
                      const char *name, size_t count)
{
    if (!listed) {
        mcp_call_error(c, MCP_INTERNAL, STR(""), "There is no list now");
        return false;
    }
    if (p->from && p->from >= count) {
        mcp_call_error(c, MCP_PARAMS, STR(""), "There is no such cursor");
        return false;
    }
    p->to = count - p->from > MCP_PAGE_MAX_ITEMS ? p->from + MCP_PAGE_MAX_ITEMS
                                                 : count;
    buf_init(&p->out, MCP_TASK_MAX_BYTES);
    buf_printf(&p->out, "\"%s\":", name);
    json_writer_init(&p->w, &p->out, 0);
    json_begin_array(&p->w);
    return true;
}

static void close_page(struct mcp_call *c, struct page *p, size_t count)
{
    json_end_array(&p->w);
    if (p->to < count)
        buf_printf(&p->out, ",\"nextCursor\":\"%zu\"", p->to);
    if (p->out.overflowed)
        mcp_call_error(c, MCP_INTERNAL, STR(""), "The list is too long");
    else
        mcp_call_result(c, buf_str(&p->out));
    buf_done(&p->out);
}

static void put_text(struct json_writer *w, const char *key, struct str s)
{
    if (s.n)
        json_member_string(w, key, s);
}

static void put_raw(struct json_writer *w, const char *key, struct str json)
{
    if (!json.n)
        return;
    json_member_raw(w, key, json);
}

/* Older revisions have names but no titles. */
static void put_name(struct mcp_call *c, struct json_writer *w, struct str name,
                     struct str title, struct str description)
{
    json_member_string(w, "name", name);
    if (c->revision >= REV_2025_06_18)
        put_text(w, "title", title);
    put_text(w, "description", description);
}

void list_tools(struct mcp_call *c)
{
    const struct mcp_server *is = c->s->is;
    const struct mcp_tool *all = NULL;
    size_t count = 0;
    struct page p;
    bool listed;

    if (!take_cursor(c, &p))
        return;
    listed = is->tools(is->ctx, &c->a, &all, &count);
    while (listed && count && all[count - 1].is_unlisted)
        count--;
    if (!open_page(c, &p, listed, "tools", count))
        return;
    for (size_t i = p.from; i < p.to; i++) {
        const struct mcp_tool *t = &all[i];

        json_begin_object(&p.w);
        put_name(c, &p.w, t->name, t->title, t->description);
        put_raw(&p.w, "inputSchema", t->input_schema);
        if (c->revision >= REV_2025_06_18)
            put_raw(&p.w, "outputSchema", t->output_schema);
        if (c->revision >= REV_2025_03_26)
            put_raw(&p.w, "annotations", t->annotations);
        if (c->revision >= REV_2025_06_18)
            put_raw(&p.w, "_meta", t->meta);
        json_end_object(&p.w);
    }
    close_page(c, &p, count);
}

void list_resources(struct mcp_call *c)
{
    const struct mcp_server *is = c->s->is;
    const struct mcp_resource *all = NULL;
    size_t count = 0;
    struct page p;
    bool listed;

    if (!take_cursor(c, &p))
        return;
    listed = !is->resources || is->resources(is->ctx, &c->a, &all, &count);
    if (!open_page(c, &p, listed, "resources", count))
        return;
    for (size_t i = p.from; i < p.to; i++) {
        const struct mcp_resource *r = &all[i];

        json_begin_object(&p.w);
        json_member_string(&p.w, "uri", r->uri);
        put_name(c, &p.w, r->name, r->title, r->description);
        put_text(&p.w, "mimeType", r->mime);
        if (r->size != UINT64_MAX)
            json_member_number(&p.w, "size", r->size);
        if (c->revision >= REV_2025_06_18)
            put_raw(&p.w, "_meta", r->meta);
        json_end_object(&p.w);
    }
    close_page(c, &p, count);
}

void list_templates(struct mcp_call *c)
{
    const struct mcp_server *is = c->s->is;
    const struct mcp_template *all = NULL;
    size_t count = 0;
    struct page p;
    bool listed;

    if (!take_cursor(c, &p))
        return;
    listed = !is->templates || is->templates(is->ctx, &c->a, &all, &count);
    if (!open_page(c, &p, listed, "resourceTemplates", count))
        return;
    for (size_t i = p.from; i < p.to; i++) {
        json_begin_object(&p.w);
        json_member_string(&p.w, "uriTemplate", all[i].uri);
        put_name(c, &p.w, all[i].name, all[i].title, all[i].description);
        put_text(&p.w, "mimeType", all[i].mime);
        json_end_object(&p.w);
    }
    close_page(c, &p, count);
}

static void put_prompt_arguments(struct json_writer *w,
                                 const struct mcp_prompt *prompt)
{
    if (!prompt->argument_count)
        return;
    json_member_array(w, "arguments");
    for (size_t i = 0; i < prompt->argument_count; i++) {
        const struct mcp_argument *a = &prompt->arguments[i];

        json_begin_object(w);
        json_member_string(w, "name", a->name);
        put_text(w, "description", a->description);
        json_member_bool(w, "required", a->required);
        json_end_object(w);
    }
    json_end_array(w);
}

void list_prompts(struct mcp_call *c)
{
    const struct mcp_server *is = c->s->is;
    const struct mcp_prompt *all = NULL;
    size_t count = 0;
    struct page p;
    bool listed;

    if (!take_cursor(c, &p))
        return;
    listed = is->prompts(is->ctx, &c->a, &all, &count);
    if (!open_page(c, &p, listed, "prompts", count))
        return;
    for (size_t i = p.from; i < p.to; i++) {
        struct mcp_prompt one = all[i];

        if (is->prompt_arguments)
            is->prompt_arguments(is->ctx, &c->a, &one);
        json_begin_object(&p.w);
        put_name(c, &p.w, one.name, one.title, one.description);
        put_prompt_arguments(&p.w, &one);
        json_end_object(&p.w);
    }
    close_page(c, &p, count);
}

void complete(struct mcp_call *c)
{
    const struct mcp_server *is = c->s->is;
    const struct json *ref = json_get(c->params, "ref");
    const struct json *argument = json_get(c->params, "argument");
    struct str name = json_text(json_get(argument, "name"));
    struct str typed = json_text(json_get(argument, "value"));
    const struct json *context =
        json_get(json_get(c->params, "context"), "arguments");
    CLEANUP(buf_done) struct buf out = {0};
    struct str *values = NULL;
    size_t count = 0, shown;
    struct json_writer w;

    buf_init(&out, MCP_TASK_MAX_BYTES);
    if (!ref || ref->kind != JSON_OBJECT || !name.p || !typed.p) {
        mcp_call_error(c, MCP_PARAMS, STR(""),
                       "ref or argument is not correct");
        return;
    }
    if (!is->complete(is->ctx, ref, name, typed, context, &c->a, &values,
                      &count)) {
        mcp_call_error(c, MCP_PARAMS, STR(""), "There is no such ref");
        return;
    }
    shown = count < MCP_VALUES_MAX ? count : MCP_VALUES_MAX;
    buf_text(&out, "\"completion\":{\"values\":");
    json_writer_init(&w, &out, 0);
    json_begin_array(&w);
    for (size_t i = 0; i < shown; i++)
        json_string(&w, values[i]);
    json_end_array(&w);
    buf_printf(&out, ",\"total\":%zu,\"hasMore\":%s}", count,
               shown < count ? "true" : "false");
    mcp_call_result(c, buf_str(&out));
}
