#ifndef CLI_OFFLINE_SHOW_H
#define CLI_OFFLINE_SHOW_H

#include "command.h"

/* store pull, beside bundle and vendor: what the lock holds, for later. */
MUST_CHECK COMMAND(store_pull);

#endif
