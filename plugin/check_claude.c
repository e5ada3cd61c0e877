#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/plugin_paths.h"

#include <string.h>

#include "check.h"
#include "claude.h"
#include "plugin_parts.h"

/* Checks the manifest and the layout of Claude Code's plugins. The errors are
 * those of its own validator (2.1.197, November 2026). Source: C1 to C9. */

#define MANIFEST ".claude-plugin/plugin.json"

/* --- fields -------------------------------------------------------------- */

enum {
    PATH = 1,    /* a path "./…" */
    INLINE = 2,  /* an object */
    FOLDERS = 4, /* a path may be a folder */
};

/* clang-format off */
static const struct field {
    const char *name;
    enum json_kind kind;
    unsigned part;   /* PATH, INLINE, FOLDERS: forms of keys that name parts */
    const char *end; /* required suffix of a path to a file */
} fields[] = {
    {"$schema", JSON_STRING, 0, NULL},     {"name", JSON_STRING, 0, NULL},
    {"displayName", JSON_STRING, 0, NULL}, {"version", JSON_STRING, 0, NULL},
    {"description", JSON_STRING, 0, NULL}, {"homepage", JSON_STRING, 0, NULL},
    {"repository", JSON_STRING, 0, NULL},  {"license", JSON_STRING, 0, NULL},
    {"author", JSON_OBJECT, 0, NULL},      {"keywords", JSON_ARRAY, 0, NULL},
    {"dependencies", JSON_ARRAY, 0, NULL}, {"defaultEnabled", JSON_TRUE, 0, NULL},
    {"settings", JSON_OBJECT, 0, NULL},    {"userConfig", JSON_OBJECT, 0, NULL},
    {"channels", JSON_ARRAY, 0, NULL},     {"experimental", JSON_OBJECT, 0, NULL},
    {"skills", 0, PATH | FOLDERS, NULL},
    {"commands", 0, PATH | FOLDERS | INLINE, ".md"},
    {"agents", 0, PATH, ".md"},
    {"hooks", 0, PATH | INLINE, ".json"},
    {"mcpServers", 0, PATH | INLINE, ".json"},
    {"lspServers", 0, PATH | INLINE, ".json"},
    {"outputStyles", 0, PATH | FOLDERS, NULL},
    {"workflows", 0, PATH | FOLDERS, NULL},
    {"themes", 0, PATH | FOLDERS, NULL},
    {"monitors", 0, PATH | INLINE, ".json"},
};

/* Objects in which Claude Code rejects unknown keys and then does not load the
 * plugin. */
static const struct {
    const char *field, *keys;
} strict[] = {
    {"userConfig", " type title description sensitive required default multiple min max options "},
    {"channels", " server displayName userConfig "},
    {"lspServers", " command args extensionToLanguage transport env initializationOptions "
        "settings workspaceFolder startupTimeout shutdownTimeout restartOnCrash maxRestarts "
        "diagnostics "},
    {"monitors", " name command description when "},
};
/* clang-format on */

static void check_name(struct checking *c, const struct json *root)
{
    const struct json *j = json_get(root, "name");
    const char *fault = NULL;
    size_t at;
    int32_t point;

    if (!j || j->kind != JSON_STRING || j->text.n == 0) {
        check_report(c, "claude-name-missing", j, "it has no name (C1)");
        return;
    }
    for (size_t i = 0; i < j->text.n; i++)
        if (strchr(" @:/\\", j->text.p[i]))
            fault = "a blank, \"@\", \":\" or a separator";
    if (text_has_control(j->text) ||
        text_find_hidden(j->text, &at, &point) != TEXT_HIDDEN_NONE)
        fault = "a character that is not shown";
    if (fault)
        check_report(c, "claude-name", j, "the name \"%.*s\" has %s (C1)",
                     STR_ARG(check_shown(j->text)), fault);
}

static void check_author(struct checking *c, const struct json *author)
{
    const struct json *name = json_get(author, "name");

    if (!name || name->kind != JSON_STRING || !name->text.n)
        check_report(c, "claude-author", author, "author has no name (C1)");
}

static bool is_known_key(const char *keys, struct str key, struct arena *a)
{
    return str_find(str_cstr(keys), arena_printf(a, " %.*s ", STR_ARG(key))) !=
           SIZE_MAX;
}

static void check_strict(struct checking *c, const struct json *field)
{
    for (size_t i = 0; i < COUNT(strict); i++) {
        if (!str_is(field->key, strict[i].field))
            continue;
        for (const struct json *j = field->first; j; j = j->next)
            for (const struct json *k = j->kind == JSON_OBJECT ? j->first
                                                               : NULL;
                 k; k = k->next)
                if (!is_known_key(strict[i].keys, k->key, c->a))
                    check_report(c, "claude-nested-field", k,
                                 "%s has no \"%.*s\": the plugin is not loaded "
                                 "(C1)",
                                 strict[i].field, STR_ARG(check_shown(k->key)));
    }
}

/* --- dependencies ------------------------------------------------------------ */

