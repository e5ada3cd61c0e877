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

/* How editors name the workspace in their files: a `workspace_dir`, too. */
#define MCP_WORKSPACE_REFERENCE "${workspaceFolder}"

/*
 * The body of an MCP file for a client: placeholders substituted in one pass
 * in every string value, forward slashes, `_meta` as asked, unknown keys kept
 * in order. `*out` is JSON text, 2 spaces. Errors: ERR_MCP naming the MCP
 * and the placeholder.
 */
MUST_CHECK bool mcp_format(const struct document *d, struct str workspace_dir,
                           struct str shared_dir, bool with_meta,
                           struct arena *a, struct str *out, struct err *e);

/*
 * The entry of a client's file that starts the server by `mapm start KEY`: no
 * path of this machine is in it. At user level it is `program`, absolute, that
 * starts it by `mapm start -g KEY`; "" = in a workspace. Members that the client
 * reads itself stay.
 * Errors: ERR_MCP for a remote server, and for a placeholder in such a member.
 * Source: D20.
 */
MUST_CHECK bool mcp_format_start(const struct document *d, struct str key,
                                 struct str program, struct arena *a,
                                 struct str *out, struct err *e);

struct mcp_variable {
    const char *name, *value;
};

/* What `mapm start` executes. In the arena of mcp_read_process. */
struct mcp_process {
    const char *const *argv; /* [0]: command; NULL at the end */
    const struct mcp_variable *env;
    size_t env_count;
    const char *cwd; /* NULL: the caller's */
};

/* Placeholders are substituted by the folders as they are. Errors: ERR_MCP. */
MUST_CHECK bool mcp_read_process(const struct document *d,
                                 struct str workspace_dir,
                                 struct str shared_dir, struct arena *a,
                                 struct mcp_process *out, struct err *e);

/* One line, as it will run: command, args; env names. For consent: never
 * shortened. In `a`. */
struct str mcp_command_line(const struct document *d, struct arena *a);
/* Whether such a line is the URL of a server that is connected to, not run. */
bool mcp_line_is_remote(struct str line);

/* The first string value of `j`, a document or a part of one, that has this text
 * in it; borrowed, "" = none. */
struct str mcp_mention(const struct json *j, const char *text);

/* What is wrong with the url of a remote server; NULL: nothing. */
const char *mcp_url_fault(struct str url);
bool mcp_header_is_valid(struct str name, struct str value);

/* M18: 2 spaces, final newline; same keys, order and numbers. In `a`. */
MUST_CHECK bool mcp_pretty(struct str text, struct arena *a, struct str *out,
                           struct err *e);

#endif
