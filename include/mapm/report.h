#ifndef MAPM_REPORT_H
#define MAPM_REPORT_H

#include "mapm/run_detail.h"
#include "mapm/state_runs.h"

/*
 * report: renders a run as an HTML page.
 *
 * The page is self-contained: no network, no script. Its content security
 * policy allows only its own style sheet, identified by hash, so that text
 * which escaped its quotes could not do anything. It supports light and
 * dark color schemes, a width of 360 pixels, and printing, where all
 * details are open.
 *
 * Source: REQUIREMENTS K40, K42; THREATS rows 7, 22.
 */

/* `out` may overflow: the caller checks. */
void report_page(const struct state_run *run, const struct run_detail *detail,
                 struct buf *out);

/* --- its parts ---------------------------------------------------------------- */

/* report/style.css, between <style> and </style>. */
extern const char runs_style[];

/* Returns the length of the time axis: from 0 to the latest end of a step. */
uint64_t report_chart_span(const struct state_run *run,
                           const struct run_detail *detail);
/* Writes all steps on one axis, and the axis. */
void report_chart(const struct run_detail *detail, uint64_t span_ms,
                  struct buf *out);
/* Writes the bar of one step. */
void report_chart_bar(const struct run_step *s, uint64_t span_ms,
                      struct buf *out);

#endif
