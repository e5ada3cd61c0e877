#include "base/map.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/plugin_market.h"
#include "mapm/plugin_paths.h"

#include <string.h>

#include "check.h"
#include "claude.h"
#include "plugin_parts.h"

/* Checks marketplace.json and that the sources in its own repository exist.
 * Source: C10 to C18; PLUGINS.md rows 31, 33, 35. */

struct market_check {
    struct checking c;
    struct map names; /* names of all entries */
    bool is_claude;   /* the file is for Claude Code, which has the strictest
                       * rules */
};

#define SAY(m, code, at, name, text, ...)                                      \
    check_report(&(m)->c, code, at, "%.*s: " text, STR_ARG(check_shown(name)), \
                 __VA_ARGS__)

/* clang-format off */
/* Names that Claude Code reserves, as of November 2026. */
static const char *const reserved[] = {
    "claude-plugins-official", "agent-skills", "npm", "github", "inline", "builtin",
};
/* clang-format on */

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] >= 0x7f || strchr("@:/\\", s.p[i]))
            return false;
    return s.n > 0;
}

static void check_head(struct market_check *m, const struct json *root)
{
    const struct json *name = json_get(root, "name");
    const struct json *owner = json_get(root, "owner");

    if (!name || !json_text(name).n)
        check_report(&m->c, "market-name-missing", name,
                     "it has no name (C10)");
    else if (!is_name(name->text))
        check_report(
            &m->c, "market-name", name,
            "the name \"%.*s\" has a blank, \"@\", \":\", a separator or "
            "a letter that is not ASCII (C18)",
            STR_ARG(check_shown(name->text)));
    for (size_t i = 0; name && i < COUNT(reserved); i++)
        if (str_is(json_text(name), reserved[i]))
            check_report(&m->c, "market-reserved", name,
                         "Claude Code keeps the name %s for itself (C18)",
                         reserved[i]);
    if (m->is_claude && !json_text(json_get(owner, "name")).n)
        check_report(&m->c, "market-owner", owner,
                     "owner with a name is missing (C10)");
}

/* --- where an entry is --------------------------------------------------------- */

static bool has_parts(struct market_check *m, struct str folder,
                      const struct json *entry)
{
    static const char *const places[] = {
        "skills",    "commands",  "agents",    "hooks",
        ".mcp.json", "SKILL.md",  ".lsp.json", "output-styles",
        "mcp.json",  "workflows", "themes",
    };
    static const char *const keys[] = {"skills",      "commands",   "agents",
                                       "mcpServers",  "lspServers", "hooks",
                                       "outputStyles"};

    for (size_t i = 0; i < COUNT(keys); i++)
        if (json_get(entry, keys[i]))
            return true;
    for (int i = 0; i < PLUGIN_FORMATS; i++)
        if (check_find(&m->c,
                       check_join(&m->c, folder,
                                  str_cstr(plugin_formats[i].manifest))) ==
            PLUGIN_NODE_FILE)
            return true;
    for (size_t i = 0; i < COUNT(places); i++)
        if (check_find(&m->c, check_join(&m->c, folder, str_cstr(places[i]))) !=
            PLUGIN_NODE_NONE)
            return true;
    return false;
}

static const struct json *read_plugin(struct market_check *m, struct str folder)
{
    struct str path = check_join(
        &m->c, folder, str_cstr(plugin_formats[PLUGIN_CLAUDE].manifest));
    const struct json *root;
    struct err ignored = {0};
    struct str text;

    if (m->c.disk->read(m->c.disk->ctx, path, PLUGIN_MANIFEST_MAX_BYTES, m->c.a,
                        &text) != MANIFEST_FILE_OK ||
        !parse_json(text, m->c.a, &root, &ignored))
        return NULL;
    return root;
}

/* Compares the manifest with its marketplace entry: the versions must not
 * differ, and with "strict": false the manifest must not repeat keys of the
 * entry (C15). */
static void check_manifest(struct market_check *m,
                           const struct market_entry *entry,
                           const struct json *manifest)
{
    static const char *const parts[] = {"commands", "agents",       "skills",
                                        "hooks",    "outputStyles", "themes"};
    const struct json *is_strict = json_get(entry->json, "strict");
    struct str version = json_text(json_get(manifest, "version"));

    if (version.n && entry->version.n && !str_eq(version, entry->version))
        SAY(m, "market-entry-version", json_get(entry->json, "version"),
            entry->name,
            "the version is %.*s here and %.*s in the plugin, which counts "
            "(C17)",
            STR_ARG(check_shown(entry->version)),
            STR_ARG(check_shown(version)));
    if (!manifest || !is_strict || is_strict->kind != JSON_FALSE)
        return;
    for (size_t i = 0; i < COUNT(parts); i++)
        if (json_get(entry->json, parts[i]) && json_get(manifest, parts[i]))
            SAY(m, "market-strict", is_strict, entry->name,
                "with \"strict\": false both the entry and the plugin list %s "
                "(C15)",
                parts[i]);
}

