#include "base/map.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/mcp_file.h"

#include <string.h>

#include "check.h"
#include "standard.h"

/* Checks mcp.json of Agent Plugins 1.0. Source: P26 to P36, P47 to P50. */

struct entry {
    struct checking *c;
    const struct json *json;
    struct str key;
};

#define SAY(e, code, at, text, ...)                                            \
    check_report((e)->c, code, at, "%.*s: " text,                              \
                 STR_ARG(check_shown((e)->key)), __VA_ARGS__)

/* --- one of the variants ----------------------------------------------------- */

static const struct standard_variant *check_variant(const struct entry *e)
{
    const struct json *type = json_get(e->json, "type");
    const struct standard_variant *v = standard_find_variant(json_text(type));

    if (!type)
        SAY(e, "plugin-server-type", e->json, "it has no type: %s (P28)",
            "stdio, streamable-http or sse");
    else if (!v)
        SAY(e, "plugin-server-type", type,
            "the type \"%.*s\" is none of stdio, streamable-http and sse "
            "(P28)",
            STR_ARG(check_shown(json_text(type))));
    if (!v)
        return NULL;
    for (const struct json *j = e->json->first; j; j = j->next)
        if (!standard_has_member(v, j->key))
            SAY(e, "plugin-server-field", j,
                "a server of type %s has no \"%.*s\": the whole entry is "
                "skipped (P28)",
                v->type, STR_ARG(check_shown(j->key)));
    if (!json_get(e->json, v->members[1]))
        SAY(e, "plugin-server-missing", e->json, "it has no %s (P28)",
            v->members[1]);
    return v;
}

/* Checks the types of the values. Returns false if one is wrong, so that no
 * further checks use it. */
static bool check_values(const struct entry *e)
{
    static const struct {
        const char *key, *what;
        enum json_kind kind;
    } values[] = {
        {"command", "text", JSON_STRING},
        {"url", "text", JSON_STRING},
        {"cwd", "text", JSON_STRING},
        {"args", "a list of texts", JSON_ARRAY},
        {"env", "an object of texts", JSON_OBJECT},
        {"headers", "an object of texts", JSON_OBJECT},
    };
    bool ok = true;

    for (size_t i = 0; i < COUNT(values); i++) {
        const struct json *j = json_get(e->json, values[i].key);

        if (!j || (values[i].kind == JSON_STRING
                       ? j->kind == JSON_STRING
                       : check_is_text_list(j, values[i].kind)))
            continue;
        SAY(e, "plugin-server-value", j, "%s has to be %s (P28)", values[i].key,
            values[i].what);
        ok = false;
    }
    return ok;
}

/* --- stdio --------------------------------------------------------------------- */

static void check_command(const struct entry *e)
{
    const struct json *j = json_get(e->json, "command");
    const char *fault = j ? standard_command_fault(j->text) : NULL;

    if (fault)
        SAY(e, "plugin-command", j, "%s (P29)", fault);
    if (!j || fault || !str_starts(j->text, STR("./")))
        return;
    switch (check_find(e->c, str_from_index(j->text, 2))) {
    case PLUGIN_NODE_FILE:
        break;
    case PLUGIN_NODE_OUTSIDE:
        SAY(e, "plugin-server-escapes", j,
            "%s is a link that leads out of the plugin (P8)", "its command");
        break;
    default:
        SAY(e, "plugin-command-absent", j, "there is no file %.*s (P29)",
            STR_ARG(check_shown(j->text)));
    }
}

static void check_cwd(const struct entry *e)
{
    const struct json *j = json_get(e->json, "cwd");
    const char *fault = j ? standard_cwd_fault(j->text) : NULL;
    struct str path;

    if (fault)
        SAY(e, "plugin-cwd", j, "%s (P33)", fault);
    if (!j || fault || str_starts(j->text, STR("${PLUGIN_DATA}")))
        return;
    path = str_starts(j->text, STR("./"))
               ? str_from_index(j->text, 2)
               : str_from_index(j->text, strlen("${PLUGIN_ROOT}"));
    if (str_starts(path, STR("/")))
        path = str_from_index(path, 1);
    if (path.n && check_find(e->c, path) == PLUGIN_NODE_OUTSIDE)
        SAY(e, "plugin-server-escapes", j,
            "%s is a link that leads out of the plugin (P8)", "its cwd");
}

/* Returns true for text with placeholders of clients, which this standard does
 * not expand. */
