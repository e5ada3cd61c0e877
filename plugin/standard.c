#include "standard.h"

#include "base/path.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <string.h>

/* clang-format off */
static const struct {
    const char *id;
    bool is_draft;
} schemas[] = {
    {"https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", false},
    {"https://agent-plugins.org/schemas/1.1.0/plugin.schema.json", true},
};

static const struct standard_field fields[] = {
    {"$schema", JSON_STRING, false},     {"name", JSON_STRING, false},
    {"version", JSON_STRING, false},     {"description", JSON_STRING, false},
    {"homepage", JSON_STRING, false},    {"repository", JSON_STRING, false},
    {"license", JSON_STRING, false},     {"author", JSON_OBJECT, false},
    {"keywords", JSON_ARRAY, false},     {"extensions", JSON_OBJECT, false},
    {"displayName", JSON_STRING, true},  {"icon", JSON_STRING, true},
};
/* clang-format on */

bool standard_find_schema(struct str id, bool *is_draft)
{
    for (size_t i = 0; i < COUNT(schemas); i++)
        if (str_is(id, schemas[i].id)) {
            *is_draft = schemas[i].is_draft;
            return true;
        }
    return false;
}

const struct standard_field *standard_find_field(struct str key, bool is_draft)
{
    for (size_t i = 0; i < COUNT(fields); i++)
        if (str_is(key, fields[i].name) && (!fields[i].is_draft || is_draft))
            return &fields[i];
    return NULL;
}

/* §1.1: lower-case letters, digits, "-" and "."; starts and ends with a letter
 * or digit; no "--" and "..". */
bool standard_name_is_valid(struct str name)
{
    char before = '-';

    if (name.n == 0 || name.n > NAME_MAX_CHARS)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool is_word = char_is_lower(c) || char_is_digit(c);

        if (!is_word && ((c != '-' && c != '.') || i == 0 || c == before))
            return false;
        before = c;
    }
    return before != '-' && before != '.';
}

/* --- servers --------------------------------------------------------------- */

/* clang-format off */
static const struct standard_variant variants[] = {
    {"stdio",           {"type", "command", "args", "env", "cwd"}},
    {"streamable-http", {"type", "url", "headers"}},
    {"sse",             {"type", "url", "headers"}},
};
/* clang-format on */

const struct standard_variant *standard_find_variant(struct str type)
{
    for (size_t i = 0; i < COUNT(variants); i++)
        if (str_is(type, variants[i].type))
            return &variants[i];
    return NULL;
}

bool standard_has_member(const struct standard_variant *v, struct str key)
{
    for (size_t i = 0; i < COUNT(v->members) && v->members[i]; i++)
        if (str_is(key, v->members[i]))
            return true;
    return false;
}

/* P29, P33: checks the text of the path. That no symbolic link leads out of the
 * folder is checked when the server is started. */
bool standard_path_stays_inside(struct str path)
{
    return path.n == 0 || (path.p[0] != '/' && !str_has_char(path, '\\') &&
                           path_stays_below(STR(""), path));
}

const char *standard_cwd_fault(struct str cwd)
{
    static const char *const heads[] = {"${PLUGIN_ROOT}", "${PLUGIN_DATA}"};

    if (str_starts(cwd, STR("./")))
        return standard_path_stays_inside(str_from_index(cwd, 2))
                   ? NULL
                   : "its cwd leads out of the plugin";
    for (size_t i = 0; i < COUNT(heads); i++) {
        struct str rest;

        if (!str_starts(cwd, str_cstr(heads[i])))
            continue;
        rest = str_from_index(cwd, strlen(heads[i]));
        if (rest.n == 0 || (rest.p[0] == '/' && standard_path_stays_inside(
                                                    str_from_index(rest, 1))))
            return NULL;
    }
    return "its cwd is neither ./… nor below ${PLUGIN_ROOT} or "
           "${PLUGIN_DATA}";
}

const char *standard_command_fault(struct str command)
{
    if (command.n == 0)
        return "its command is empty";
    if (str_find(command, STR("${")) != SIZE_MAX)
        return "its command holds a placeholder";
    if (!str_has_char(command, '/'))
        return NULL;
    if (!str_starts(command, STR("./")))
        return "its command is neither a bare name nor ./…";
    return standard_path_stays_inside(str_from_index(command, 2))
               ? NULL
               : "its command leads out of the plugin";
}

/* P27: checks the top level of mcp.json: its members and its $schema. */
const char *standard_mcp_fault(const struct json *manifest,
                               const struct json *root, const char **code)
{
    struct str own = json_text(json_get(manifest, "$schema"));
    struct str schema = json_text(json_get(root, "$schema"));
    size_t end = str_find(own, STR("plugin.schema.json"));

    *code = "plugin-mcp-json";
    if (root->kind != JSON_OBJECT)
        return "it is no object";
    *code = "plugin-mcp-field";
    for (const struct json *j = root->first; j; j = j->next)
        if (!str_is(j->key, "$schema") && !str_is(j->key, "mcpServers"))
            return "it has members that the standard does not know";
    *code = "plugin-mcp-schema";
    if (end == SIZE_MAX || schema.n != end + strlen("mcp.schema.json") ||
        !str_starts(schema, str_slice(own, 0, end)) ||
        !str_ends(schema, STR("mcp.schema.json")))
        return "its $schema is not that of the plugin's version";
    *code = "plugin-mcp-servers";
    return json_get(root, "mcpServers") ? NULL : "it has no mcpServers";
}
