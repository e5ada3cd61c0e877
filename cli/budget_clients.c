#include "budget.h"

/*
 * Folders: seen with the programs themselves, but those of vscode and cursor,
 * which are from their documentation. Claude Code and Codex are the two that
 * are known to cut the list; the figures are about theirs.
 */
/* clang-format off */
const struct budget_client budget_clients[] = {
    {.name = "claude", .seen = "2026-11", .max_chars = 15000, .hides = true,
     .workspace = {".claude/skills"},
     .home = {".claude/skills"}},
    {.name = "codex", .seen = "2026-11", .max_chars = 8000,
     .workspace = {".agents/skills", ".codex/skills"},
     .home = {".agents/skills", ".codex/skills"}},
    {.name = "gemini", .seen = "2026-11",
     .workspace = {".agents/skills", ".gemini/skills"},
     .home = {".agents/skills", ".gemini/skills"}},
    {.name = "opencode", .seen = "2026-11",
     .workspace = {".agents/skills", ".claude/skills", ".opencode/skills",
                   ".opencode/skill"},
     .home = {".agents/skills", ".claude/skills", ".config/opencode/skills"}},
    {.name = "copilot", .seen = "2026-11",
     .workspace = {".github/skills", ".agents/skills", ".claude/skills"},
     .home = {".copilot/skills", ".agents/skills"}},
    {.name = "qwen", .seen = "2026-11",
     .workspace = {".qwen/skills", ".agents/skills"},
     .home = {".qwen/skills", ".agents/skills"}},
    {.name = "cline", .seen = "2026-11",
     .workspace = {".cline/skills", ".agents/skills", ".clinerules/skills"},
     .home = {".cline/skills", ".agents/skills"}},
    {.name = "amp", .seen = "2026-11",
     .workspace = {".agents/skills", ".claude/skills"},
     .home = {".agents/skills", ".claude/skills", ".config/agents/skills",
              ".config/amp/skills"}},
    {.name = "vscode", .seen = "2026-11",
     .workspace = {".github/skills", ".claude/skills", ".agents/skills"},
     .home = {".copilot/skills"}},
    {.name = "cursor", .seen = "2026-11",
     .workspace = {".cursor/skills", ".agents/skills", ".claude/skills"},
     .home = {".cursor/skills"}},
};
/* clang-format on */
const size_t budget_client_count =
    sizeof budget_clients / sizeof *budget_clients;
