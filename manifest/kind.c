#include "mapm/doc_kind.h"
#include "mapm/document.h"

/* clang-format off */
static const struct kind {
    enum doc_kind kind;
    const char *name, *plural, *anchor;
} kinds[] = {
    {DOC_AGENT, "agent", "agents", "AGENTS.md"},
    {DOC_SKILL, "skill", "skills", "SKILL.md"},
    {DOC_MCP,   "mcp",   "mcps",   NULL},
    {DOC_PLUGIN, "plugin", "plugins", NULL},
};
/* clang-format on */

#define KINDS (sizeof kinds / sizeof *kinds)

static const struct kind *find_kind(enum doc_kind kind)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].kind == kind)
            return &kinds[i];
    return &kinds[1];
}

const char *doc_kind_name(enum doc_kind kind)
{
    return find_kind(kind)->name;
}

const char *doc_kind_plural(enum doc_kind kind)
{
    return find_kind(kind)->plural;
}

bool doc_kind_find(struct str name, enum doc_kind *out)
{
    for (size_t i = 0; i < KINDS; i++)
        if (str_is(name, kinds[i].name)) {
            *out = kinds[i].kind;
            return true;
        }
    return false;
}

const char *doc_entry_file(enum doc_kind kind)
{
    return find_kind(kind)->anchor;
}
