#ifndef CLI_STAR_JOB_H
#define CLI_STAR_JOB_H

#include "mapm/starlark.h"

#include "../command.h"

/* star_job: runs programs of the language, from a file or a terminal. */

struct star_job {
    struct invocation *inv;
    struct star_options options;
    struct star *star;
    struct buf printed; /* output with --json, collected for the document */
};

/* --- star.c ------------------------------------------------------------------ */

/* Makes SIGINT, SIGTERM and SIGHUP cancel `s`, until it is called with NULL. */
void star_job_cancels(struct star *s);
/* Returns the pending signal, or 0. */
int star_job_signal(void);
void star_job_forget_signal(void);

/* Prints the report of the last failure to stderr, after pending output. */
MUST_CHECK bool star_job_report(struct star_job *job, struct err *e);

/* --- star_repl.c -------------------------------------------------------------- */

/* Reads statements from the terminal and runs each, until Ctrl-D. */
MUST_CHECK bool star_repl(struct star_job *job, struct err *e);

/* --- star_line.c --------------------------------------------------------------- */

/* Reads lines from a terminal through libedit if it is installed. It is loaded
 * on demand, since linking it would cost every other command a fifth of its
 * time. Without it, and on a dumb terminal, lines are read without editing. */
struct star_line;

enum star_line_kind { LINE_READ, LINE_END, LINE_INTERRUPTED };

struct star_line *star_line_open(struct invocation *inv);
void star_line_close(struct star_line *l); /* `l` may be NULL */

/* Reads the next line and appends it with its LF to `out`. With `more`, shows
 * the prompt for a continued statement. */
enum star_line_kind star_line_read(struct star_line *l, bool more,
                                   struct buf *out);

#endif
