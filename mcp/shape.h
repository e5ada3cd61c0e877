#ifndef MCP_SHAPE_H
#define MCP_SHAPE_H

#include "base/json.h"

/* shape: checks an answer of the client against the schema of its request:
 * CreateMessageResult, ElicitResult or ListRootsResult. Unknown members are
 * ignored. */

/* Also returns false if `method` is not a request to the client. */
bool shape_is_answer(struct str method, const struct json *answer);

#endif
