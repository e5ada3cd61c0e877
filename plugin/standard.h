#ifndef PLUGIN_STANDARD_H
#define PLUGIN_STANDARD_H

#include "base/json.h"

/* The grammar of Agent Plugins, shared by reading and checking plugins. */

#define STANDARD_SCHEMA                                                        \
    "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"

bool standard_find_schema(struct str id, bool *is_draft);
bool standard_name_is_valid(struct str name);

struct standard_field {
    const char *name;
    enum json_kind kind;
    bool is_draft; /* field of the draft 1.1.0 */
};
/* Returns a field, or NULL if this version does not have it. */
const struct standard_field *standard_find_field(struct str key, bool is_draft);

struct standard_variant {
    const char *type;
    const char *members[5]; /* allowed members; members[1] is required */
};
const struct standard_variant *standard_find_variant(struct str type);
bool standard_has_member(const struct standard_variant *v, struct str key);

/* Returns true if the path stays in the folder; symbolic links are not
 * resolved. */
bool standard_path_stays_inside(struct str path);
/* Return the fault of a cwd or command, or NULL. */
const char *standard_cwd_fault(struct str cwd);
const char *standard_command_fault(struct str command);
/* Returns the fault of the top level of mcp.json with respect to the manifest,
 * or NULL. `*code` is set to its code in mapm check. */
const char *standard_mcp_fault(const struct json *manifest,
                               const struct json *root, const char **code);

struct checking;
/* Checks an existing mcp.json and returns the number of its entries. */
size_t standard_check_mcp(struct checking *c, const struct json *manifest);

#endif
