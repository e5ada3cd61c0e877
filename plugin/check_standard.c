#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/name.h"
#include "mapm/plugin_paths.h"

#include <string.h>

#include "check.h"
#include "standard.h"

/* Checks the manifest and the layout of Agent Plugins 1.0. Each message ends
 * with the id of the rule. Source: P1 to P27, P42, P43, P51, X43. */

/* Keys of clients' manifests that name parts. In the standard, parts have fixed
 * places. */
static const char *const part_keys[] = {
    "skills", "mcpServers", "agents", "commands",
    "hooks",  "lspServers", "rules",  "apps",
};

static bool is_part_key(struct str key)
{
    return STR_IS_ONE_OF(key, part_keys);
}

/* --- fields -------------------------------------------------------------- */

static void check_author(struct checking *c, const struct json *author)
{
    for (const struct json *j = author->first; j; j = j->next)
        if (j->kind != JSON_STRING ||
            !(str_is(j->key, "name") || str_is(j->key, "email") ||
              str_is(j->key, "url")))
            check_report(
                c, "plugin-author", j,
                "author.%.*s: an author has name, email and url, as text "
                "(P19)",
                STR_ARG(check_shown(j->key)));
}

/* Returns true for a key such as "com.example": at least two parts of letters,
 * digits and "-". */
static bool is_namespace(struct str key)
{
    struct str rest = key, part;
    size_t parts = 0;

    while (str_cut(&rest, '.', &part)) {
        parts++;
        if (part.n == 0)
            return false;
        for (size_t i = 0; i < part.n; i++)
            if (!char_is_alpha(part.p[i]) && !char_is_digit(part.p[i]) &&
                part.p[i] != '-' && part.p[i] != '_')
                return false;
    }
    return parts >= 2;
}

static void check_extensions(struct checking *c, const struct json *all)
{
    for (const struct json *j = all->first; j; j = j->next) {
        if (j->kind != JSON_OBJECT)
            check_report(c, "plugin-extension-type", j,
                         "extensions.%.*s is %s, not an object (P13)",
                         STR_ARG(check_shown(j->key)), json_kind_name(j->kind));
        if (!is_namespace(j->key))
            check_report(
                c, "plugin-namespace", j,
                "extensions.%.*s: a namespace is a domain, reversed, as "
                "com.example (P43)",
                STR_ARG(check_shown(j->key)));
    }
}

/* P3: checks the icon of the draft 1.1.0. */
static void check_icon(struct checking *c, const struct json *icon)
{
    struct str path = icon->text;

    if (!str_starts(path, STR("./")) ||
        !standard_path_stays_inside(str_from_index(path, 2)))
        check_report(c, "plugin-icon", icon,
                     "the path of the icon begins with \"./\" and stays in the "
                     "plugin (P3)");
    else if (check_find(c, str_from_index(path, 2)) != PLUGIN_NODE_FILE)
        check_report(c, "plugin-icon", icon, "there is no file %.*s (P3)",
                     STR_ARG(check_shown(path)));
}

static void check_inside(struct checking *c, const struct json *j)
{
    if (str_is(j->key, "author"))
        check_author(c, j);
    else if (str_is(j->key, "extensions"))
        check_extensions(c, j);
    else if (str_is(j->key, "icon"))
        check_icon(c, j);
    else if (str_is(j->key, "keywords") && !check_is_text_list(j, JSON_ARRAY))
        check_report(c, "plugin-keywords", j,
                     "keywords is a list of texts (P13)");
}

static void check_field(struct checking *c, const struct json *j, bool is_draft)
{
    const struct standard_field *field = standard_find_field(j->key, is_draft);

    /* These keys have checks of their own. */
    if (str_is(j->key, "$schema") || str_is(j->key, "name"))
        return;
    if (!field && is_part_key(j->key))
        check_report(
            c, "plugin-moved-part", j,
            "%.*s has no meaning here: skills are in skills/, servers in "
            "mcp.json (P20)",
            STR_ARG(j->key));
    else if (!field)
        check_report(c, "plugin-unknown-field", j,
                     "\"%.*s\" is no field of Agent Plugins and is ignored: "
                     "put it under extensions (P12)",
                     STR_ARG(check_shown(j->key)));
    else if (j->kind == field->kind)
        check_inside(c, j);
    else if (str_is(j->key, "extensions"))
        check_report(c, "plugin-extensions", j,
                     "extensions is %s and is ignored (P42)",
                     json_kind_name(j->kind));
    else
        check_report(c, "plugin-field-type", j, "%s is %s (P13)", field->name,
                     json_kind_name(j->kind));
}

/* Checks $schema. Returns false for an unknown version, for which no other
 * check applies. */
