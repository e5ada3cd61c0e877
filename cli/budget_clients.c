#include "budget.h"

/*
 * Folders: seen with the programs themselves, but those of vscode and cursor,
 * which are from their documentation, as are the files of instructions. Claude Code and Codex are the two that
 * are known to cut the list; the figures are about theirs.
 */
/* clang-format off */
const struct budget_client budget_clients[] = {
    {.name = "claude", .seen = "2026-11", .max_chars = 15000, .hides = true,
     .workspace = {".claude/skills"},
     .home = {".claude/skills"},
     .workspace_texts = {"CLAUDE.md|AGENTS.md", ".claude/CLAUDE.md", "CLAUDE.local.md"},
     .home_texts = {".claude/CLAUDE.md"}},
    {.name = "codex", .seen = "2026-11", .max_chars = 8000,
     .workspace = {".agents/skills", ".codex/skills"},
     .home = {".agents/skills", ".codex/skills"},
     .workspace_texts = {"AGENTS.override.md|AGENTS.md"},
     .home_texts = {".codex/AGENTS.override.md|.codex/AGENTS.md"}},
    {.name = "gemini", .seen = "2026-11",
     .workspace = {".agents/skills", ".gemini/skills"},
     .home = {".agents/skills", ".gemini/skills"},
     .workspace_texts = {"GEMINI.md"},
     .home_texts = {".gemini/GEMINI.md"}},
    {.name = "opencode", .seen = "2026-11",
     .workspace = {".agents/skills", ".claude/skills", ".opencode/skills",
                   ".opencode/skill"},
     .home = {".agents/skills", ".claude/skills", ".config/opencode/skills"},
     .workspace_texts = {"AGENTS.md|CLAUDE.md"},
     .home_texts = {".config/opencode/AGENTS.md|.claude/CLAUDE.md"}},
    {.name = "copilot", .seen = "2026-11",
     .workspace = {".github/skills", ".agents/skills", ".claude/skills"},
     .home = {".copilot/skills", ".agents/skills"},
     .workspace_texts = {"AGENTS.md", ".github/copilot-instructions.md"},
     .home_texts = {".copilot/copilot-instructions.md"}},
    {.name = "qwen", .seen = "2026-11",
     .workspace = {".qwen/skills", ".agents/skills"},
     .home = {".qwen/skills", ".agents/skills"},
     .workspace_texts = {"QWEN.md", "AGENTS.md"},
     .home_texts = {".qwen/QWEN.md"}},
    {.name = "cline", .seen = "2026-11",
     .workspace = {".cline/skills", ".agents/skills", ".clinerules/skills"},
     .home = {".cline/skills", ".agents/skills"},
     .workspace_texts = {"AGENTS.md"}},
    {.name = "amp", .seen = "2026-11",
     .workspace = {".agents/skills", ".claude/skills"},
     .home = {".agents/skills", ".claude/skills", ".config/agents/skills",
              ".config/amp/skills"},
     .workspace_texts = {"AGENTS.md|AGENT.md|CLAUDE.md"},
     .home_texts = {".config/amp/AGENTS.md"}},
    {.name = "vscode", .seen = "2026-11",
     .workspace = {".github/skills", ".claude/skills", ".agents/skills"},
     .home = {".copilot/skills"},
     .workspace_texts = {"AGENTS.md", ".github/copilot-instructions.md"}},
    {.name = "cursor", .seen = "2026-11",
     .workspace = {".cursor/skills", ".agents/skills", ".claude/skills"},
     .home = {".cursor/skills"},
     .workspace_texts = {"AGENTS.md"}},
};
/* clang-format on */
const size_t budget_client_count =
    sizeof budget_clients / sizeof *budget_clients;