static void check_listed(struct market_check *m,
                         const struct market_entry *entry)
{
    static const char *const parts[] = {"skills", "agents", "commands"};

    for (size_t i = 0; i < COUNT(parts); i++) {
        const struct json *list = json_get(entry->json, parts[i]);

        for (const struct json *j =
                 list && list->kind == JSON_ARRAY ? list->first : NULL;
             j; j = j->next) {
            const char *fault;
            struct str path;

            if (j->kind != JSON_STRING ||
                !clean_path(j->text, true, m->c.a, &path, &fault))
                SAY(m, "market-listed-path", j, entry->name,
                    "%s: a path begins with \"./\" and stays in the plugin "
                    "(C5)",
                    parts[i]);
            else if (path.n &&
                     check_find(&m->c, check_join(&m->c, entry->path, path)) ==
                         PLUGIN_NODE_NONE)
                SAY(m, "market-listed-path", j, entry->name,
                    "%s: there is no %.*s (C5)", parts[i],
                    STR_ARG(check_shown(j->text)));
        }
    }
}

static void check_here(struct market_check *m, const struct market_entry *entry)
{
    const struct json *source = json_get(entry->json, "source");
    enum plugin_node node =
        entry->path.n ? check_find(&m->c, entry->path) : PLUGIN_NODE_FOLDER;
    struct str text = json_text(source);

    if (m->is_claude && text.n && !str_starts(text, STR("./")) &&
        !str_is(text, ".") && str_has_char(text, '/'))
        SAY(m, "market-source", source, entry->name,
            "the path %.*s has to begin with \"./\" (C12)",
            STR_ARG(check_shown(text)));
    if (node == PLUGIN_NODE_OUTSIDE)
        SAY(m, "market-source-escapes", source, entry->name,
            "%.*s is a link that leads out of the repository (C12)",
            STR_ARG(check_shown(entry->path)));
    else if (node != PLUGIN_NODE_FOLDER)
        SAY(m, "market-source-absent", source, entry->name,
            "there is no folder %.*s (C12)", STR_ARG(check_shown(entry->path)));
    else if (!has_parts(m, entry->path, entry->json))
        SAY(m, "market-source-empty", source, entry->name,
            "nothing in %.*s is part of a plugin (C2)",
            STR_ARG(entry->path.n ? check_shown(entry->path)
                                  : STR("the repository")));
    else {
        check_manifest(m, entry, read_plugin(m, entry->path));
        check_listed(m, entry);
    }
}

static void check_source(struct market_check *m,
                         const struct market_entry *entry)
{
    const struct json *source = json_get(entry->json, "source");
    struct str kind = json_text(json_get(source, "source"));

    if (!source)
        SAY(m, "market-source-missing", entry->json, entry->name,
            "it has no %s (C11)", "source");
    else if (entry->source == MARKET_HERE)
        check_here(m, entry);
    else if (json_get(source, "sha") &&
             str_find(str_cstr(entry->why ? entry->why : ""), STR("sha")) !=
                 SIZE_MAX)
        SAY(m, "market-sha", json_get(source, "sha"), entry->name, "%s (C13)",
            entry->why);
    else if (str_is(kind, "npm") || str_is(kind, "archive") ||
             str_is(kind, "command"))
        SAY(m, "market-source-kind", source, entry->name, "%s (C14)",
            entry->why);
    else if (entry->source == MARKET_NONE)
        SAY(m, "market-source", source, entry->name, "%s (C12, C13)",
            entry->why);
    else if (!entry->sha.n)
        SAY(m, "market-unpinned", source, entry->name,
            "no sha: what is installed changes with the repository %s",
            "(row 33)");
}

/* --- entries -------------------------------------------------------------------- */

/* C9: checks that dependencies without a marketplace name another entry of this
 * file. */
static void check_needs(struct market_check *m,
                        const struct market_entry *entry)
{
    const struct json *list = json_get(entry->json, "dependencies");

    claude_check_dependencies(&m->c, list);
    for (const struct json *j = list && list->kind == JSON_ARRAY ? list->first
                                                                 : NULL;
         j; j = j->next) {
        struct str name =
            j->kind == JSON_OBJECT ? json_text(json_get(j, "name")) : j->text;

        if (!name.n || str_has_char(name, '@') || json_get(j, "marketplace") ||
            map_has(&m->names, name))
            continue;
        SAY(m, "market-dependency", j, entry->name,
            "it depends on %.*s, which is not in this marketplace (C9)",
            STR_ARG(check_shown(name)));
    }
}

