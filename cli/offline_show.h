#ifndef CLI_OFFLINE_SHOW_H
#define CLI_OFFLINE_SHOW_H

#include "command.h"

/* store pull: fetches what the lock names into the store, for later use. */
MUST_CHECK COMMAND(store_pull);

#endif
