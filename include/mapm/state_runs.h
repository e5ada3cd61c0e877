#ifndef MAPM_STATE_RUNS_H
#define MAPM_STATE_RUNS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* state_runs: stores the history of runs. */

struct state;

struct state_run {
    uint64_t id;             /* 1, 2, 3, … */
    struct str name, digest; /* FQN; "sha256:…", "" if local */
    struct str workspace;
    int64_t started_ms; /* milliseconds since 1970 */
    uint64_t took_ms;
    struct str status;  /* "running", status of the envelope, "error" or
                           "interrupted" */
    struct str error;   /* "error: …", or "" */
    struct str backend; /* "claude"; "" if none was used */
    unsigned asks, commands, traces;
    uint64_t input_bytes, result_bytes;
    int64_t pid;       /* process of the run while it is running */
    struct str detail; /* JSON of the caller: the steps in order */
};

/* Begins a row without an end, so that a killed run is visible: its status
 * is then read as "interrupted". `pid` 0 is this process. Runs beyond
 * HISTORY_MAX_RUNS (several at a time) and HISTORY_MAX_BYTES are deleted,
 * the oldest first. */
MUST_CHECK bool state_begin_run(struct state *s, const struct state_run *r,
                                uint64_t *id, struct err *e);
/* Completes the row r->id; ignores a deleted row. Errors: ERR_LIMIT. */
MUST_CHECK bool state_end_run(struct state *s, const struct state_run *r,
                              struct err *e);
/* Lists runs, newest first, at most `max` and HISTORY_MAX_RUNS, of one
 * workspace ("" for all). Without `detail`. */
MUST_CHECK bool state_list_runs(struct state *s, struct str workspace,
                                size_t max, struct arena *a,
                                struct state_run **out, size_t *count,
                                struct err *e);
/* Finds a run, with `detail`. Errors: ERR_NOT_FOUND. */
MUST_CHECK bool state_find_run(struct state *s, uint64_t id, struct arena *a,
                               struct state_run *out, struct err *e);

#endif
