#ifndef MAPM_STATE_RUNS_H
#define MAPM_STATE_RUNS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* state_runs: the history of runs. */

struct state;

struct state_run {
    uint64_t id;             /* 1, 2, 3 … */
    struct str name, digest; /* FQN; "sha256:…", "" for a local one */
    struct str workspace;
    int64_t started_ms; /* since 1970 */
    uint64_t took_ms;
    struct str status;  /* "running", the envelope's, "error", "interrupted" */
    struct str error;   /* "error: …"; "" = none */
    struct str backend; /* "claude"; "" = none was used */
    unsigned asks, commands, traces;
    uint64_t input_bytes, result_bytes;
    int64_t pid;       /* while it runs: its process */
    struct str detail; /* JSON, the writer's own: steps in order */
};

/* A row at the start, without the end, so that a killed run shows: its status
 * then reads as "interrupted". `pid` 0 is this process. Runs past
 * HISTORY_MAX_RUNS (a few at a time) and HISTORY_MAX_BYTES are forgotten, the
 * oldest first. */
MUST_CHECK bool state_begin_run(struct state *s, const struct state_run *r,
                                uint64_t *id, struct err *e);
/* By r->id. A deleted row is ignored. ERR_LIMIT. */
MUST_CHECK bool state_end_run(struct state *s, const struct state_run *r,
                              struct err *e);
/* Newest first, at most `max` and HISTORY_MAX_RUNS, of one workspace ("" = all). Without `detail`. */
MUST_CHECK bool state_list_runs(struct state *s, struct str workspace,
                                size_t max, struct arena *a,
                                struct state_run **out, size_t *count,
                                struct err *e);
/* ERR_NOT_FOUND. */
MUST_CHECK bool state_find_run(struct state *s, uint64_t id, struct arena *a,
                               struct state_run *out, struct err *e);

#endif
