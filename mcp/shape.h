#ifndef MCP_SHAPE_H
#define MCP_SHAPE_H

#include "base/json.h"

/*
 * shape: whether an answer of the client has the schema of its question:
 * CreateMessageResult, ElicitResult, ListRootsResult. Unknown members are
 * ignored.
 */

/* False for a `method` that asks nothing, too. */
bool shape_is_answer(struct str method, const struct json *answer);

#endif
