#include "base/fs.h"

#include "connection.h"

/*
 * Which skills a model may see (L6), and which metaskills may be started over
 * MCP (X27). A person who types a name has selected it; a model selects from a
 * list. So a metaskill of the workspace is listed once the workspace is
 * trusted, a fetched one once this digest is trusted, one of the user's own
 * library always.
 */

static bool is_trusted(struct serve *s, const struct lock_entry *entry)
{
    struct err ignored = {0};
    struct trust_request q;
    enum trust_state state;

    return s->store && authorize_request_entry(s->store, entry, &q, &ignored) &&
           authorize_trust(s->cx, s->store, &q, &state, &ignored) &&
           state == TRUST_GIVEN;
}

/* Checked again, on its open folder, before it runs. */
static bool is_own(struct serve *s, const struct library_skill *skill)
{
    struct err ignored = {0};

    return authorize_folder(s->cx, skill->folder, &ignored);
}

bool serve_offers(struct serve *s, const struct library_skill *skill)
{
    const struct lock_entry *entry;
    enum metaskill_policy policy;
    bool is_global = false;

    if (!skill->metaskill || skill->disabled || s->nested)
        return false;
    policy = run_policy(&s->layer);
    if (policy == METASKILLS_OFF)
        return false;
    if (policy == METASKILLS_ALL)
        return true;
    entry = layer_find_folder(&s->layer, skill->folder);
    if (!entry && s->has_global) {
        entry = layer_find_folder(&s->global, skill->folder);
        is_global = entry != NULL;
    }
    if (entry && layer_is_fetched(is_global ? &s->global : &s->layer, entry))
        return policy == METASKILLS_TRUSTED && is_trusted(s, entry);
    return is_global || (s->workspace_trusted && is_own(s, skill));
}

static void look_at_workspace(struct serve *s)
{
    struct err e = {0};
    enum trust_state state;
    bool trusted =
        s->store && layer_is_trusted(&s->layer, s->cx, s->store, &state, &e);

    if (e.code == ERR_NONE)
        s->workspace_trusted = trusted;
}

bool serve_offers_others(struct serve *s)
{
    size_t n = 0;

    look_at_workspace(s);
    for (size_t i = 0; i < s->runnable_count; i++) {
        if (!serve_offers(s, s->runnable[i]))
            continue;
        if (n == s->name_count || !str_eq(s->names[n], s->runnable[i]->name))
            return true;
        n++;
    }
    return n != s->name_count;
}

/* --- visibility for models (L6) ----------------------------------------- */

bool serve_shows(const struct serve *s, const struct library_skill *skill)
{
    return !skill->disabled || map_has(&s->started, skill->name);
}

bool serve_check_shown(const struct serve *s, const struct library_skill *skill,
                       struct err *e)
{
    return serve_shows(s, skill) || library_check_model(skill, e);
}

void serve_refuse(struct mcp_call *c, const struct err *e)
{
    mcp_call_error(c, MCP_PARAMS, STR(""), "%s%s%s", err_first(e),
                   e->hint[0] ? ": " : "", e->hint);
}
