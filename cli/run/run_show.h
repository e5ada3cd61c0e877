#ifndef CLI_RUN_SHOW_H
#define CLI_RUN_SHOW_H

#include "mapm/runtime.h"

#include "../command.h"

/*
 * run_show: shows a run in progress on stderr.
 *
 *     asking claude: fix-tests · 3 turns · 12 s      a progress line, then
 *     ask 1: fix-tests · 3 turns · 12.3 s · "Done."  one for each step
 *
 *     ok · 1 ask · 12.4 s                            its end
 *
 * On a terminal alone; with `trace` (--trace) each step is a line as it
 * happens, on a terminal or not. All text is shown escaped, and of an answer
 * its first line. Source: DESIGN.md 8, 10; REQUIREMENTS K40; rows 7, 22.
 */

#define RUN_SHOW_LINE_CHARS 200

struct run_show {
    struct invocation *inv;
    bool trace, live;   /* live: there is a progress line */
    struct str backend; /* "": not chosen yet */
    struct arena arena;

    /* The step under way; START: none. */
    enum step_kind doing;
    struct str label;
    uint64_t since_ms; /* as proc_now_ms counts */
    unsigned turns, frame;
    struct str line; /* of the answer, so far */
    char line_text[RUN_SHOW_LINE_CHARS * 4];
};

void run_show_init(struct run_show *v, struct invocation *inv, bool trace);
void run_show_done(struct run_show *v);

/* The backend, as soon as it is selected. Borrowed. */
void run_show_backend(struct run_show *v, struct str name);

/* runtime_host.step; `ctx` is the run_show, here and below. */
void run_show_step(void *ctx, const struct step *s);

/*
 * backend_progress.tell: turns so far, a line of the answer ("" = none new).
 * Called four times a second or more to update the seconds, also while there
 * is no output. run_show_tick does only that: for commands.
 */
void run_show_news(void *ctx, unsigned turns, struct str line);
void run_show_tick(void *ctx);

/* For a person at a terminal: the answer of a completed run, on stdout, and a
 * line of statistics. False: not JSON, nothing was printed. */
bool run_show_result(struct run_show *v, const struct runtime_result *r);

#endif
