#ifndef MAPM_BATCH_H
#define MAPM_BATCH_H

#include "base/context.h"
#include "mapm/limits.h"

/*
 * batch: runs one metaskill for each line of an input file.
 *
 *     FILE.jsonl --> inputs of this shard --> workers --> journal --> output
 *
 * Workers are forks of this process. Each takes an input, runs it, and records
 * the start and the results in the journal of the shard. After a crash or kill
 * at any point, the next call with the same journal continues: completed runs
 * are printed without running them again, started runs are replayed from their
 * records, and a run whose command was still executing ends as `interrupted`.
 *
 * Source: DESIGN.md 8.1; REQUIREMENTS S6.
 */

struct batch_counts {
    /* Number of inputs of this shard. The other members count runs
     * that have ended. */
    size_t total;
    size_t completed, failed, interrupted;
};

struct batch_request {
    struct context *cx;
    struct str name;        /* name of the metaskill */
    struct str file;        /* input, one {"id":…,"input":{…}} per line */
    struct str out;         /* output file, replaced; p NULL: stdout */
    struct str journal;     /* folder; p NULL: name of `file` and ".journal" */
    struct str record;      /* folder for tapes; p NULL: none */
    unsigned jobs;          /* number of workers, at least 1 */
    unsigned shard, shards; /* shard number from 0, of `shards` */
    bool retry_failed, retry_interrupted;
    uint64_t max_asks; /* for the whole journal; 0: no limit */
    struct str backend;
    struct str_list allow;
    /* Applies the limits of the workspace to those of each run. */
    bool (*limits)(void *ctx, struct limits *l, struct err *e);
    void (*progress)(void *ctx, const struct batch_counts *c); /* may be NULL */
    void *ctx;
};

/*
 * Runs the inputs of one shard. `*out` is also set on error.
 * Errors: ERR_REFUSED before any run, if the metaskill is not trusted, an input
 * is invalid, an id is not unique, or the journal belongs to another package,
 * input file or number of shards; ERR_BUSY if another process works on the
 * shard; ERR_INTERRUPTED; ERR_LIMIT if `max_asks` are used up; ERR_DAMAGED for
 * the journal; errors of run_execute.
 */
MUST_CHECK bool batch_run(const struct batch_request *q,
                          struct batch_counts *out, struct err *e);

/* Merges the outputs of all shards into one, in the order of the inputs, after
 * checking that each input occurs exactly once.
 * Errors: ERR_NOT_FOUND, ERR_CONFLICT and ERR_FORMAT with the ids; nothing
 * is written then. */
struct batch_merge {
    struct context *cx;
    struct str file;
    struct str out; /* p NULL: stdout */
    struct str_list outputs;
};
MUST_CHECK bool batch_merge(const struct batch_merge *q,
                            struct batch_counts *out, struct err *e);

#endif
