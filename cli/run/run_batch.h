#ifndef CLI_RUN_RUN_BATCH_H
#define CLI_RUN_RUN_BATCH_H

#include "mapm/limits.h"

#include "../command.h"

/* run_batch: makes a request for mapm run --batch from the command line. */

MUST_CHECK bool run_batch(struct invocation *inv, int *exit_code,
                          struct err *e);

/* Fails with ERR_USAGE if an option is given that requires --batch. */
MUST_CHECK bool run_without_batch(const struct invocation *inv, struct err *e);

/* Sets the limits of a run from options. Defined in run.c. */
MUST_CHECK bool run_set_limits(struct invocation *inv, struct limits *l,
                               struct err *e);

#endif
