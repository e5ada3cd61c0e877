#ifndef CLI_STORE_PUSH_H
#define CLI_STORE_PUSH_H

#include "command.h"

/* store_push: what mapm store does with a remote. Both open the store
 * themselves. */

MUST_CHECK bool store_push(struct invocation *inv, int *exit_code,
                           struct err *e);
MUST_CHECK bool store_check_remote(struct invocation *inv, int *exit_code,
                                   struct err *e);

#endif
