#ifndef MAPM_LOCKED_SERVER_H
#define MAPM_LOCKED_SERVER_H

#include "base/context.h"
#include "base/hash.h"

/*
 * locked_server: an MCP server of a workspace by its key, for `mapm start`: the
 * locks are read and nothing else, nothing is locked, recovered or written.
 *
 * Source: D20.
 */

struct locked_server {
    struct str workspace; /* absolute, no link in it */
    struct str key, name; /* name: in full */
    struct hash digest;   /* of the package */
};

/*
 * In the library of the user with cx->use_global, else in the nearest workspace upwards of CLAUDE_PROJECT_DIR, where that leads to
 * one, else of the working folder. In the arena of `cx`. Errors: ERR_NOT_FOUND
 * without a workspace or the key; ERR_REFUSED for files of another user; those
 * of the lock.
 */
MUST_CHECK bool locked_server_find(struct context *cx, struct str key,
                                   struct locked_server *out, struct err *e);

#endif
