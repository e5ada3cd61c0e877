#include "mapm/clients_shape.h"

/*
 * The layouts of servers in the files of clients. To add one, add a row here
 * and use it in the row of a client.
 *
 * Source: docs/clients.md 5.
 */
/* clang-format off */

/* JSON with `mcpServers`, the most common layout: .mcp.json itself, … */
const struct mcp_shape shape_shared = {
    .section = "mcpServers", .is_verbatim = true, .off = "disabled", .off_value = true};

/* … clients that recognize a remote server by its URL, … */
const struct mcp_shape shape_plain = {
    .section = "mcpServers", .keeps_rest = true, .off = "disabled", .off_value = true,
    .user_members = {"autoApprove", "alwaysAllow", "disabledTools"},
    .members = {{"type", SERVER_LOCAL | SERVER_SSE, VALUE_SAME, NULL}}};

/* … clients that recognize it by its type, … */
const struct mcp_shape shape_typed = {
    .section = "mcpServers", .keeps_rest = true, .off = "disabled", .off_value = true,
    .members = {{"type", SERVER_HTTP, VALUE_TEXT, "http"},
                {"type", SERVER_LOCAL | SERVER_SSE, VALUE_SAME, NULL}}};

/* … and clients that support only local servers. */
const struct mcp_shape shape_local = {
    .section = "mcpServers", .is_local = true,
    .members = {{"command", SERVER_LOCAL, VALUE_SAME, NULL},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"env", SERVER_LOCAL, VALUE_SAME, NULL}}};

const struct mcp_shape shape_vscode = {
    SHAPE_JSON_RELAXED, "servers", .keeps_rest = true,
    .members = {{"type", SERVER_LOCAL, VALUE_TEXT, "stdio"},
                {"type", SERVER_HTTP, VALUE_TEXT, "http"},
                {"type", SERVER_SSE, VALUE_TEXT, "sse"}}};

/* Gemini rejects its whole settings file for an unknown member. */
const struct mcp_shape shape_gemini = {
    SHAPE_JSON_COMMENTED, "mcpServers",
    .members = {{"command", SERVER_ANY, VALUE_SAME, NULL},
                {"args", SERVER_ANY, VALUE_SAME, NULL},
                {"env", SERVER_ANY, VALUE_SAME, NULL},
                {"cwd", SERVER_ANY, VALUE_SAME, NULL},
                {"headers", SERVER_ANY, VALUE_SAME, NULL},
                {"trust", SERVER_ANY, VALUE_SAME, NULL},
                {"oauth", SERVER_ANY, VALUE_SAME, NULL},
                {"description", SERVER_ANY, VALUE_SAME, NULL},
                {"includeTools", SERVER_ANY, VALUE_SAME, NULL},
                {"excludeTools", SERVER_ANY, VALUE_SAME, NULL},
                {"httpUrl", SERVER_HTTP, VALUE_SAME, "url"},
                {"url", SERVER_SSE, VALUE_SAME, NULL}}};

const struct mcp_shape shape_opencode = {
    SHAPE_JSON_RELAXED, "mcp", .inner = "servers", .off = "enabled",
    .members = {{"type", SERVER_LOCAL, VALUE_TEXT, "local"},
                {"type", SERVER_REMOTE, VALUE_TEXT, "remote"},
                {"command", SERVER_LOCAL, VALUE_COMMAND_LINE, NULL},
                {"environment", SERVER_LOCAL, VALUE_SAME, "env"},
                {"url", SERVER_REMOTE, VALUE_SAME, NULL},
                {"headers", SERVER_REMOTE, VALUE_SAME, NULL},
                {"enabled", SERVER_ANY, VALUE_TRUE, NULL}}};

const struct mcp_shape shape_windsurf = {
    .section = "mcpServers", .off = "disabled", .off_value = true,
    .user_members = {"disabledTools"},
    .members = {{"command", SERVER_LOCAL, VALUE_SAME, NULL},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"env", SERVER_LOCAL, VALUE_SAME, NULL},
                {"serverUrl", SERVER_REMOTE, VALUE_SAME, "url"},
                {"headers", SERVER_REMOTE, VALUE_SAME, NULL}}};

/* A single name that contains a dot. */
const struct mcp_shape shape_amp = {
    SHAPE_JSON_RELAXED, "amp.mcpServers",
    .members = {{"command", SERVER_LOCAL, VALUE_SAME, NULL},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"env", SERVER_LOCAL, VALUE_SAME, NULL},
                {"url", SERVER_REMOTE, VALUE_SAME, NULL},
                {"headers", SERVER_REMOTE, VALUE_SAME, NULL}}};

const struct mcp_shape shape_zed = {
    SHAPE_JSON_RELAXED, "context_servers", .off = "enabled",
    .members = {{"command", SERVER_LOCAL, VALUE_SAME, NULL},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"env", SERVER_LOCAL, VALUE_SAME, NULL},
                {"url", SERVER_REMOTE, VALUE_SAME, NULL},
                {"headers", SERVER_REMOTE, VALUE_SAME, NULL}}};

