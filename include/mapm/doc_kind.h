#ifndef MAPM_DOC_KIND_H
#define MAPM_DOC_KIND_H

#include "base/str.h"

/* doc_kind: the three kinds of documents that are packages. */

enum doc_kind { DOC_AGENT = 1, DOC_SKILL = 2, DOC_MCP = 4 };

const char *doc_kind_name(enum doc_kind kind);   /* "agent" "skill" "mcp" */
const char *doc_kind_plural(enum doc_kind kind); /* "agents" … */
/* False, `*out` untouched, for any other text. */
bool doc_kind_find(struct str name, enum doc_kind *out);
/* "AGENTS.md", "SKILL.md"; NULL for an MCP. */
const char *doc_entry_file(enum doc_kind kind);

#endif
