#ifndef MAPM_NAME_H
#define MAPM_NAME_H

#include "base/str.h"
#include "mapm/doc_kind.h"

/* name: names, scopes and versions (M2 to M5, M7, M16, X1). */

bool name_is_kebab(struct str name); /* and <= 64 */
bool name_scope_is_valid(struct str scope);
bool name_mcp_is_valid(struct str name);
/* What a layer may call a package of this kind: scope and name, or the name of
 * an MCP server, without characters that end a word in a list. */
bool name_fqn_is_valid(enum doc_kind kind, struct str fqn);
/* Why not, for a person; NULL when it is fine. */
const char *name_fault(struct str name);

struct version {
    uint64_t part[3];
};
bool version_parse(struct str text, struct version *out); /* X.Y.Z, no more */
int version_cmp(const struct version *x, const struct version *y);

#endif
