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
    bool trace, live;   /* live: a progress line is shown */
    struct str backend; /* "" until it is selected */
    struct arena arena;

    /* The current step; STEP_START if there is none. */
    enum step_kind doing;
    struct str label;
    uint64_t since_ms; /* in the time of proc_now_ms */
    unsigned turns, frame;
    struct str line; /* the latest line of the answer */
    char line_text[RUN_SHOW_LINE_CHARS * 4];
};

void run_show_init(struct run_show *v, struct invocation *inv, bool trace);
void run_show_done(struct run_show *v);

/* Sets the backend once it is selected. Borrowed. */
void run_show_backend(struct run_show *v, struct str name);

/* Implements runtime_host.step. `ctx` is the run_show, here and below. */
void run_show_step(void *ctx, const struct step *s);

/* Implements backend_progress.tell: receives the number of turns and a line of
 * the answer, "" if there is none. Called at least four times a second, also
 * without output, to update the seconds. run_show_tick does only that, for
 * commands. */
void run_show_news(void *ctx, unsigned turns, struct str line);
void run_show_tick(void *ctx);

/* Prints the answer of a completed run on a terminal, and a line of statistics.
 * Returns false if the answer is not JSON, without printing anything. */
bool run_show_result(struct run_show *v, const struct runtime_result *r);

#endif