const struct mcp_shape shape_codex = {
    SHAPE_TOML, "mcp_servers", .off = "enabled",
    .members = {{"command", SERVER_ANY, VALUE_SAME, NULL},
                {"args", SERVER_ANY, VALUE_SAME, NULL},
                {"env", SERVER_ANY, VALUE_SAME, NULL},
                {"cwd", SERVER_ANY, VALUE_SAME, NULL},
                {"url", SERVER_ANY, VALUE_SAME, NULL},
                {"http_headers", SERVER_ANY, VALUE_SAME, "headers"},
                {"env_http_headers", SERVER_REMOTE, VALUE_HEADER_NAMES, "headers"},
                {"bearer_token_env_var", SERVER_REMOTE, VALUE_BEARER, "headers"},
                {"bearer_token_env_var", SERVER_ANY, VALUE_SAME, NULL},
                {"startup_timeout_sec", SERVER_ANY, VALUE_SAME, NULL},
                {"tool_timeout_sec", SERVER_ANY, VALUE_SAME, NULL},
                {"enabled_tools", SERVER_ANY, VALUE_SAME, NULL},
                {"disabled_tools", SERVER_ANY, VALUE_SAME, NULL}}};

const struct mcp_shape shape_grok = {
    SHAPE_TOML, "mcp_servers", .off = "enabled",
    .members = {{"command", SERVER_LOCAL, VALUE_SAME, NULL},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"env", SERVER_LOCAL, VALUE_SAME, NULL},
                {"url", SERVER_REMOTE, VALUE_SAME, NULL},
                {"headers", SERVER_REMOTE, VALUE_SAME, NULL},
                {"tool_timeout_sec", SERVER_ANY, VALUE_SAME, NULL}}};

const struct mcp_shape shape_vibe = {
    SHAPE_TOML, "mcp_servers", .is_list = true, .off = "disabled", .off_value = true,
    .user_members = {"disabled_tools", "prompt", "sampling_enabled"},
    .members = {{"name", SERVER_ANY, VALUE_KEY, NULL},
                {"transport", SERVER_LOCAL, VALUE_TEXT, "stdio"},
                {"transport", SERVER_REMOTE, VALUE_TEXT, "streamable-http"},
                {"command", SERVER_LOCAL, VALUE_SAME, NULL},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"env", SERVER_LOCAL, VALUE_SAME, NULL},
                {"cwd", SERVER_LOCAL, VALUE_SAME, NULL},
                {"url", SERVER_REMOTE, VALUE_SAME, NULL},
                {"headers", SERVER_REMOTE, VALUE_SAME, NULL}}};

const struct mcp_shape shape_goose = {
    SHAPE_YAML, "extensions", .off = "enabled",
    .members = {{"name", SERVER_ANY, VALUE_KEY, NULL},
                {"type", SERVER_LOCAL, VALUE_TEXT, "stdio"},
                {"type", SERVER_HTTP, VALUE_TEXT, "streamable_http"},
                {"type", SERVER_SSE, VALUE_TEXT, "sse"},
                {"cmd", SERVER_LOCAL, VALUE_SAME, "command"},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"envs", SERVER_LOCAL, VALUE_SAME, "env"},
                {"uri", SERVER_REMOTE, VALUE_SAME, "url"},
                {"headers", SERVER_REMOTE, VALUE_SAME, NULL},
                {"enabled", SERVER_ANY, VALUE_TRUE, NULL}}};

const struct mcp_shape shape_hermes = {
    SHAPE_YAML, "mcp_servers", .off = "enabled",
    .members = {{"transport", SERVER_SSE, VALUE_TEXT, "sse"},
                {"command", SERVER_LOCAL, VALUE_SAME, NULL},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"env", SERVER_LOCAL, VALUE_SAME, NULL},
                {"url", SERVER_REMOTE, VALUE_SAME, NULL},
                {"headers", SERVER_REMOTE, VALUE_SAME, NULL},
                {"enabled", SERVER_ANY, VALUE_TRUE, NULL}}};

const struct mcp_shape shape_continue = {
    SHAPE_YAML, "mcpServers", .is_list = true,
    .members = {{"name", SERVER_ANY, VALUE_KEY, NULL},
                {"type", SERVER_HTTP, VALUE_TEXT, "streamable-http"},
                {"type", SERVER_SSE, VALUE_TEXT, "sse"},
                {"command", SERVER_LOCAL, VALUE_SAME, NULL},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"env", SERVER_LOCAL, VALUE_SAME, NULL},
                {"cwd", SERVER_LOCAL, VALUE_SAME, NULL},
                {"url", SERVER_REMOTE, VALUE_SAME, NULL},
                {"requestOptions", SERVER_REMOTE, VALUE_HEADERS, "headers"}}};

const struct mcp_shape shape_kimi = {
    .section = "mcpServers", .off = "enabled",
    .members = {{"transport", SERVER_LOCAL, VALUE_TEXT, "stdio"},
                {"transport", SERVER_HTTP, VALUE_TEXT, "http"},
                {"transport", SERVER_SSE, VALUE_TEXT, "sse"},
                {"command", SERVER_LOCAL, VALUE_SAME, NULL},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"env", SERVER_LOCAL, VALUE_SAME, NULL},
                {"url", SERVER_REMOTE, VALUE_SAME, NULL},
                {"headers", SERVER_REMOTE, VALUE_SAME, NULL}}};

const struct mcp_shape shape_crush = {
    .section = "mcp", .off = "disabled", .off_value = true,
    .members = {{"type", SERVER_LOCAL, VALUE_TEXT, "stdio"},
                {"type", SERVER_HTTP, VALUE_TEXT, "http"},
                {"type", SERVER_SSE, VALUE_TEXT, "sse"},
                {"command", SERVER_LOCAL, VALUE_SAME, NULL},
                {"args", SERVER_LOCAL, VALUE_SAME, NULL},
                {"env", SERVER_LOCAL, VALUE_SAME, NULL},
                {"url", SERVER_REMOTE, VALUE_SAME, NULL},
                {"headers", SERVER_REMOTE, VALUE_SAME, NULL}}};
/* clang-format on */
