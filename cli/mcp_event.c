#include "serve.h"
#include "skill_event.h"

/*
 * The call of a model that this request carries out, as clients that tell it do
 * so: a member of _meta whose name, behind its prefix, is one of these.
 */
static struct str tool_use_id(const struct mcp_call *c)
{
    static const char *const names[] = {"toolUseId", "tool_use_id",
                                        "toolCallId", "tool_call_id"};
    const struct json *meta = mcp_call_meta(c);

    for (const struct json *m = meta ? meta->first : NULL; m; m = m->next) {
        size_t slash = str_find_last(m->key, '/');
        struct str name =
            slash == SIZE_MAX ? m->key : str_from_index(m->key, slash + 1);

        if (m->kind != JSON_STRING || m->text.n > SESSION_ID_MAX_CHARS)
            continue;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (str_is(name, names[i]))
                return m->text;
    }
    return STR("");
}

void serve_event_loaded(struct serve *s, const struct library_loaded *l,
                        const struct mcp_call *c)
{
    struct err e = {0};

    if (!skill_event_put(s->store, s->session_id, l, SKILL_LOADED_ON_DEMAND,
                         tool_use_id(c), &e))
        term_warn(&s->inv->term, "this is not remembered: %s", err_first(&e));
}
