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

/* Returns whether the skill belongs to the user; checked again on its open
 * folder before it runs. */
static bool is_own(struct serve *s, const struct library_skill *skill)
{
    struct err ignored = {0};

    return authorize_folder(s->cx, skill->folder, &ignored);
}

/* Finds the lock entry of the skill and its layer; both are NULL if there is
 * none. With --global the only layer is that of the library. */
static const struct lock_entry *find_entry(const struct serve *s,
                                           const struct library_skill *skill,
                                           const struct layer **layer)
{
    const struct layer *layers[] = {&s->layer, &s->global};

    for (size_t i = 0; i < (s->has_global ? 2 : 1); i++) {
        const struct lock_entry *entry =
            layer_find_folder(layers[i], skill->folder);

        *layer = entry ? layers[i] : NULL;
        if (entry)
            return entry;
    }
    return NULL;
}

static bool is_fetched(const struct layer *layer,
                       const struct lock_entry *entry)
{
    return entry && layer_is_fetched(layer, entry);
}

static bool is_allowed(struct serve *s, const struct library_skill *skill)
{
    enum metaskill_policy policy = run_policy(&s->layer);
    const struct lock_entry *entry;
    const struct layer *layer;

    if (policy == METASKILLS_OFF)
        return false;
    if (policy == METASKILLS_ALL)
        return true;
    entry = find_entry(s, skill, &layer);
    if (is_fetched(layer, entry))
        return policy == METASKILLS_TRUSTED && is_trusted(s, entry);
    return (layer && layer->is_global) ||
           (s->workspace_trusted && is_own(s, skill));
}

/* --- whether it would start (K15, X28) ----------------------------------- */

enum { NOT_LOOKED_AT, STARTS, FAILS };

static bool fail(struct serve *s, const struct library_skill *skill,
                 const char *why)
{
    context_warn(s->cx, "metaskill '%.*s' is not offered: %s",
                 STR_ARG(skill->name), why);
    return false;
}

/* Reads the files like a run, and compares those of a package with the lock, in
 * a temporary arena. */
static bool is_whole(struct serve *s, const struct library_skill *skill)
{
    struct context cx = *s->cx;
    struct run_skill found;
    struct err e = {0};
    bool ok;

    cx.arena = (struct arena){0};
    ok = run_skill_read(&cx, s->store, &s->layer, s->library, skill, &found,
                        &e) ||
         fail(s, skill, err_first(&e));
    arena_done(&cx.arena);
    return ok;
}

static bool starts(struct serve *s, const struct library_skill *skill)
{
    const struct lock_entry *entry;
    const struct layer *layer;

    if (skill->broken)
        return fail(s, skill, "its program does not compile (mapm check)");
    entry = find_entry(s, skill, &layer);
    return !is_fetched(layer, entry) || is_whole(s, skill);
}

bool serve_offers(struct serve *s, const struct library_skill *skill)
{
    size_t count = library_count(s->library), i;

    if (!skill->metaskill || skill->disabled || s->nested ||
        !is_allowed(s, skill))
        return false;
    if (!s->verdicts)
        s->verdicts = arena_array(&s->verdict_snap, count + 1, 1);
    i = (size_t)(skill - library_at(s->library, 0));
    if (s->verdicts[i] == NOT_LOOKED_AT)
        s->verdicts[i] = starts(s, skill) ? STARTS : FAILS;
    return s->verdicts[i] == STARTS;
}

/* --- the discovery block (A4) --------------------------------------------- */

/* Returns whether the skill is in the workspace, but not in a home folder
 * within it. */
static bool is_of_workspace(const struct serve *s,
                            const struct library_skill *skill)
{
    struct str home = s->cx->home, workspace = s->layer.path;

    return fs_path_is_within(skill->folder, workspace) &&
           (skill->source == LIBRARY_WORKSPACE ||
            !(home.n && fs_path_is_within(home, workspace)));
}

enum library_entry serve_entry(void *ctx, const struct library_skill *skill)
{
    const struct serve *s = ctx;

    if (!s->workspace_trusted && is_of_workspace(s, skill))
        return LIBRARY_WITHHELD;
    /* Uses the list of tools, since checking the owner of each skill is
     * expensive. */
    return str_in_sorted(s->names, s->name_count, skill->name)
               ? LIBRARY_LISTED
               : LIBRARY_AS_STATIC;
}

static void scan_workspace(struct serve *s)
{
    struct err e = {0};
    enum trust_state state;
    bool trusted =
        s->layer.is_global ||
        (s->store && layer_is_trusted(&s->layer, s->cx, s->store, &state, &e));

    if (e.code == ERR_NONE)
        s->workspace_trusted = trusted;
}

bool serve_offers_others(struct serve *s)
{
    size_t n = 0;

    scan_workspace(s);
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
