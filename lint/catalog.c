#include "base/map.h"
#include "base/path.h"
#include "mapm/authorize.h"
#include "mapm/lint.h"

struct listing {
    struct arena *a;
    struct market_plugin *plugins;
    size_t count, capacity;
    struct str *skills; /* folders of skills */
    size_t skill_count, skill_capacity;
    struct map names, folders; /* names and folders of plugins */
};

/* Returns true for a folder with copies that a client reads, or with installed
 * packages. */
static bool is_copy(struct str folder)
{
    static const char *const heads[] = {".agents/", ".claude/", ".well-known/"};

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (str_starts(folder, str_cstr(heads[i])))
            return true;
    return false;
}

bool lint_list_skills(struct context *cx, const struct check_root *root,
                      struct str_list *out, struct err *e)
{
    CLEANUP(lint_results_done) struct check_results results = {0};
    struct check_rules rules = {.profile = PROFILE_INSTALL};
    struct arena *a = &cx->arena;
    struct project user;
    struct limits limits;
    struct str *items;

    if (!authorize_config_read(cx, &user, &limits, &rules.origins, e) ||
        !lint_find(root, 1, &rules, a, &results, e))
        return false;
    items = arena_array(a, results.count + 1, sizeof *items);
    *out = (struct str_list){items, 0};
    for (size_t i = 0; i < results.count; i++) {
        const struct check_result *r = results.items[i];

        if (r->has_kind && r->kind == DOC_SKILL && !is_copy(r->folder))
            items[out->count++] = arena_str(a, r->folder);
    }
    return true;
}

static void add_plugin(struct listing *l, const struct check_result *r)
{
    struct market_plugin *o;

    if (r->kind != DOC_PLUGIN || is_copy(r->folder) ||
        !map_put(&l->folders, arena_str(l->a, r->folder), l))
        return;
    l->plugins = arena_grow(l->a, l->plugins, l->count, &l->capacity,
                            sizeof *l->plugins);
    o = &l->plugins[l->count++];
    *o = (struct market_plugin){.folder = arena_str(l->a, r->folder),
                                .name = arena_str(l->a, r->name),
                                .version = arena_str(l->a, r->version),
                                .description = arena_str(l->a, r->description)};
    if (r->why.errors)
        o->why = STR("it is not valid: mapm check says why, with --profile "
                     "agent-plugin or claude-plugin");
    else if (!map_put(&l->names, o->name, o))
        o->why = STR("another plugin has this name");
}

static bool is_in_plugin(const struct listing *l, struct str folder)
{
    for (;; folder = path_folder(folder)) {
        if (map_has(&l->folders, folder))
            return true;
        if (folder.n == 0)
            return false;
    }
}

static void add_skill(struct listing *l, const struct check_result *r)
{
    if (!r->has_kind || r->kind != DOC_SKILL || r->why.errors ||
        is_copy(r->folder) || is_in_plugin(l, r->folder))
        return;
    l->skills = arena_grow(l->a, l->skills, l->skill_count, &l->skill_capacity,
                           sizeof *l->skills);
    l->skills[l->skill_count++] = arena_str(l->a, r->folder);
}

static bool find_all(struct listing *l, struct context *cx,
                     const struct check_root *root, struct err *e)
{
    /* If a folder has both manifests, that of Claude is used, since clients
     * that read a marketplace read that one. */
    static const enum profile profiles[] = {
        PROFILE_CLAUDE_PLUGIN, PROFILE_AGENT_PLUGIN, PROFILE_INSTALL};
    struct check_rules rules = {.needs_manifest = true};
    struct project user;
    struct limits limits;

    if (!authorize_config_read(cx, &user, &limits, &rules.origins, e))
        return false;
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
        CLEANUP(lint_results_done) struct check_results results = {0};

        rules.profile = profiles[i];
        if (!lint_find(root, 1, &rules, l->a, &results, e))
            return false;
        for (size_t k = 0; k < results.count; k++)
            if (rules.profile == PROFILE_INSTALL)
                add_skill(l, results.items[k]);
            else if (results.items[k]->has_kind)
                add_plugin(l, results.items[k]);
    }
    return true;
}

bool lint_list_plugins(struct context *cx, const struct check_root *root,
                       struct market_listing *out, struct err *e)
{
    struct listing l = {.a = &cx->arena};

    map_init(&l.names, l.a);
    map_init(&l.folders, l.a);
    if (!find_all(&l, cx, root, e))
        return false;
    *out = (struct market_listing){.plugins = l.plugins,
                                   .count = l.count,
                                   .skills = {l.skills, l.skill_count}};
    return l.names.count || l.skill_count ||
           err_set(e, ERR_NOT_FOUND,
                   "there is no valid plugin and no valid skill below "
                   "%.*s",
                   STR_ARG(root->shown.n ? root->shown : STR(".")));
}
