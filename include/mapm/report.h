#ifndef MAPM_REPORT_H
#define MAPM_REPORT_H

#include "mapm/run_detail.h"
#include "mapm/state_runs.h"

/*
 * report_page: one run as one HTML page.
 *
 * The page needs nothing but itself: no network, no script. Its policy (CSP)
 * allows its own style sheet, named by its hash, and nothing else, so that a
 * text which got out of its quotes could still do nothing. It is for light and
 * dark, for 360 pixels and for paper, where all details are open.
 *
 * Source: REQUIREMENTS K40, K42; THREATS rows 7, 22.
 */

/* `out` may overflow: the caller checks. */
void report_page(const struct state_run *run, const struct run_detail *detail,
                 struct buf *out);

/* --- its parts ---------------------------------------------------------------- */

/* report/style.css, between <style> and </style>. */
extern const char runs_style[];

/* The time axis: from 0 to the latest end. */
uint64_t report_chart_span(const struct state_run *run,
                           const struct run_detail *detail);
/* All steps on one axis, and the axis. */
void report_chart(const struct run_detail *detail, uint64_t span_ms,
                  struct buf *out);
/* One step as a line. */
void report_chart_bar(const struct run_step *s, uint64_t span_ms,
                      struct buf *out);

#endif
