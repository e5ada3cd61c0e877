#ifndef MAPM_RUN_SERVER_H
#define MAPM_RUN_SERVER_H

#include "base/context.h"
#include "mapm/mcp_file.h"

/*
 * run_server: prepares the process of a locked MCP server, for `mapm start`.
 *
 *     lock, by key -- consent of this machine -- store, by digest
 *         -- placeholders -- program, on the PATH or by its path
 *
 * It asks no question, makes no request, and writes nothing except the root and
 * the data folder of a plugin, below the store.
 *
 * Source: D20, G12; THREATS row 8.
 */

struct run_server {
    struct mcp_process process;
    const char *path; /* program, absolute or relative to process.cwd */
};

/*
 * Prepares a server and sets its variables in the environment of this process.
 * Allocated in the arena of `cx`.
 * Errors: those of locked_server_find; ERR_REFUSED without consent, or if lock,
 * store and consent differ in content; ERR_MCP for a remote server.
 */
MUST_CHECK bool run_server_prepare(struct context *cx, struct str key,
                                   struct run_server *out, struct err *e);

/* Finds the program of the server. Errors: ERR_NOT_FOUND with its name and the
 * searched folders. */
MUST_CHECK bool run_server_find(struct context *cx, struct run_server *s,
                                struct err *e);

#endif
