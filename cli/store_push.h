#ifndef CLI_STORE_PUSH_H
#define CLI_STORE_PUSH_H

#include "command.h"

/* store_push: the operations of mapm store on a remote. They open the store
 * themselves. */

MUST_CHECK COMMAND(store_push);
MUST_CHECK COMMAND(store_check_remote);

#endif
