#ifndef MAPM_DOC_KIND_H
#define MAPM_DOC_KIND_H

#include "base/str.h"

/* doc_kind: the kinds of packages, and their entry files. The manifest of a
 * plugin has several possible names: see plugin_paths.h. */

enum doc_kind {
    DOC_AGENT = 1,
    DOC_SKILL = 2,
    DOC_MCP = 4,
    DOC_PLUGIN = 8,
    DOC_MARKET = 16 /* marketplace.json, not a package */
};

const char *doc_kind_name(enum doc_kind kind);   /* "agent", "skill", … */
const char *doc_kind_plural(enum doc_kind kind); /* "agents", "skills", … */
/* Returns false, with `*out` unchanged, for any other text. */
bool doc_kind_find(struct str name, enum doc_kind *out);
/* Returns "AGENTS.md" or "SKILL.md"; NULL for an MCP. */
const char *doc_entry_file(enum doc_kind kind);

#endif
