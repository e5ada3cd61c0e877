#ifndef MAPM_LOCKED_SERVER_H
#define MAPM_LOCKED_SERVER_H

#include "base/context.h"
#include "base/hash.h"

/*
 * locked_server: finds an MCP server of a workspace by its key, for `mapm
 * start`. Only reads the locks of the workspace: it takes no lock, performs no
 * recovery and writes nothing.
 *
 * Source: D20.
 */

struct locked_server {
    struct str workspace; /* absolute, without symbolic links */
    struct str key, name; /* name: qualified */
    struct hash digest;   /* digest of the package */
};

/*
 * Finds the server in the user's library with cx->use_global, otherwise in the
 * nearest workspace upwards of CLAUDE_PROJECT_DIR, or else of the current
 * folder. Allocated in the arena of `cx`.
 * Errors: ERR_NOT_FOUND without a workspace or the key; ERR_REFUSED for files
 * of another user; errors of the lock.
 */
MUST_CHECK bool locked_server_find(struct context *cx, struct str key,
                                   struct locked_server *out, struct err *e);

#endif
