#ifndef CLI_MCP_CONFIG_H
#define CLI_MCP_CONFIG_H

#include "command.h"

/* The words that start this server again: "mcp" and its options, folders as
 * absolute paths. In the invocation's arena. */
struct str_list mcp_arguments(struct invocation *inv);

/* Prints what `client` needs in its own file. */
MUST_CHECK bool mcp_print_config(struct invocation *inv, struct str client,
                                 struct err *e);

#endif
