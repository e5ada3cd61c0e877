#ifndef MAPM_RUN_HISTORY_H
#define MAPM_RUN_HISTORY_H

#include "base/buf.h"
#include "mapm/project.h"
#include "mapm/runtime.h"
#include "mapm/state_runs.h"
#include "mapm/store.h"

/*
 * run_history: records runs (`mapm runs`).
 *
 *     run_history_begin()   a row, so that a killed run shows
 *     run_history_step()    each step, as runtime_host.step has it
 *     run_history_end()     the row's end, and its detail
 *
 * History never fails a run: where a function returns false the caller warns
 * and goes on, and the others do nothing more.
 *
 * `detail` is one JSON object, at most RUN_DETAIL_MAX_BYTES:
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
 *      "left_out": steps that found no room}
 *
 * TEXT is {"bytes": N}, its size; what it says, "untrusted": "...", stands
 * there with RUN_KEEP_FULL alone, but for the report of an error (a traceback
 * of the program). "cut": true says that it is no more than the beginning. The
 * first RUN_SUMMARY_WORDS of `argv` are kept, all of them with RUN_KEEP_FULL;
 * "words" counts them. A step that never came to its end has "unfinished":
 * true. Prints are kept with RUN_KEEP_FULL alone. A member that is not known is
 * not there.
 *
 * Source: REQUIREMENTS K28, K40, K42; THREATS row 22.
 */

#define RUN_DETAIL_MAX_BYTES (1024u * 1024)
#define RUN_SUMMARY_WORDS    3

enum run_keep { RUN_KEEP_NONE, RUN_KEEP_SUMMARY, RUN_KEEP_FULL };

/* "none", "summary", "full", as in runtime.keep; SUMMARY for others. */
enum run_keep run_keep_find(struct str word);
/* A workspace may only lower it (DESIGN.md 3.1). */
enum run_keep run_keep(const struct project *user,
                       const struct project *workspace);

struct run_history {
    struct store *store;
    enum run_keep keep;
    const struct limits *limits; /* NULL: not said */
    struct state_run run;        /* id 0: nothing is remembered (any more) */
    struct str input;
    struct buf steps; /* JSON, a comma between them */
    struct buf open;  /* the step in progress, recorded even if it never ends */
    uint64_t open_at_ms;
    unsigned left_out;
};

/*
 * `first` has name, digest, workspace; its start defaults to now. With an id
 * that row is continued. Nothing is written with RUN_KEEP_NONE. `first` and
 * `input` are borrowed until the end.
 */
MUST_CHECK bool run_history_begin(struct run_history *h, struct store *store,
                                  enum run_keep keep,
                                  const struct state_run *first,
                                  struct str input, struct err *e);

/* Sets the limits of the run, for "2 of 5 asks". Call before the end. */
void run_history_limits(struct run_history *h, const struct limits *l);

void run_history_step(struct run_history *h, const struct step *s);

/* `backend`: its name, "" when none was used. Frees what `h` holds; without a
 * begin, or twice, it is harmless. */
MUST_CHECK bool run_history_end(struct run_history *h,
                                const struct runtime_result *r,
                                struct str backend, struct err *e);

#endif