static bool is_identifier(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!char_is_alpha(s.p[i]) && !char_is_digit(s.p[i]) &&
            !(i && s.p[i] && strchr("-._", s.p[i])))
            return false;
    return s.n > 0;
}

/* Returns true for "name", "name@marketplace" and "name@marketplace@^1". */
static bool is_dependency(struct str text)
{
    struct str part;

    return str_cut(&text, '@', &part) && is_identifier(part) &&
           (!text.p || !text.n || str_starts(text, STR("^")) ||
            (str_cut(&text, '@', &part) && is_identifier(part)));
}

void claude_check_dependencies(struct checking *c, const struct json *list)
{
    for (const struct json *j = list && list->kind == JSON_ARRAY ? list->first
                                                                 : NULL;
         j; j = j->next) {
        const struct json *name = json_get(j, "name");
        const struct json *market = json_get(j, "marketplace");

        if (j->kind == JSON_OBJECT
                ? name && is_identifier(json_text(name)) &&
                      (!market || is_identifier(json_text(market)))
                : j->kind == JSON_STRING && is_dependency(j->text))
            continue;
        check_report(
            c, "claude-dependency", j,
            "a dependency is \"name\", \"name@marketplace\" or an object "
            "with a name (C9)");
    }
}

/* --- servers ------------------------------------------------------------------- */

static void check_server(struct checking *c, const struct json *j)
{
    struct str type = json_text(json_get(j, "type"));
    const char *need = NULL;

    if (j->kind != JSON_OBJECT)
        need = "be an object";
    else if (!type.n || str_is(type, "stdio"))
        need = json_text(json_get(j, "command")).n ? NULL : "have a command";
    else if (!json_get(j, "url") && !str_is(type, "sdk"))
        need = "have a url";
    if (need)
        check_report(c, "claude-server", j, "the server %.*s has to %s (C4)",
                     STR_ARG(check_shown(j->key)), need);
    else if (j->kind == JSON_OBJECT && type.n && !str_is(type, "stdio") &&
             json_get(j, "url") && !json_text(json_get(j, "url")).n)
        check_report(c, "claude-server-empty", j,
                     "the url of the server %.*s is empty (C4)",
                     STR_ARG(check_shown(j->key)));
    check_secrets(c, json_get(j, "env"), "env");
    check_secrets(c, json_get(j, "headers"), "the header");
}

static void check_servers(struct checking *c, const struct json *servers)
{
    const struct json *inner = json_get(servers, "mcpServers");

    for (const struct json *j = (inner ? inner : servers)->first; j;
         j = j->next)
        check_server(c, j);
}

/* --- paths ------------------------------------------------------------------------ */

static void check_path(struct checking *c, const struct field *f,
                       const struct json *j)
{
    struct str path;
    const char *fault;

    if (str_is(str_cstr(f->name), "mcpServers") &&
        (str_ends(j->text, STR(".mcpb")) || str_ends(j->text, STR(".dxt")) ||
         str_starts(j->text, STR("https://"))))
        return;
    if (!str_starts(j->text, STR("./")) ||
        !clean_path(j->text, false, c->a, &path, &fault)) {
        check_report(
            c, "claude-path", j,
            "%s: the path \"%.*s\" does not begin with \"./\" and stay "
            "in the plugin (C5)",
            f->name, STR_ARG(check_shown(j->text)));
        return;
    }
    if (f->end && !(f->part & FOLDERS) && !str_ends(path, str_cstr(f->end))) {
        check_report(c, "claude-path-kind", j,
                     "%s: \"%.*s\" is not a file that ends with %s (C3)",
                     f->name, STR_ARG(check_shown(j->text)), f->end);
        return;
    }
    switch (check_find(c, path)) {
    case PLUGIN_NODE_FILE:
    case PLUGIN_NODE_FOLDER:
        return;
    case PLUGIN_NODE_OUTSIDE:
        check_report(c, "claude-path-escapes", j,
                     "%s: \"%.*s\" is a link that leads out (C5)", f->name,
                     STR_ARG(check_shown(j->text)));
        return;
    default:
        check_report(c, "claude-path-missing", j, "%s: there is no %.*s (C5)",
                     f->name, STR_ARG(check_shown(j->text)));
    }
}

static void check_part(struct checking *c, const struct field *f,
                       const struct json *j)
{
    if (j->kind == JSON_ARRAY && j->key.p && str_is(j->key, f->name)) {
        for (const struct json *x = j->first; x; x = x->next)
            check_part(c, f, x);
    } else if (j->kind == JSON_STRING) {
        check_path(c, f, j);
    } else if (j->kind != JSON_OBJECT || !(f->part & INLINE)) {
        if (!(j->kind == JSON_OBJECT && str_is(str_cstr(f->name), "monitors")))
            check_report(c, "claude-field-type", j, "%s is %s (C3)", f->name,
                         json_kind_name(j->kind));
    } else if (str_is(str_cstr(f->name), "mcpServers")) {
        check_servers(c, j);
    }
}

