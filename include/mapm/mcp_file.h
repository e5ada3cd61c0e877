#ifndef MAPM_MCP_FILE_H
#define MAPM_MCP_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/document.h"

/* mcp_file: reads and writes the file of an MCP server (M16 to M23,
 * X19 to X22). */

/* Returns the key of a server: io-playwright-mcp for io.playwright/mcp, at most
 * 37 characters (X21). Allocated in `a`. */
struct str mcp_key(struct str fqn, struct arena *a);
/* Returns a key with "-" and 8 hex digits of the SHA-256 of the FQN, for the
 * later one of two equal keys. */
struct str mcp_key_hashed(struct str fqn, struct arena *a);
/* Returns the file name of a server: io.example_mcp.json for io.example/mcp. */
struct str mcp_file_name(struct str fqn, struct arena *a);

/*
 * Returns the text of an MCP file for a client: with placeholders substituted
 * in one pass in every string value, forward slashes, `_meta` if requested, and
 * unknown keys in their order. `*out` is JSON with 2 spaces. Errors: ERR_MCP,
 * naming the MCP and the placeholder.
 */
MUST_CHECK bool mcp_format(const struct document *d, struct str workspace_dir,
                           struct str shared_dir, bool with_meta,
                           struct arena *a, struct str *out, struct err *e);

/*
 * Returns the entry of a client's file that starts the server by `mapm start
 * KEY`, without a path of this machine. At user level `program`, an absolute
 * path, is started as `mapm start -g KEY`; "" in a workspace. Members that the
 * client reads itself are kept.
 * Errors: ERR_MCP for a remote server, and for a placeholder in such a member.
 * Source: D20.
 */
MUST_CHECK bool mcp_format_start(const struct document *d, struct str key,
                                 struct str program, struct arena *a,
                                 struct str *out, struct err *e);

struct mcp_variable {
    const char *name, *value;
};

/* The command that `mapm start` executes, allocated in the arena of
 * mcp_read_process. */
struct mcp_process {
    const char *const *argv; /* argv[0] is the command; ended by NULL */
    const struct mcp_variable *env;
    size_t env_count;
    const char *cwd; /* NULL for the current folder */
};

/* Reads the command of a server, with placeholders replaced by the folders.
 * Errors: ERR_MCP. */
MUST_CHECK bool mcp_read_process(const struct document *d,
                                 struct str workspace_dir,
                                 struct str shared_dir, struct arena *a,
                                 struct mcp_process *out, struct err *e);

/* Returns the command line in one line: command, arguments and names of
 * variables. It is shown for consent, so it is never shortened.
 * Allocated in `a`. */
struct str mcp_command_line(const struct document *d, struct arena *a);
/* Returns whether such a line is the URL of a remote server. */
bool mcp_line_is_remote(struct str line);

/* Returns the first string value in `j`, a document or a part of one, that
 * contains `text`; borrowed, or "". */
struct str mcp_mention(const struct json *j, const char *text);

/* Returns what is invalid in the URL of a remote server, or NULL. */
const char *mcp_url_fault(struct str url);
bool mcp_header_is_valid(struct str name, struct str value);

/* M18: formats JSON with 2 spaces and a final newline, keeping keys, order and
 * numbers. Allocated in `a`. */
MUST_CHECK bool mcp_pretty(struct str text, struct arena *a, struct str *out,
                           struct err *e);

#endif
