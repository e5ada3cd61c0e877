#ifndef CLI_RUN_RUN_BATCH_H
#define CLI_RUN_RUN_BATCH_H

#include "mapm/limits.h"

#include "../command.h"

/* run_batch: mapm run --batch, from the command line to a request. */

MUST_CHECK bool run_batch(struct invocation *inv, int *exit_code,
                          struct err *e);

/* ERR_USAGE for options that are of a batch alone. */
MUST_CHECK bool run_without_batch(const struct invocation *inv, struct err *e);

/* run.c: what options say of the limits of a run. */
MUST_CHECK bool run_set_limits(struct invocation *inv, struct limits *l,
                               struct err *e);

#endif
