#ifndef CLI_RUNS_SHOW_H
#define CLI_RUNS_SHOW_H

#include "base/json.h"
#include "mapm/report.h"
#include "mapm/state_runs.h"

#include "../command.h"

/* runs_show: one run of the history as text and as JSON. */

enum term_style runs_style_of(struct str status);

/* Writes the members of a run into an open object. */
void runs_put_json(struct json_writer *w, const struct state_run *r);

/* Prints a document of schema mapm.run/1. */
void runs_print_json(struct invocation *inv, const struct state_run *run,
                     const struct run_detail *detail);

/* Prints a run; with --verbose whole texts, if they were stored, labelled as
 * untrusted (K42). */
void runs_print(struct invocation *inv, const struct state_run *run,
                const struct run_detail *detail);

#endif
