#include "base/fs.h"
#include "base/json.h"
#include "base/map.h"
#include "base/path.h"
#include "mapm/authorize.h"
#include "mapm/limits.h"
#include "mapm/lint.h"
#include "mapm/plugin.h"
#include "mapm/plugin_market.h"
#include "mapm/plugin_paths.h"

#include "catalog_command.h"

/*
 * The plugins of a folder as a marketplace.json, which Claude Code, Codex and
 * Copilot read at the same place. Skills that are in no plugin are one of their
 * own, which the entry describes (C16).
 *
 * Source: G13; C10 to C17.
 */

#define FOLDER    ".claude-plugin"
#define FILE_NAME FOLDER "/marketplace.json"
#define FILE_MODE 0644

struct offered {
    struct str folder, name, version, description;
    struct str why; /* it is left out; "" = it is not */
};

struct listing {
    struct invocation *inv;
    struct arena *a;
    struct offered *plugins;
    size_t count, capacity;
    struct str *skills; /* folders */
    size_t skill_count, skill_capacity;
    struct map names, folders; /* of plugins */
};

/* --- what is there ------------------------------------------------------------ */

static void add_plugin(struct listing *l, const struct check_result *r)
{
    struct offered *o;

    if (r->kind != DOC_PLUGIN || catalog_is_copy(r->folder) ||
        !map_put(&l->folders, arena_str(l->a, r->folder), l))
        return;
    l->plugins = arena_grow(l->a, l->plugins, l->count, &l->capacity,
                            sizeof *l->plugins);
    o = &l->plugins[l->count++];
    *o = (struct offered){.folder = arena_str(l->a, r->folder),
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
    for (;;) {
        size_t slash = str_find_last(folder, '/');

        if (map_has(&l->folders, folder))
            return true;
        if (folder.n == 0)
            return false;
        folder = str_slice(folder, 0, slash == SIZE_MAX ? 0 : slash);
    }
}

static void add_skill(struct listing *l, const struct check_result *r)
{
    if (!r->has_kind || r->kind != DOC_SKILL || r->why.errors ||
        catalog_is_copy(r->folder) || is_in_plugin(l, r->folder))
        return;
    l->skills = arena_grow(l->a, l->skills, l->skill_count, &l->skill_capacity,
                           sizeof *l->skills);
    l->skills[l->skill_count++] = arena_str(l->a, r->folder);
}

static bool find_all(struct listing *l, struct check_root *root, struct err *e)
{
    /* The manifest of Claude counts where a folder has both: clients that read
     * a marketplace read that. */
    static const enum profile profiles[] = {
        PROFILE_CLAUDE_PLUGIN, PROFILE_AGENT_PLUGIN, PROFILE_INSTALL};
    struct check_rules rules = {.needs_manifest = true};
    struct project user;
    struct limits limits;

    if (!authorize_config_read(&l->inv->cx, &user, &limits, &rules.origins, e))
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

/* --- the file -------------------------------------------------------------------- */

static void put_path(struct json_writer *w, struct listing *l, struct str path)
{
    json_string(w, arena_printf(l->a, "./%.*s", STR_ARG(path)));
}

static void put_plugin(struct json_writer *w, struct listing *l,
                       const struct offered *o)
{
    json_begin_object(w);
    json_member_string(w, "name", o->name);
    json_key(w, "source");
    put_path(w, l, o->folder);
    if (o->description.n)
        json_member_string(w, "description", o->description);
    if (o->version.n)
        json_member_string(w, "version", o->version);
    json_end_object(w);
}

static void put_skills(struct json_writer *w, struct listing *l,
                       struct str market)
{
    struct str name = arena_printf(l->a, "%.*s-skills", STR_ARG(market));

    if (l->skill_count == 0 || map_has(&l->names, name))
        return;
    json_begin_object(w);
    json_member_string(w, "name", name);
    json_member_string(w, "source", STR("./"));
    json_member_string(
        w, "description",
        arena_printf(l->a, "The skills of %.*s.", STR_ARG(market)));
    json_member_bool(w, "strict", false);
    json_member_array(w, "skills");
    for (size_t i = 0; i < l->skill_count; i++)
        put_path(w, l, l->skills[i]);
    json_end_array(w);
    json_end_object(w);
}

/* Entries that lead to other repositories are their author's. */
static void put_others(struct json_writer *w, const struct listing *l,
                       const struct market *old)
{
    for (size_t i = 0; i < old->count; i++)
        if (old->entries[i].source != MARKET_HERE &&
            !map_has(&l->names, old->entries[i].name))
            json_value(w, old->entries[i].json);
}

/* Of the file that is there its name, owner and other members stay. */
static void put_head(struct json_writer *w, const struct json *old,
                     struct str name)
{
    if (!json_get(old, "name"))
        json_member_string(w, "name", name);
    if (!json_get(old, "owner")) {
        json_member_object(w, "owner");
        json_member_string(w, "name", name);
        json_end_object(w);
    }
    for (const struct json *j = old ? old->first : NULL; j; j = j->next) {
        if (str_is(j->key, "plugins"))
            continue;
        json_key_str(w, j->key);
        json_value(w, j);
    }
}

static bool read_old(struct listing *l, int dirfd, const struct json **root,
                     struct market *old, struct err *e)
{
    const struct json_options bounds = {.max_bytes = MARKETPLACE_MAX_BYTES,
                                        .max_depth = PLUGIN_MAX_DEPTH,
                                        .max_nodes = MARKETPLACE_MAX_NODES};
    struct str text;

    *root = NULL;
    *old = (struct market){0};
    if (!fs_exists_at(dirfd, FILE_NAME))
        return true;
    return fs_read_file_at(dirfd, FILE_NAME, MARKETPLACE_MAX_BYTES, l->a, &text,
                           e) &&
           market_read(text, STR(FILE_NAME), l->a, old, e) &&
           json_parse(text, &bounds, l->a, root, NULL, e);
}

static bool write_file(struct listing *l, int dirfd, struct str folder,
                       struct err *e)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct str name = plugin_scope_of(folder, l->a);
    const struct json *root;
    struct json_writer w;
    struct market old;

    if (!read_old(l, dirfd, &root, &old, e))
        return false;
    if (json_text(json_get(root, "name")).n)
        name = json_text(json_get(root, "name"));
    else if (!name.n)
        name = STR("catalog");
    json_open(&w, &out, MARKETPLACE_MAX_BYTES, 2);
    put_head(&w, root, name);
    json_member_array(&w, "plugins");
    for (size_t i = 0; i < l->count; i++)
        if (!l->plugins[i].why.n)
            put_plugin(&w, l, &l->plugins[i]);
    put_skills(&w, l, name);
    put_others(&w, l, &old);
    json_end_array(&w);
    json_end_object(&w);
    buf_char(&out, '\n');
    return buf_check(&out, FILE_NAME, e) &&
           fs_make_dirs_at(dirfd, FOLDER, 0755, e) &&
           fs_replace_at(dirfd, FILE_NAME, FILE_MODE, buf_str(&out), e);
}

/* --- said ---------------------------------------------------------------------------- */

static void print_json(const struct listing *l)
{
    struct json_writer *w = print_json_begin(l->inv, "mapm.catalog/1", "index");

    json_member_string(w, "marketplace", STR(FILE_NAME));
    json_member_array(w, "plugins");
    for (size_t i = 0; i < l->count; i++) {
        json_begin_object(w);
        json_member_string(w, "path", l->plugins[i].folder);
        json_member_optional(w, "name", l->plugins[i].name);
        json_member_optional(w, "left_out", l->plugins[i].why);
        json_end_object(w);
    }
    json_end_array(w);
    json_member_strings(w, "skills", l->skills, l->skill_count);
    print_json_end(l->inv);
}

static void print_words(const struct listing *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->count; i++) {
        if (l->plugins[i].why.n)
            term_warn(&l->inv->term, "%.*s is left out: %.*s",
                      STR_ARG(l->plugins[i].folder),
                      STR_ARG(l->plugins[i].why));
        else
            n++;
    }
    term_print(&l->inv->term, "%s  %zu plugin%s", FILE_NAME, n,
               n == 1 ? "" : "s");
    if (l->skill_count)
        term_print(&l->inv->term, ", %zu skill%s in no plugin", l->skill_count,
                   l->skill_count == 1 ? "" : "s");
    term_print(&l->inv->term, "\n");
}

bool catalog_write_marketplace(struct invocation *inv, struct str folder,
                               struct err *e)
{
    struct listing l = {.inv = inv, .a = &inv->cx.arena};
    CLEANUP_FD int fd = -1;
    struct check_root root;

    map_init(&l.names, l.a);
    map_init(&l.folders, l.a);
    if (!lint_root_open(folder, &root, l.a, e) ||
        !fs_open_dir(root.real.p, &fd, e) || !find_all(&l, &root, e))
        return false;
    if (l.names.count == 0 && l.skill_count == 0)
        return err_set(e, ERR_NOT_FOUND,
                       "there is no valid plugin and no valid skill below "
                       "%.*s",
                       STR_ARG(folder));
    if (!write_file(&l, fd, path_last(root.real), e))
        return false;
    if (has_option(inv, OPTION_JSON))
        print_json(&l);
    else
        print_words(&l);
    return true;
}
