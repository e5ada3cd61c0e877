#include "protect_inner.h"

/*
 * Protected paths other than those of clients (mapm/clients.h). CLAUDE.md,
 * AGENTS.md and similar files are not included: they are documents of the
 * project, which formatters and release tools write.
 */
/* clang-format off */
const struct protect_row protect_table[] = {
    /* files that mapm writes and executes or obeys */
    {"mapm.yaml", PROTECT_TREE},       {"mapm.lock", PROTECT_TREE},
    {"mapm.local.yaml", PROTECT_TREE}, {"mapm.local.lock", PROTECT_TREE},
    {".agents", PROTECT_TREE},
    /* programs that git starts, and the folders in which it finds them */
    {".git", PROTECT_DIR_ONLY},             {".git/config", PROTECT_TREE},
    {".git/config.worktree", PROTECT_TREE}, {".git/hooks", PROTECT_TREE},
    {".git/commondir", PROTECT_TREE},  {".git/modules", PROTECT_GIT_DIR},
    {".git/worktrees", PROTECT_GIT_DIR},  {".gitmodules", PROTECT_TREE},
    {"HEAD", PROTECT_TREE}, /* with it, the workspace itself is a repository */
    {".husky", PROTECT_TREE},          {".pre-commit-config.yaml", PROTECT_TREE},
    {".githooks", PROTECT_TREE},       {"lefthook.yml", PROTECT_TREE},
    {".lefthook.yml", PROTECT_TREE},   {"lefthook-local.yml", PROTECT_TREE},
    /* servers, hooks and permissions of agents without a row in
     * clients/table.c */
    {".continue", PROTECT_TREE},       {".roo", PROTECT_TREE},
    {".kiro", PROTECT_TREE},           {".windsurf", PROTECT_TREE},
    {".aider.conf.yml", PROTECT_TREE},
    /* skills beside notes that the agents write frequently */
    {".swival", PROTECT_DIR_ONLY},          {".swival/skills", PROTECT_TREE},
    {".metis", PROTECT_DIR_ONLY},           {".metis/skills", PROTECT_TREE},
    /* tasks of editors, shells and git hosts */
    {".idea", PROTECT_TREE},           {".zed", PROTECT_TREE},
    {".devcontainer", PROTECT_TREE},   {".devcontainer.json", PROTECT_TREE},
    {".envrc", PROTECT_TREE},
    {NULL, PROTECT_TREE},
};
/* clang-format on */

bool protect_is_watched(unsigned how, struct str name, bool is_folder)
{
    static const char *const files[] = {"config", "config.worktree",
                                        "commondir", "gitdir"};
    static const char *const bulk[] = {"objects", "refs", "logs", "lfs"};

    if (how != PROTECT_GIT_DIR)
        return true;
    return is_folder ? !STR_IS_ONE_OF(name, bulk) : STR_IS_ONE_OF(name, files);
}
