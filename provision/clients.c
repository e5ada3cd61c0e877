#include "clients.h"

#include "mapm/manifest.h"
#include "mapm/provision.h"

#include <string.h>

/*
 * Copilot, Cline and Amp find all they read in the common places: their rows
 * make the names known. VS Code reads .agents/skills and, of a project, its
 * own MCP file; its sub-agents live in .github/agents.
 */
/* clang-format off */
const struct client clients[] = {
    {.name = "claude", .seen = "2026-11", .always = true,
     .skills = ".claude/skills",
     .mcp = ".mcp.json", .section = "mcpServers", .mcp_style = MCP_SHARED,
     .agents = ".claude/agents", .suffix = ".md", .agent_style = AGENT_NAMED},
    {.name = "codex", .seen = "2026-11", .markers = {".codex"},
     .mcp = ".codex/config.toml", .section = "mcp_servers",
     .mcp_style = MCP_CODEX,
     .agents = ".codex/agents", .suffix = ".toml",
     .agent_style = AGENT_CODEX},
    {.name = "gemini", .seen = "2026-11", .markers = {".gemini"},
     .mcp = ".gemini/settings.json", .section = "mcpServers",
     .mcp_style = MCP_GEMINI, .mcp_syntax = JSON_COMMENTED,
     .agents = ".gemini/agents", .suffix = ".md", .agent_style = AGENT_NAMED},
    {.name = "opencode", .seen = "2026-11",
     .markers = {".opencode", "opencode.json"},
     .mcp = "opencode.json", .section = "mcp", .mcp_style = MCP_OPENCODE,
     .mcp_syntax = JSON_RELAXED,
     .agents = ".opencode/agents", .suffix = ".md",
     .agent_style = AGENT_OPENCODE},
    {.name = "copilot", .seen = "2026-11"},
    {.name = "qwen", .seen = "2026-11", .markers = {".qwen"},
     .agents = ".qwen/agents", .suffix = ".md", .agent_style = AGENT_NAMED},
    {.name = "cline", .seen = "2026-11"},
    {.name = "amp", .seen = "2026-11"},
    {.name = "vscode", .seen = "2026-11", .markers = {".vscode"},
     .mcp = ".vscode/mcp.json", .section = "servers",
     .mcp_style = MCP_VSCODE, .mcp_syntax = JSON_RELAXED,
     .agents = ".github/agents", .suffix = ".agent.md",
     .agent_style = AGENT_NAMED},
    {.name = "cursor", .seen = "2026-11", .markers = {".cursor"},
     .mcp = ".cursor/mcp.json", .section = "mcpServers",
     .mcp_style = MCP_PLAIN,
     .agents = ".cursor/agents", .suffix = ".md", .agent_style = AGENT_NAMED},
};
const size_t client_count = sizeof clients / sizeof *clients;

static const char *const client_names[] = {
    "claude", "codex", "gemini", "opencode", "copilot", "qwen",
    "cline", "amp", "vscode", "cursor", NULL,
};

static const char *const texts[] = {
    ".gitignore", "mapm.yaml", "mapm.local.yaml", "mapm.local.lock",
    "mapm.lock",
};
/* clang-format on */

const struct client *client_find(struct str name)
{
    for (size_t i = 0; i < client_count; i++)
        if (str_is(name, clients[i].name))
            return &clients[i];
    return NULL;
}

const struct client *client_of_mcp_file(struct str path)
{
    for (size_t i = 0; i < client_count; i++)
        if (clients[i].mcp && str_is(path, clients[i].mcp))
            return &clients[i];
    return NULL;
}

bool provision_knows_client(struct str name)
{
    return client_find(name) != NULL;
}

const char *const *provision_client_names(void)
{
    return client_names;
}

/* `folder`/<kebab><suffix>. A NULL folder holds nothing. */
static bool is_in(struct str path, const char *folder, const char *suffix)
{
    size_t n = folder ? strlen(folder) : 0;

    if (!folder || path.n <= n || path.p[n] != '/' ||
        memcmp(path.p, folder, n) != 0)
        return false;
    path = str_from_index(path, n + 1);
    if (!str_ends(path, str_from(suffix)))
        return false;
    return name_is_kebab(str_slice(path, 0, path.n - strlen(suffix)));
}

bool place_is_text(struct str path)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_is(path, texts[i]))
            return true;
    return false;
}

bool place_is_known(struct str path)
{
    if (is_in(path, SKILLS_FOLDER, "") || is_in(path, AGENTS_FOLDER, "") ||
        str_is(path, STATE_FILE) || place_is_text(path))
        return true;
    for (size_t i = 0; i < client_count; i++)
        if (is_in(path, clients[i].skills, "") ||
            is_in(path, clients[i].agents, clients[i].suffix))
            return true;
    return client_of_mcp_file(path) != NULL;
}

/* Whether `path` is `place` without its last names: a proper parent of it,
 * or the folder itself when `place` is one. */
static bool leads_to(struct str path, const char *place, bool itself)
{
    size_t n = place ? strlen(place) : 0;

    if (!place || !path.n || path.n > n || memcmp(path.p, place, path.n) != 0)
        return false;
    return path.n == n ? itself : place[path.n] == '/';
}

bool place_is_folder(struct str path)
{
    if (leads_to(path, SKILLS_FOLDER, true) ||
        leads_to(path, AGENTS_FOLDER, true))
        return true;
    for (size_t i = 0; i < client_count; i++)
        if (leads_to(path, clients[i].skills, true) ||
            leads_to(path, clients[i].agents, true) ||
            leads_to(path, clients[i].mcp, false))
            return true;
    return false;
}

bool place_is_server_key(struct str key)
{
    if (key.n == 0 || key.n > MCP_KEY_MAX_CHARS)
        return false;
    for (size_t i = 0; i < key.n; i++)
        if (!char_is_alpha(key.p[i]) && !char_is_digit(key.p[i]) &&
            key.p[i] != '-')
            return false;
    return true;
}
