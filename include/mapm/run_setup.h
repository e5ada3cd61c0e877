#ifndef MAPM_RUN_SETUP_H
#define MAPM_RUN_SETUP_H

#include "mapm/run.h"
#include "mapm/run_history.h"

/*
 * run_setup: what stands around a run, whoever starts it: `mapm run` for a
 * person, `mapm mcp` for a model.
 *
 *     may it run?      run_policy_of
 *     what is kept?    run_keep_of
 *
 * What the user's file says counts, and a workspace may only lower it
 * (DESIGN.md 3.1). Source: K37, X27, THREATS row 21.
 */

/* runtime.metaskills, the least first. */
enum run_policy { RUN_OFF, RUN_LOCAL, RUN_TRUSTED, RUN_ALL };
const char *run_policy_name(enum run_policy p); /* "off" … */
enum run_policy run_policy_of(const struct layer *l);

enum run_keep run_keep_of(const struct layer *l);

#endif
