#ifndef MANIFEST_MCP_H
#define MANIFEST_MCP_H

#include "mapm/limits.h"

#include "document.h"

/* Declarations shared by validating an MCP file and formatting it for a
 * client. */

#define MCP_MAX_NODES 100000

MUST_CHECK bool mcp_parse(struct str text, struct arena *a,
                          const struct json **out, unsigned *line,
                          struct err *e);

/*
 * Visits every value below `root`, in order, parents first. Start with an
 * empty walk; NULL at the end. `depth` counts the containers around the
 * value; `key` of its outermost member is `top`.
 */
#define WALK_MAX_DEPTH (MCP_MAX_DEPTH + 2)
struct walk {
    const struct json *stack[WALK_MAX_DEPTH];
    size_t depth;
    const struct json *now, *top;
    bool started;
};
const struct json *walk_next(struct walk *w, const struct json *root);

/* --- placeholders: ${workspaceDir}, ${sharedDir} (M20 to M22) -------------- */

/* Returns why the placeholders of `text` cannot be substituted and sets `part`
 * to the offending part, or returns NULL. */
const char *placeholder_fault(struct str text, struct str *part);

/* Returns the length of the placeholder at the start of `text`, or 0. */
size_t placeholder_length(struct str text);

/* Appends `text` with its placeholders replaced in one pass, so that a replaced
 * value is not expanded again. */
void placeholder_put(struct buf *out, struct str text, struct str workspace_dir,
                     struct str shared_dir);

/* --- rules (M19, X20; row 8) ----------------------------------------------- */

void check_command(const struct reader *r, const struct json *command);
void check_args(const struct reader *r, const struct json *args,
                struct str command);
void check_env(const struct reader *r, const struct json *env);
void check_url(const struct reader *r, const struct json *url);
void check_headers(const struct reader *r, const struct json *headers);

/* Returns true if some client skips asking the user for consent because of this
 * key. */
bool mcp_key_skips_consent(struct str key);

#endif