static bool check_schema(struct checking *c, const struct json *root,
                         bool *is_draft)
{
    const struct json *j = json_get(root, "$schema");

    if (!j || j->kind != JSON_STRING || j->text.n == 0) {
        check_report(c, "plugin-schema", j,
                     "$schema is missing: it is \"" STANDARD_SCHEMA "\" (P17)");
        return true;
    }
    if (!standard_find_schema(j->text, is_draft)) {
        check_report(c, "plugin-schema-version", j,
                     "$schema is \"%.*s\", which is no version that is known: "
                     "write \"" STANDARD_SCHEMA "\" (P14)",
                     STR_ARG(check_shown(j->text)));
        return false;
    }
    if (*is_draft)
        check_report(c, "plugin-draft", j,
                     "1.1.0 is a draft, which few clients take (P16)");
    return true;
}

static void check_name(struct checking *c, const struct json *root)
{
    const struct json *j = json_get(root, "name");

    if (!j || j->kind != JSON_STRING || j->text.n == 0)
        check_report(c, "plugin-name-missing", j, "it has no name (P17)");
    else if (!standard_name_is_valid(j->text))
        check_report(c, "plugin-name", j,
                     "the name \"%.*s\" is not of 1 to 64 letters a-z, digits, "
                     "\"-\" and \".\", with a letter or digit first and last "
                     "(P17)",
                     STR_ARG(check_shown(j->text)));
}

static void check_version(struct checking *c, const struct json *j)
{
    struct version v;

    struct str text = json_text(j);
    size_t cut = 0;

    /* Check only X.Y.Z, without pre-release and build. */
    while (cut < text.n && text.p[cut] != '-' && text.p[cut] != '+')
        cut++;
    if (j && j->kind == JSON_STRING &&
        !version_parse(str_slice(text, 0, cut), &v))
        check_report(c, "plugin-version", j,
                     "the version \"%.*s\" is not X.Y.Z (P51)",
                     STR_ARG(check_shown(text)));
}

/* --- other manifests ------------------------------------------------------- */

/* Row 40: reports manifests of clients whose name or version differs from the
 * standard manifest. */
static void check_overlays(struct checking *c, const struct json *root)
{
    static const char *const keys[] = {"name", "version"};

    for (int f = PLUGIN_CLAUDE; f < PLUGIN_FORMATS; f++) {
        struct str path = str_cstr(plugin_formats[f].manifest);
        const struct json *other;
        struct err ignored = {0};
        struct str text;

        if (f == PLUGIN_COPILOT ||
            c->disk->read(c->disk->ctx, path, PLUGIN_MANIFEST_MAX_BYTES, c->a,
                          &text) != MANIFEST_FILE_OK ||
            !json_parse(text, &(struct json_options){0}, c->a, &other, NULL,
                        &ignored))
            continue;
        for (size_t i = 0; i < COUNT(keys); i++) {
            struct str mine = json_text(json_get(root, keys[i]));
            const struct json *its = json_get(other, keys[i]);

            if (mine.n && its && its->kind == JSON_STRING &&
                !str_eq(mine, its->text)) {
                c->file = path;
                check_report(
                    c, "plugin-overlay", its,
                    "the %s is \"%.*s\" here and \"%.*s\" in plugin.json "
                    "(P10)",
                    keys[i], STR_ARG(check_shown(its->text)),
                    STR_ARG(check_shown(mine)));
            }
        }
    }
    c->file = STR("plugin.json");
}

/* --- layout ---------------------------------------------------------------- */

static bool has_skill_below(const struct checking *c, struct str folder,
                            int depth)
{
    const struct str *names;
    size_t count = c->disk->list(c->disk->ctx, folder, c->a, &names);

    for (size_t i = 0; i < count; i++) {
        struct str path = check_join(c, folder, names[i]);

        if (str_is(names[i], "SKILL.md"))
            return true;
        if (depth && check_find(c, path) == PLUGIN_NODE_FOLDER &&
            has_skill_below(c, path, depth - 1))
            return true;
    }
    return false;
}

static bool check_skill(struct checking *c, struct str folder)
{
    struct str path = check_join(c, folder, STR("SKILL.md"));
    const struct str *names;
    size_t count;

    c->file = path;
    switch (check_find(c, path)) {
    case PLUGIN_NODE_FILE:
        return true;
    case PLUGIN_NODE_OUTSIDE:
        check_report(c, "plugin-skill-escapes", NULL,
                     "SKILL.md is a link that leads out of the plugin (P7)");
        return false;
    case PLUGIN_NODE_NONE:
        break;
    default:
        check_report(c, "plugin-skill-file", NULL,
                     "SKILL.md is not a regular file (P24)");
        return false;
    }
    count = c->disk->list(c->disk->ctx, folder, c->a, &names);
    for (size_t i = 0; i < count; i++)
        if (str_eq_nocase(names[i], STR("SKILL.md"))) {
            c->file = check_join(c, folder, names[i]);
            check_report(c, "plugin-skill-case", NULL,
                         "it has to be called SKILL.md, in this case (P24)");
            return false;
        }
    if (has_skill_below(c, folder, 3)) {
        c->file = folder;
        check_report(c, "plugin-skill-nested", NULL,
                     "there is a SKILL.md deeper in this folder, which is not "
                     "found: a skill is skills/NAME/SKILL.md (P24)");
    }
    return false;
}

