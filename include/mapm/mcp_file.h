#ifndef MAPM_MCP_FILE_H
#define MAPM_MCP_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/document.h"

/* mcp_file: the file of an MCP server (M16 to M23, X19 to X22). */

/* io.playwright/mcp -> io-playwright-mcp, <= 37 characters (X21). In `a`. */
struct str mcp_key(struct str fqn, struct arena *a);
/* With `-` and 8 hex of its SHA-256, for the later of two equal keys. */
struct str mcp_key_hashed(struct str fqn, struct arena *a);
/* io.example/mcp -> io.example_mcp.json */
struct str mcp_file_name(struct str fqn, struct arena *a);

/*
 * The body of an MCP file for a client: placeholders substituted in one pass
 * in every string value, forward slashes, `_meta` as asked, unknown keys kept
 * in order. `*out` is JSON text, 2 spaces. Errors: ERR_MCP naming the MCP
 * and the placeholder.
 */
MUST_CHECK bool mcp_format(const struct document *d, struct str workspace_dir,
                           struct str shared_dir, bool with_meta,
                           struct arena *a, struct str *out, struct err *e);

/* One line, as it will run: command, args; env names. For consent: never
 * shortened. In `a`. */
struct str mcp_command_line(const struct document *d, struct arena *a);

/* M18: 2 spaces, final newline; same keys, order and numbers. In `a`. */
MUST_CHECK bool mcp_pretty(struct str text, struct arena *a, struct str *out,
                           struct err *e);

#endif
