#ifndef MCP_SHAPE_H
#define MCP_SHAPE_H

#include "base/json.h"

/*
 * shape: whether what a client answers is what its schema has for that
 * question: CreateMessageResult, ElicitResult, ListRootsResult. What the schema
 * does not know is left alone.
 */

/* False for a `method` that asks nothing, too. */
bool shape_is_answer(struct str method, const struct json *answer);

#endif