static size_t check_skills(struct checking *c)
{
    struct str folder = STR("skills");
    const struct str *names;
    size_t count, found = 0;

    c->file = folder;
    switch (check_find(c, folder)) {
    case PLUGIN_NODE_NONE:
        return 0;
    case PLUGIN_NODE_OUTSIDE:
        check_report(c, "plugin-part-escapes", NULL,
                     "skills is a link that leads out of the plugin (P6)");
        return 0;
    case PLUGIN_NODE_FOLDER:
        break;
    default:
        check_report(c, "plugin-part-kind", NULL, "skills is no folder (P22)");
        return 0;
    }
    count = c->disk->list(c->disk->ctx, folder, c->a, &names);
    for (size_t i = 0; i < count; i++) {
        struct str path = check_join(c, folder, names[i]);

        switch (check_find(c, path)) {
        case PLUGIN_NODE_FOLDER:
            found += check_skill(c, path);
            break;
        case PLUGIN_NODE_OUTSIDE:
            c->file = path;
            check_report(c, "plugin-skill-escapes", NULL,
                         "it is a link that leads out of the plugin (P7)");
            break;
        default:
            break;
        }
    }
    return found;
}

static size_t check_mcp(struct checking *c, const struct json *manifest)
{
    c->file = STR("mcp.json");
    switch (check_find(c, STR("mcp.json"))) {
    case PLUGIN_NODE_FILE:
        return standard_check_mcp(c, manifest);
    case PLUGIN_NODE_OUTSIDE:
        check_report(c, "plugin-part-escapes", NULL,
                     "mcp.json is a link that leads out of the plugin (P6)");
        return 0;
    case PLUGIN_NODE_NONE:
        c->file = STR(".mcp.json");
        if (check_find(c, STR(".mcp.json")) == PLUGIN_NODE_FILE)
            check_report(
                c, "plugin-mcp-place", NULL,
                "the servers of an Agent Plugin are in mcp.json: those "
                "of .mcp.json are not found (P26)");
        return 0;
    default:
        check_report(c, "plugin-part-kind", NULL, "mcp.json is no file (P22)");
        return 0;
    }
}

static void check_links(struct checking *c)
{
    const struct str *names;
    size_t count = c->disk->list(c->disk->ctx, STR(""), c->a, &names);

    for (size_t i = 0; i < count; i++) {
        /* Checked elsewhere. */
        if (str_is(names[i], "plugin.json") || str_is(names[i], "mcp.json") ||
            str_is(names[i], "skills"))
            continue;
        c->file = names[i];
        if (check_find(c, names[i]) == PLUGIN_NODE_OUTSIDE)
            check_report(
                c, "plugin-file-escapes", NULL,
                "it is a link that leads out of the plugin: nobody who "
                "installs it has the file (P2, P9)");
    }
}

static const struct json *read_manifest(struct checking *c)
{
    struct str path = STR("plugin.json");

    switch (check_find(c, path)) {
    case PLUGIN_NODE_FILE:
        return check_json(c, path, PLUGIN_MANIFEST_MAX_BYTES, "plugin-json");
    case PLUGIN_NODE_OUTSIDE:
        c->file = path;
        check_report(c, "plugin-escapes", NULL,
                     "plugin.json is a link that leads out of the plugin (P5)");
        return NULL;
    default:
        c->file = path;
        check_report(
            c, "plugin-missing", NULL,
            "plugin.json is no file: a plugin has one at its root (P1)");
        return NULL;
    }
}

void plugin_check_standard(const struct plugin_disk *disk, struct arena *a,
                           struct plugin_facts *out, struct diagnostics *why)
{
    struct checking c = {.disk = disk, .a = a, .why = why};
    const struct json *root = read_manifest(&c);
    bool is_draft = false;
    size_t before = why->count, parts;

    *out = (struct plugin_facts){0};
    if (!root || !check_schema(&c, root, &is_draft))
        return;
    out->name = json_text(json_get(root, "name"));
    out->version = json_text(json_get(root, "version"));
    out->description = json_text(json_get(root, "description"));
    check_name(&c, root);
    for (const struct json *j = root->first; j; j = j->next)
        check_field(&c, j, is_draft);
    check_version(&c, json_get(root, "version"));
    check_overlays(&c, root);
    check_links(&c);
    parts = check_skills(&c);
    parts += check_mcp(&c, root);
    c.file = STR("plugin.json");
    if (!parts && why->count == before)
        check_report(
            &c, "plugin-empty", NULL,
            "it has neither a skill nor a server: clients load nothing "
            "of it (P21)");
}
