#ifndef PLUGIN_STANDARD_H
#define PLUGIN_STANDARD_H

#include "base/json.h"

/* The grammar of Agent Plugins, for who reads a plugin and who checks one. */

#define STANDARD_SCHEMA                                                        \
    "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"

bool standard_find_schema(struct str id, bool *is_draft);
bool standard_name_is_valid(struct str name);

struct standard_field {
    const char *name;
    enum json_kind kind;
    bool is_draft; /* of 1.1.0 */
};
/* NULL: there is none in this version. */
const struct standard_field *standard_find_field(struct str key, bool is_draft);

struct standard_variant {
    const char *type;
    const char *members[5]; /* [1] is required */
};
const struct standard_variant *standard_find_variant(struct str type);
bool standard_has_member(const struct standard_variant *v, struct str key);

/* Below the folder, as text. */
bool standard_path_stays_inside(struct str path);
/* What is wrong with it; NULL: nothing. */
const char *standard_cwd_fault(struct str cwd);
const char *standard_command_fault(struct str command);
/* Of root mcp.json, beside the manifest. `*code`: that of mapm check. */
const char *standard_mcp_fault(const struct json *manifest,
                               const struct json *root, const char **code);

struct checking;
/* mcp.json, which is there. The number of its entries. */
size_t standard_check_mcp(struct checking *c, const struct json *manifest);

#endif
