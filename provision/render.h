#ifndef PROVISION_RENDER_H
#define PROVISION_RENDER_H

#include "mapm/clients.h"
#include "mapm/document.h"

/*
 * render: an agent or a server in the format of one client. Only keys that
 * this client knows; generated files have a comment that says so.
 */

/* Increment when the rendering changes: then files are rendered again. */
#define RENDER_VERSION 3

/* Appends a TOML basic string with quotes. */
void render_toml_quote(struct buf *out, struct str s);

/* Renders the file of a sub-agent; `name` is its path. With `siblings`, the
 * last line names the folder of the other files of the agent. Allocated in
 * `a`. */
struct str render_agent(const struct client *c, const struct document *d,
                        struct str name, bool siblings, struct arena *a);
/* The same for the file of its instructions alone, of a client with
 * `prompts`. */
struct str render_agent_prompt(const struct document *d, struct str name,
                               bool siblings, struct arena *a);

/*
 * The server's entry in the client's file, as its shape says: JSON text, which
 * merge writes in the format of the file. `entry` is what mcp_format made, with
 * or without `_meta` as render_wants_meta says. Errors: ERR_MCP for what this
 * client would take for something else.
 */
MUST_CHECK bool render_server(const struct client *c, struct str key,
                              struct str entry, struct arena *a,
                              struct str *out, struct err *e);
bool render_wants_meta(const struct mcp_shape *shape);

/* Renders the entry of a plugin's server that is not started by `mapm start`.
 * Only references to variables are translated to the syntax of the client. */
MUST_CHECK bool render_plugin_server(const struct client *c, struct str key,
                                     const struct json *mcp, struct arena *a,
                                     struct str *out, struct err *e);

#endif
