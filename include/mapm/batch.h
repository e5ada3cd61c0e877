#ifndef MAPM_BATCH_H
#define MAPM_BATCH_H

#include "base/context.h"
#include "mapm/limits.h"

/*
 * batch: one metaskill for each line of a file.
 *
 *     FILE.jsonl --> inputs of this shard --> workers --> journal --> output
 *
 * Workers are forks of this process; each takes an input, runs it, and writes
 * into the shard's journal what it begins and what came of it. Whatever is
 * killed, the next call with the same journal goes on: what ended is printed and
 * not run, what was begun is replayed from its records, and a command that was
 * under way ends `interrupted`.
 *
 * Source: DESIGN.md 8.1; REQUIREMENTS S6.
 */

struct batch_counts {
    size_t total; /* inputs of this shard; those that did not end: the rest */
    size_t completed, failed, interrupted;
};

struct batch_request {
    struct context *cx;
    struct str name;    /* of the metaskill */
    struct str file;    /* one {"id":…,"input":{…}} a line */
    struct str out;     /* a file, replaced; p NULL: standard output */
    struct str journal; /* a folder; p NULL: the file's name and ".journal" */
    struct str record;  /* a folder for tapes; p NULL: none */
    unsigned jobs;      /* workers, from 1 */
    unsigned shard, shards; /* 0 of 1: all */
    bool retry_failed, retry_interrupted;
    uint64_t max_asks; /* of the whole journal; 0: no bound */
    struct str backend;
    struct str_list allow;
    /* The limits of the workspace to those of each run. */
    bool (*limits)(void *ctx, struct limits *l, struct err *e);
    void (*progress)(void *ctx, const struct batch_counts *c); /* or NULL */
    void *ctx;
};

/*
 * `*out` says what is done, after an error, too. Errors: ERR_REFUSED before
 * anything ran: not trusted, an input that is none, an id that stands twice, a
 * journal of another package, input or number of shards; ERR_BUSY: another
 * process works at the shard; ERR_INTERRUPTED; ERR_LIMIT: `max_asks` are used;
 * ERR_DAMAGED: the journal; those of run_execute.
 */
MUST_CHECK bool batch_run(const struct batch_request *q,
                          struct batch_counts *out, struct err *e);

/*
 * Writes the outputs of all shards as one, in the order of the inputs, once
 * each input is found just once. Errors: ERR_NOT_FOUND, ERR_CONFLICT, ERR_FORMAT
 * with the ids; nothing is written then.
 */
struct batch_merge {
    struct context *cx;
    struct str file;
    struct str out; /* p NULL: standard output */
    struct str_list outputs;
};
MUST_CHECK bool batch_merge(const struct batch_merge *q,
                            struct batch_counts *out, struct err *e);

#endif