static void check_field(struct checking *c, const struct json *j)
{
    const struct field *f = NULL;

    for (size_t i = 0; i < COUNT(fields); i++)
        if (str_is(j->key, fields[i].name))
            f = &fields[i];
    if (!f) {
        check_report(c, "claude-unknown-field", j,
                     "\"%.*s\" is no field of Claude Code and is ignored (C1)",
                     STR_ARG(check_shown(j->key)));
    } else if (f->part) {
        check_part(c, f, j);
        check_strict(c, j);
    } else if (!str_is(j->key, "name") && !check_is_kind(j, f->kind)) {
        if (!str_is(j->key, "experimental"))
            check_report(c, "claude-field-type", j, "%s is %s (C1)", f->name,
                         json_kind_name(j->kind));
    } else if (str_is(j->key, "author")) {
        check_author(c, j);
    } else if (str_is(j->key, "keywords")) {
        if (!check_is_text_list(j, JSON_ARRAY))
            check_report(c, "claude-field-type", j,
                         "keywords is a list of texts (C1)");
    } else if (str_is(j->key, "dependencies")) {
        claude_check_dependencies(c, j);
    } else {
        check_strict(c, j);
    }
}

/* --- layout ------------------------------------------------------------------------ */

static void check_inside(struct checking *c)
{
    static const char *const parts[] = {"skills", "commands", "agents", "hooks",
                                        "output-styles"};

    for (size_t i = 0; i < COUNT(parts); i++) {
        c->file = arena_printf(c->a, ".claude-plugin/%s", parts[i]);
        if (check_find(c, c->file) == PLUGIN_NODE_FOLDER)
            check_report(c, "claude-layout", NULL,
                         "it is not looked for here: %s/ is beside "
                         ".claude-plugin (C2)",
                         parts[i]);
    }
    c->file = STR("CLAUDE.md");
    if (check_find(c, c->file) == PLUGIN_NODE_FILE)
        check_report(c, "claude-context", NULL,
                     "CLAUDE.md of a plugin is not loaded: make a skill of it "
                     "(C2)");
}

static void check_server_file(struct checking *c)
{
    const struct json *root;

    if (check_find(c, STR(".mcp.json")) != PLUGIN_NODE_FILE)
        return;
    root = check_json(c, STR(".mcp.json"), PLUGIN_MANIFEST_MAX_BYTES,
                      "claude-file-json");
    if (root)
        check_servers(c, root);
}

static void check_files(struct checking *c)
{
    static const char *const files[] = {"hooks/hooks.json", ".lsp.json",
                                        "settings.json"};

    check_server_file(c);
    for (size_t i = 0; i < COUNT(files); i++)
        if (check_find(c, str_cstr(files[i])) == PLUGIN_NODE_FILE)
            (void)check_json(c, str_cstr(files[i]), PLUGIN_MANIFEST_MAX_BYTES,
                             "claude-file-json");
}

/* C7: reports keys of sub-agents that Claude Code ignores. */
static void check_agents(struct checking *c)
{
    static const char *const ignored[] = {"hooks", "mcpServers",
                                          "permissionMode"};
    const struct str *names;
    size_t count = c->disk->list(c->disk->ctx, STR("agents"), c->a, &names);

    for (size_t i = 0; i < count; i++) {
        struct str text, line;

        c->file = check_join(c, STR("agents"), names[i]);
        if (!str_ends(names[i], STR(".md")) ||
            str_eq_nocase(names[i], STR("README.md")) ||
            c->disk->read(c->disk->ctx, c->file, ANCHOR_MAX_BYTES, c->a,
                          &text) != MANIFEST_FILE_OK)
            continue;
        if (str_starts(text, STR("\xef\xbb\xbf")))
            text = str_from_index(text, 3);
        if (!str_line(&text, &line) || !str_is(str_trim(line), "---")) {
            check_report(c, "claude-agent", NULL,
                         "it has no frontmatter, so no description (C7)");
            continue;
        }
        while (text.n && str_line(&text, &line) &&
               !str_is(str_trim(line), "---"))
            for (size_t k = 0; k < COUNT(ignored); k++)
                if (str_starts(line, str_cstr(ignored[k])) &&
                    str_starts(str_from_index(line, strlen(ignored[k])),
                               STR(":")))
                    check_report(c, "claude-agent-field", NULL,
                                 "%s of a plugin's agent is ignored (C7)",
                                 ignored[k]);
    }
}

void plugin_check_claude(const struct plugin_disk *disk, struct arena *a,
                         struct plugin_facts *out, struct diagnostics *why)
{
    struct checking c = {.disk = disk, .a = a, .why = why};
    const struct json *root = NULL;

    *out = (struct plugin_facts){0};
    /* C1: the manifest is optional */
    if (check_find(&c, STR(MANIFEST)) != PLUGIN_NODE_NONE)
        root = check_json(&c, STR(MANIFEST), PLUGIN_MANIFEST_MAX_BYTES,
                          "claude-json");
    if (root) {
        out->name = json_text(json_get(root, "name"));
        out->version = json_text(json_get(root, "version"));
        out->description = json_text(json_get(root, "description"));
        check_name(&c, root);
        for (const struct json *j = root->first; j; j = j->next)
            check_field(&c, j);
    }
    check_files(&c);
    check_agents(&c);
    check_inside(&c);
}
