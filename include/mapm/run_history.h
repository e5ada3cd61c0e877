#ifndef MAPM_RUN_HISTORY_H
#define MAPM_RUN_HISTORY_H

#include "base/buf.h"
#include "base/context.h"
#include "mapm/project.h"
#include "mapm/runtime.h"
#include "mapm/state_runs.h"
#include "mapm/store.h"

/*
 * run_history: records runs, for `mapm runs`.
 *
 *     run_history_begin()   writes a row, so that a killed run is visible
 *     run_history_step()    adds a step, as passed to runtime_host.step
 *     run_history_end()     completes the row with its detail
 *
 * Errors of the history never fail a run: if a function returns false, the
 * caller prints a warning and continues, and the other functions do nothing.
 *
 * `detail` is one JSON object of at most RUN_DETAIL_MAX_BYTES:
 *
 *     {"detail": 1, "keep": "summary" | "full",
 *      "limits": {"asks", "commands", "traces", "seconds"},
 *      "input": TEXT, "result": TEXT, "report": TEXT,
 *      "steps": [
 *        {"kind": "ask", "number", "at_ms", "took_ms", "ok", "purpose",
 *         "max_turns", "turns", "exhausted", "truncated",
 *         "prompt": TEXT, "answer": TEXT},
 *        {"kind": "command", "number", "at_ms", "took_ms", "ok", "argv": [...],
 *         "words", "exit_code", "truncated", "rule", "result": TEXT},
 *        {"kind": "trace", "at_ms", "name", "data": {...}},
 *        {"kind": "print", "at_ms", "text": TEXT}],
 *      "left_out": number of steps that did not fit}
 *
 * TEXT is {"bytes": N}, its size. With RUN_KEEP_FULL it also has the text,
 * "untrusted": "..."; the report of an error (a traceback of the program)
 * always has it. "cut": true means that the text is truncated. Only the first
 * RUN_SUMMARY_WORDS of `argv` are stored, with RUN_KEEP_FULL all; "words" is
 * their original number. A step that did not end has "unfinished": true. Prints
 * are stored with RUN_KEEP_FULL only. Unknown values are omitted.
 *
 * Source: REQUIREMENTS K28, K40, K42; THREATS row 22.
 */

#define RUN_DETAIL_MAX_BYTES (1024u * 1024)
#define RUN_SUMMARY_WORDS    3

enum run_keep { RUN_KEEP_NONE, RUN_KEEP_SUMMARY, RUN_KEEP_FULL };

/* Parses a value of runtime.keep, "none", "summary" or "full"; returns
 * SUMMARY for others. */
enum run_keep run_keep_find(struct str word);
/* Returns the value in effect; a workspace can only lower it (DESIGN.md
 * 3.1). */
enum run_keep run_keep(const struct project *user,
                       const struct project *workspace);

struct run_history {
    struct store *store;
    enum run_keep keep;
    const struct limits *limits; /* NULL if unknown */
    struct state_run run;        /* id 0: nothing is recorded (any more) */
    struct str input;
    struct buf steps; /* JSON, separated by commas */
    struct buf open;  /* the step in progress, recorded even if it never ends */
    uint64_t open_at_ms;
    unsigned left_out;
};

/* Begins a row. `first` has name, digest and workspace; its start time defaults
 * to now. If it has an id, that row is continued. Writes nothing with
 * RUN_KEEP_NONE. `first` and `input` are borrowed until the end. */
MUST_CHECK bool run_history_begin(struct run_history *h, struct store *store,
                                  enum run_keep keep,
                                  const struct state_run *first,
                                  struct str input, struct err *e);

/* Sets the limits of the run, to show "2 of 5 asks". Must be called
 * before the end. */
void run_history_limits(struct run_history *h, const struct limits *l);

void run_history_step(struct run_history *h, const struct step *s);

/* Ends the row and frees the memory of `h`; may be called without a begin, or
 * twice. `backend` is the name of the backend, or "". */
MUST_CHECK bool run_history_end(struct run_history *h,
                                const struct runtime_result *r,
                                struct str backend, struct err *e);

/* --- history_find.c ------------------------------------------------------------ */

/* The workspace of `cx`, by which runs are listed; "" for `all` of them. */
MUST_CHECK bool run_history_workspace(struct context *cx, bool all,
                                      struct str *path, struct err *e);
/* A run by its number; "last", or p NULL: the last one there. ERR_NOT_FOUND;
 * ERR_USAGE. */
MUST_CHECK bool run_history_find(struct context *cx, struct store *store,
                                 struct str word, bool all,
                                 struct state_run *out, struct err *e);

#endif
