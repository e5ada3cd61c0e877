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

static const char *const profiles[] = {
    [PROFILE_INSTALL]     = "install",
    [PROFILE_AGENTSKILLS] = "agentskills",
    [PROFILE_SKILLS_REF]  = "skills-ref",
    [PROFILE_METIS]       = "metis",
    [PROFILE_METAAGENTS]  = "metaagents",
    [PROFILE_LM_KIT]      = "lm-kit",
    [PROFILE_METASKILL]   = "metaskill",
    [PROFILE_PUBLISH]     = "publish",
    [PROFILE_AGENT_PLUGIN]  = "agent-plugin",
    [PROFILE_CLAUDE_PLUGIN] = "claude-plugin",
    [PROFILE_MARKETPLACE]   = "marketplace",
};
/* clang-format on */

#define KINDS    (sizeof kinds / sizeof *kinds)
#define PROFILES (sizeof profiles / sizeof *profiles)

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

const char *document_profile_name(enum profile p)
{
    return (size_t)p < PROFILES ? profiles[p] : profiles[PROFILE_INSTALL];
}

bool document_profile_find(struct str name, enum profile *out)
{
    for (size_t i = 0; i < PROFILES; i++)
        if (str_is(name, profiles[i])) {
            *out = (enum profile)i;
            return true;
        }
    return false;
}