static bool is_foreign(struct str text)
{
    static const char *const names[] = {
        "${CLAUDE_PLUGIN_ROOT}",
        "${CLAUDE_PLUGIN_DATA}",
        "${CLAUDE_PROJECT_DIR}",
        "${CURSOR_PLUGIN_ROOT}",
        "${extensionPath}",
        "${workspaceFolder",
        "${user_config.",
        "${workspacePath}",
        "${env:",
        "${input:",
    };

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_find(text, str_cstr(names[i])) != SIZE_MAX)
            return true;
    return false;
}

static void check_placeholders(const struct entry *e, const char *key)
{
    const struct json *all = json_get(e->json, key);

    for (const struct json *j = all ? all->first : NULL; j; j = j->next)
        if (is_foreign(j->text))
            SAY(e, "plugin-placeholder", j,
                "\"%.*s\" in %s stays as it is: only ${PLUGIN_ROOT} and "
                "${PLUGIN_DATA} are replaced (P48)",
                STR_ARG(check_shown(j->text)), key);
}

static void check_env(const struct entry *e)
{
    const struct json *env = json_get(e->json, "env");

    for (const struct json *j = env ? env->first : NULL; j; j = j->next)
        if (str_is(j->key, "PLUGIN_ROOT") || str_is(j->key, "PLUGIN_DATA"))
            SAY(e, "plugin-env-reserved", j,
                "env may not name %.*s, which the client sets (P49)",
                STR_ARG(j->key));
}

/* --- remote ---------------------------------------------------------------------- */

static void check_url(const struct entry *e)
{
    const struct json *j = json_get(e->json, "url");
    const char *fault = j ? mcp_url_fault(j->text) : NULL;

    if (fault)
        SAY(e, "plugin-url", j, "the url \"%.*s\" %s (P35)",
            STR_ARG(check_shown(j->text)), fault);
    else if (j && str_has_char(j->text, '#'))
        SAY(e, "plugin-url", j, "the url \"%.*s\" has a fragment (P35)",
            STR_ARG(check_shown(j->text)));
    if (j && str_find(j->text, STR("${")) != SIZE_MAX)
        SAY(e, "plugin-placeholder", j, "%s in a url is replaced (P36)",
            "nothing");
}

static void check_headers(const struct entry *e)
{
    const struct json *headers = json_get(e->json, "headers");
    struct map seen;

    map_init(&seen, e->c->a);
    for (const struct json *j = headers ? headers->first : NULL; j;
         j = j->next) {
        if (!mcp_header_is_valid(j->key, j->text))
            SAY(e, "plugin-header", j,
                "the header \"%.*s\" is not a name and one line of text "
                "(P36)",
                STR_ARG(check_shown(j->key)));
        if (!map_put(&seen, str_lower(j->key, e->c->a), e->c))
            SAY(e, "plugin-header", j, "the header %.*s is there twice (P36)",
                STR_ARG(check_shown(j->key)));
        if (str_find(j->text, STR("${")) != SIZE_MAX)
            SAY(e, "plugin-placeholder", j,
                "nothing in the header %.*s is replaced (P36)",
                STR_ARG(check_shown(j->key)));
    }
}

/* --- the file ----------------------------------------------------------------------- */

static void check_entry(struct checking *c, const struct json *j)
{
    const struct entry e = {c, j, j->key};

    if (j->kind != JSON_OBJECT) {
        SAY(&e, "plugin-server-type", j, "it is %s, not an object (P28)",
            json_kind_name(j->kind));
        return;
    }
    check_secrets(c, json_get(j, "env"), "env");
    check_secrets(c, json_get(j, "headers"), "the header");
    if (!check_variant(&e) || !check_values(&e))
        return;
    check_command(&e);
    check_cwd(&e);
    check_env(&e);
    check_placeholders(&e, "args");
    check_placeholders(&e, "env");
    check_url(&e);
    check_headers(&e);
}

size_t standard_check_mcp(struct checking *c, const struct json *manifest)
{
    const struct json *root = check_json(
        c, STR("mcp.json"), PLUGIN_MANIFEST_MAX_BYTES, "plugin-mcp-json");
    const struct json *servers;
    const char *fault, *code;

    if (!root)
        return 0;
    fault = standard_mcp_fault(manifest, root, &code);
    if (fault)
        check_report(c, code, root, "%s: no server of it is loaded (P27)",
                     fault);
    servers = json_get(root, "mcpServers");
    if (servers && servers->kind != JSON_OBJECT)
        check_report(c, "plugin-mcp-servers", servers,
                     "mcpServers is %s, not an object (P27)",
                     json_kind_name(servers->kind));
    for (const struct json *j = servers ? servers->first : NULL; j; j = j->next)
        check_entry(c, j);
    return servers ? servers->count : 0;
}
