#ifndef MAPM_RUN_SERVER_H
#define MAPM_RUN_SERVER_H

#include "base/context.h"
#include "mapm/mcp_file.h"

/*
 * run_server: the process of a locked MCP server, for `mapm start`.
 *
 *     lock, by key -- consent of this machine -- store, by digest
 *         -- placeholders -- program, on the PATH or by its path
 *
 * Asks nothing, fetches nothing, and writes nothing but the root and the data
 * folder of a plugin, below the store. Source: D20, G12; THREATS row 8.
 */

struct run_server {
    struct mcp_process process;
    const char *path; /* of the program, absolute, or relative to process.cwd */
};

/*
 * In the arena of `cx`. Sets the server's variables in this process. Errors:
 * those of locked_server_find; ERR_REFUSED without consent, or when lock, store
 * and consent are not of the same bytes; ERR_MCP for a file that is no program.
 */
MUST_CHECK bool run_server_prepare(struct context *cx, struct str key,
                                   struct run_server *out, struct err *e);

/* ERR_NOT_FOUND with the name that was looked for, and where. */
MUST_CHECK bool run_server_find(struct context *cx, struct run_server *s,
                                struct err *e);

#endif
