#ifndef BATCH_BATCH_H
#define BATCH_BATCH_H

#include "mapm/batch.h"
#include "mapm/run.h"

#include <stdatomic.h>

#include "input.h"
#include "journal.h"
#include "output.h"

/*
 * batch: declarations shared by the files of this folder.
 *
 *     batch.c    reads journal and inputs, forks workers, writes the output
 *     work.c     a worker: runs one input after the other
 *     replay.c   replays or performs the model calls and commands of an input
 *     output.c   formats and parses the lines of the output
 */

enum batch_failed { BATCH_NO_FAULT, BATCH_FAULT_COMES, BATCH_FAULT };

/* Memory shared by the processes. */
struct batch_shared {
    atomic_size_t next;       /* index of the next input in `todo` */
    _Atomic uint64_t asks;    /* number begun */
    _Atomic bool out_of_asks; /* a model call was refused because of the
                               * limit */
    _Atomic bool stop;        /* no further input may be begun */
    _Atomic int failed;       /* enum batch_failed; `error` is the first
                               * error */
    struct err error;
};

struct batch {
    const struct batch_request *q;
    struct context *cx;
    struct layer layer;
    struct run_skill skill;
    struct limits limits;
    struct batch_input input;
    struct batch_journal journal;
    struct batch_shared *shared;
    uint32_t *todo; /* indices of input lines, in the order of execution */
    size_t todo_count;
    uint64_t size; /* size of the journal when the workers were started */
    int wake[2];   /* pipe that gets a byte for each input that ended */
    struct batch_output output;
    struct batch_counts counts;
};

/* Runs inputs until none is left. Called in each worker process. */
void batch_work(struct batch *b);

/* The records in the journal of an input that was begun. */
struct batch_records {
    struct buf tape;   /* lines of a tape, without its end */
    bool command_cut;  /* a command was begun and its result is not recorded */
    unsigned commands; /* number begun */
};
MUST_CHECK bool batch_records_read(const struct batch *b,
                                   const struct batch_line *line,
                                   struct batch_records *out, struct err *e);
void batch_records_done(struct batch_records *r);

/* State of the hooks that perform the model calls and commands of one input. */
struct batch_effects {
    struct batch *b;
    const struct batch_line *line;
    struct tape tape;
    struct tape_player player;
    struct err fault; /* the journal could not be written; the batch ends */
    bool out_of_asks; /* the limit was reached; this input is not completed */
};
bool batch_ask(void *ctx, struct run_execution *x, const struct ask *in,
               struct arena *a, struct answer *out, struct err *e);
bool batch_command(void *ctx, struct run_execution *x, const struct command *in,
                   struct arena *a, struct command_result *out, struct err *e);

#endif
