#ifndef CLI_CATALOG_COMMAND_H
#define CLI_CATALOG_COMMAND_H

#include "command.h"

/* catalog: `mapm catalog index DIR`, which needs neither store nor network. */
MUST_CHECK bool catalog_write_index(struct invocation *inv, struct str folder,
                                    struct err *e);

/* Writes .claude-plugin/marketplace.json, for --marketplace. */
MUST_CHECK bool catalog_write_marketplace(struct invocation *inv,
                                          struct str folder, struct err *e);

#endif
