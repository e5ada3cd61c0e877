#ifndef MAPM_RUN_SETUP_H
#define MAPM_RUN_SETUP_H

#include "mapm/run_find.h"
#include "mapm/run_history.h"

/*
 * run_setup: what stands around a run, whoever starts it: `mapm run` for a
 * person, `mapm mcp` for a model.
 *
 *     may it run?      run_policy_of, run_check_allowed
 *     who answers?     run_wishes
 *     what is kept?    run_keep_of
 *
 * What the user's file says counts, and a workspace may only lower it
 * (DESIGN.md 3.1). Source: K37, X27, THREATS row 21.
 */

/* runtime.metaskills, the least first. */
enum run_policy { RUN_OFF, RUN_LOCAL, RUN_TRUSTED, RUN_ALL };
const char *run_policy_name(enum run_policy p); /* "off" … */
enum run_policy run_policy_of(const struct layer *l);

/*
 * By the policy and, of a fetched one, its digest; where there is a terminal it
 * is asked. Errors: ERR_REFUSED, with what to do in the hint; what the store
 * reports.
 */
MUST_CHECK bool run_check_allowed(struct context *cx, struct store *store,
                                  const struct layer *l,
                                  const struct run_skill *found, struct err *e);

/* `option`: what was asked for this run, NULL when nothing was. Borrows from
 * `l`. */
struct asker_wishes run_wishes(struct context *cx, struct str option,
                               const struct layer *l);

enum run_keep run_keep_of(const struct layer *l);

#endif
