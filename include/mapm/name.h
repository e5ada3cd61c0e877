#ifndef MAPM_NAME_H
#define MAPM_NAME_H

#include "base/str.h"
#include "mapm/doc_kind.h"

/* name: validates names, scopes and versions (M2 to M5, M7, M16, X1). */

bool name_is_kebab(struct str name); /* and at most 64 characters */
bool name_scope_is_valid(struct str scope);
bool name_mcp_is_valid(struct str name);
/* Returns whether a layer may give a package of this kind the name `fqn`:
 * scope and name, or the name of an MCP server, without characters that end
 * a word in a list. */
bool name_fqn_is_valid(enum doc_kind kind, struct str fqn);
/* Returns whether `name` is an environment variable that a document may refer
 * to: letters, digits and "_", no digit first, at most 128 characters. */
bool name_is_variable(struct str name);
/* Returns why a name is invalid, for the user, or NULL. */
const char *name_fault(struct str name);

struct version {
    uint64_t part[3];
};
bool version_parse(struct str text, struct version *out); /* X.Y.Z only */
int version_cmp(const struct version *x, const struct version *y);

#endif