/* C8: reports a manifest with another name than the entry: the user installs
 * the plugin under one name and sees its parts under the other. */
static void check_manifest_name(struct market_check *m,
                                const struct market_entry *entry)
{
    const struct plugin_disk *disk = m->c.disk;
    struct str path, text, name;
    struct err ignored = {0};
    const struct json *root;

    path = check_join(&m->c, entry->path,
                      str_cstr(plugin_formats[PLUGIN_CLAUDE].manifest));
    if (entry->source != MARKET_HERE ||
        disk->read(disk->ctx, path, PLUGIN_MANIFEST_MAX_BYTES, m->c.a, &text) !=
            MANIFEST_FILE_OK ||
        !parse_json(text, m->c.a, &root, &ignored))
        return;
    name = json_text(json_get(root, "name"));
    if (!name.n || str_eq(name, entry->name))
        return;
    SAY(m, "market-entry-alias", json_get(entry->json, "name"), entry->name,
        "its manifest calls it %.*s, and so its parts: %.*s:skill (C8)",
        STR_ARG(check_shown(name)), STR_ARG(check_shown(name)));
}

static void check_names(struct market_check *m, const struct json *plugins)
{
    for (const struct json *j = plugins->first; j; j = j->next) {
        const struct json *name = json_get(j, "name");

        if (j->kind != JSON_OBJECT || !json_text(name).n)
            check_report(&m->c, "market-entry-name", j,
                         j->kind == JSON_OBJECT
                             ? "an entry has no name (C11)"
                             : "an entry is no object (C11)");
        else if (!is_name(name->text))
            check_report(
                &m->c, "market-entry-name", name,
                "the name \"%.*s\" has a blank, \"@\", \":\", a separator "
                "or a letter that is not ASCII (C11)",
                STR_ARG(check_shown(name->text)));
        else if (!map_put(&m->names, name->text, (void *)(uintptr_t)j))
            check_report(&m->c, "market-entry-duplicate", name,
                         "there is another entry %.*s (C11)",
                         STR_ARG(check_shown(name->text)));
    }
}

/* Checks that each rename leads to an entry. Renames are followed once, so the
 * target must not be renamed again. */
static void check_renames(struct market_check *m, const struct json *renames)
{
    for (const struct json *j =
             renames && renames->kind == JSON_OBJECT ? renames->first : NULL;
         j; j = j->next)
        if (j->kind != JSON_NULL &&
            (j->kind != JSON_STRING || !map_has(&m->names, j->text)))
            check_report(&m->c, "market-rename", j,
                         "%.*s was renamed to an entry that is not there (C10)",
                         STR_ARG(check_shown(j->key)));
}

static const struct json *read_list(struct market_check *m, struct str file,
                                    struct plugin_facts *out)
{
    const struct json *root =
        check_json(&m->c, file, MARKETPLACE_MAX_BYTES, "market-json");
    const struct json *plugins;

    if (!root)
        return NULL;
    out->name = json_text(json_get(root, "name"));
    out->version = json_text(json_get(root, "version"));
    out->description = json_text(json_get(root, "description"));
    check_head(m, root);
    plugins = json_get(root, "plugins");
    if (!plugins || plugins->kind != JSON_ARRAY) {
        check_report(&m->c, "market-plugins", plugins ? plugins : root,
                     "it has no list \"plugins\" (C10)");
        return NULL;
    }
    check_names(m, plugins);
    check_renames(m, json_get(root, "renames"));
    return plugins;
}

void plugin_check_marketplace(const struct plugin_disk *disk, struct str file,
                              struct arena *a, struct plugin_facts *out,
                              struct diagnostics *why)
{
    struct market_check m = {.c = {.disk = disk, .a = a, .why = why}};
    struct market market;
    struct err e = {0};
    struct str text;

    *out = (struct plugin_facts){0};
    map_init(&m.names, a);
    m.is_claude = str_is(file, plugin_formats[PLUGIN_CLAUDE].marketplace);
    if (!read_list(&m, file, out) ||
        disk->read(disk->ctx, file, MARKETPLACE_MAX_BYTES, a, &text) !=
            MANIFEST_FILE_OK)
        return;
    if (!market_read(text, file, a, &market, &e)) {
        check_report(&m.c, "market-json", NULL, "%s", err_first(&e));
        return;
    }
    for (size_t i = 0; i < market.count; i++) {
        check_source(&m, &market.entries[i]);
        check_manifest_name(&m, &market.entries[i]);
        check_needs(&m, &market.entries[i]);
    }
}
