#ifndef CLI_STORE_PUSH_H
#define CLI_STORE_PUSH_H

#include "command.h"

/* store_push: mapm store push, which opens the store itself. */

MUST_CHECK bool store_push(struct invocation *inv, int *exit_code,
                           struct err *e);

#endif
