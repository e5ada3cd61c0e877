#ifndef MAPM_RUN_TAPE_H
#define MAPM_RUN_TAPE_H

#include "base/context.h"
#include "mapm/runtime.h"

/* run_tape: --record and --replay of a run, before it and after. */

/* Whether FILE of --record can be written, before anything is asked: what a
 * run has cost would be lost. */
MUST_CHECK bool run_tape_check(struct context *cx, struct str file,
                               struct err *e);

/* Writes it whole, or not at all; of an interrupted run there is none, which
 * is said and no failure. */
MUST_CHECK bool run_tape_write(struct context *cx, struct str file,
                               struct tape_recorder *r,
                               const struct runtime_result *result,
                               struct err *e);

/* ERR_FAILED, the difference shown, when the run is not what --replay has. */
MUST_CHECK bool run_tape_judge(struct context *cx, struct str file,
                               const struct tape_player *player,
                               const struct runtime_result *result,
                               struct err *e);

#endif
