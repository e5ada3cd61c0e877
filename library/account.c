#include "base/json.h"
#include "mapm/library.h"

/* Metadata of a returned text, for the client and the history. Source: T17,
 * T19, T23: never bodies. */

#define ACCOUNT_MAX_BYTES (256u * 1024)

static const char *const reasons[] = {
    [LIBRARY_ALWAYS] = "always",
    [LIBRARY_ON_DEMAND] = "on_demand",
    [LIBRARY_AUTO_SUGGESTED] = "auto_suggested",
};

struct account {
    struct buf out;
    struct json_writer w;
};

static void begin(struct account *c)
{
    json_open(&c->w, &c->out, ACCOUNT_MAX_BYTES, 0);
}

static struct str end(struct account *c, struct arena *a)
{
    struct str text;

    json_end_object(&c->w);
    text = arena_str(a, buf_str(&c->out));
    buf_done(&c->out);
    return text;
}

struct str library_search_metadata(struct str query,
                                   const struct library_hit *hits, size_t count,
                                   struct arena *a)
{
    struct account c;

    begin(&c);
    json_member_string(&c.w, "query", query);
    json_member_number(&c.w, "result_count", count);
    json_member_array(&c.w, "result_names");
    for (size_t i = 0; i < count; i++)
        json_string(&c.w, hits[i].skill->name);
    json_end_array(&c.w);
    return end(&c, a);
}

struct str library_load_metadata(const struct library_loaded *l,
                                 struct arena *a)
{
    struct account c;

    begin(&c);
    json_member_string(&c.w, "skill_id", l->skill->name);
    json_member_string(&c.w, "skill_version", str_from(l->skill_version));
    json_member_string(&c.w, "source",
                       str_from(library_source_name(l->skill->source)));
    json_member_number(&c.w, "load_size_tokens", l->load_size_tokens);
    if (l->already_preloaded)
        json_member_bool(&c.w, "already_preloaded", true);
    if (l->already_loaded)
        json_member_bool(&c.w, "already_loaded", true);
    return end(&c, a);
}

struct str library_event(const struct library_loaded *l,
                         enum library_reason reason, struct str tool_use_id,
                         struct arena *a)
{
    struct account c;

    if (l->already_loaded || l->already_preloaded)
        return STR("");
    begin(&c);
    json_member_string(&c.w, "skill_id", l->skill->name);
    json_member_string(&c.w, "skill_version", str_from(l->skill_version));
    json_member_string(&c.w, "load_reason", str_from(reasons[reason]));
    json_member_number(&c.w, "load_size_tokens", l->load_size_tokens);
    json_member_string(&c.w, "source",
                       str_from(library_source_name(l->skill->source)));
    json_member_optional(&c.w, "triggered_by_tool_use_id", tool_use_id);
    return end(&c, a);
}
