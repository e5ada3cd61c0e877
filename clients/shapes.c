#include "mapm/clients_shape.h"

/* Source: docs/clients.md 2. */

const struct mcp_shape shape_shared = {MCP_SHARED, SHAPE_JSON, "mcpServers"};
const struct mcp_shape shape_plain = {MCP_PLAIN, SHAPE_JSON, "mcpServers"};
const struct mcp_shape shape_gemini = {MCP_GEMINI, SHAPE_JSON_COMMENTED,
                                       "mcpServers"};
const struct mcp_shape shape_opencode = {MCP_OPENCODE, SHAPE_JSON_RELAXED,
                                         "mcp"};
const struct mcp_shape shape_vscode = {MCP_VSCODE, SHAPE_JSON_RELAXED,
                                       "servers"};
const struct mcp_shape shape_codex = {MCP_CODEX, SHAPE_TOML, "mcp_servers"};
const struct mcp_shape shape_amp = {MCP_PLAIN, SHAPE_JSON_RELAXED,
                                    "amp.mcpServers"};
