#ifndef CLI_STAR_JOB_H
#define CLI_STAR_JOB_H

#include "mapm/starlark.h"

#include "../command.h"

/*
 * star_job: programs of the language, from a file or typed in.
 */

struct star_job {
    struct invocation *inv;
    struct star_options options;
    struct star *star;
    struct buf printed; /* with --json: kept for the document */
};

/* --- star.c ------------------------------------------------------------------ */

/* While `s` is not NULL, SIGINT, SIGTERM and SIGHUP cancel it. */
void star_job_cancels(struct star *s);
/* The signal that came and is not forgotten; 0: none. */
int star_job_signal(void);
void star_job_forget_signal(void);

/* Prints the report of the last failure to stderr, after pending output. */
MUST_CHECK bool star_job_report(struct star_job *job, struct err *e);

/* --- star_repl.c -------------------------------------------------------------- */

/* Reads statements from the terminal and runs each, until Ctrl-D. */
MUST_CHECK bool star_repl(struct star_job *job, struct err *e);

/* --- star_line.c --------------------------------------------------------------- */

/*
 * Lines from a terminal: through libedit where that is there, which is looked
 * for only now, since loading it would cost every other command a fifth of its
 * time. Without it, and on a dumb terminal, lines are read as they come.
 */
struct star_line;

enum star_line_kind { LINE_READ, LINE_END, LINE_INTERRUPTED };

struct star_line *star_line_open(struct invocation *inv);
void star_line_close(struct star_line *l); /* NULL is fine */

/* Reads the next line with its LF, appended to `out`; `more`: as a
 * continuation. */
enum star_line_kind star_line_read(struct star_line *l, bool more,
                                   struct buf *out);

#endif
