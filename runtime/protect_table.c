#include "protect_inner.h"

/*
 * What is protected beside the paths of the clients (mapm/clients.h). Not CLAUDE.md, AGENTS.md and the like: they are texts of
 * the project, which formatters and releases write, as they write sources.
 */
/* clang-format off */
const struct protect_row protect_table[] = {
    /* what mapm wrote, and obeys */
    {"mapm.yaml", WHOLE},       {"mapm.lock", WHOLE},
    {"mapm.local.yaml", WHOLE}, {"mapm.local.lock", WHOLE},
    {".agents", WHOLE},
    /* programs that git starts, and where it looks for them */
    {".git", STAY},             {".git/config", WHOLE},
    {".git/config.worktree", WHOLE}, {".git/hooks", WHOLE},
    {".git/commondir", WHOLE},  {".git/modules", INNER},
    {".git/worktrees", INNER},  {".gitmodules", WHOLE},
    {"HEAD", WHOLE}, /* with it, the workspace is a repository itself */
    {".husky", WHOLE},          {".pre-commit-config.yaml", WHOLE},
    {".githooks", WHOLE},       {"lefthook.yml", WHOLE},
    {".lefthook.yml", WHOLE},   {"lefthook-local.yml", WHOLE},
    /* servers, hooks and permissions of agents that are no clients */
    {".continue", WHOLE},       {".roo", WHOLE},
    {".kiro", WHOLE},           {".windsurf", WHOLE},
    {".aider.conf.yml", WHOLE},
    /* skills beside notes that their agents write all the time */
    {".swival", STAY},          {".swival/skills", WHOLE},
    {".metis", STAY},           {".metis/skills", WHOLE},
    /* tasks of editors, of shells and of the host */
    {".idea", WHOLE},           {".zed", WHOLE},
    {".devcontainer", WHOLE},   {".devcontainer.json", WHOLE},
    {".envrc", WHOLE},
    {NULL, WHOLE},
};
/* clang-format on */

bool protect_is_watched(unsigned how, struct str name, bool is_folder)
{
    static const char *const files[] = {"config", "config.worktree",
                                        "commondir", "gitdir"};
    static const char *const bulk[] = {"objects", "refs", "logs", "lfs"};

    if (how != INNER)
        return true;
    for (size_t i = 0; is_folder && i < sizeof bulk / sizeof *bulk; i++)
        if (str_is(name, bulk[i]))
            return false;
    for (size_t i = 0; !is_folder && i < sizeof files / sizeof *files; i++)
        if (str_is(name, files[i]))
            return true;
    return is_folder;
}
