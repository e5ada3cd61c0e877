#ifndef BATCH_BATCH_H
#define BATCH_BATCH_H

#include "mapm/batch.h"
#include "mapm/run.h"

#include <stdatomic.h>

#include "input.h"
#include "journal.h"
#include "output.h"

/*
 * batch: what the files of this folder share.
 *
 *     batch.c    reads journal and inputs, forks workers, writes the output
 *     work.c     a worker: one input after the other
 *     replay.c   asks and commands of an input: from the journal, else done
 *     output.c   the lines of the output
 */

enum batch_failed { BATCH_NO_FAULT, BATCH_FAULT_COMES, BATCH_FAULT };

/* Between the processes. */
struct batch_shared {
    atomic_size_t next;       /* of `todo` */
    _Atomic uint64_t asks;    /* begun */
    _Atomic bool out_of_asks; /* one was refused */
    _Atomic bool stop;        /* begin no further input */
    _Atomic int failed;       /* enum batch_failed: `error` is the first one */
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
    uint32_t *todo; /* lines, in this order */
    size_t todo_count;
    uint64_t size; /* of the journal, when the workers began */
    int wake[2];   /* a byte for each input that ended */
    struct batch_output output;
    struct batch_counts counts;
};

/* What a worker is, until there is nothing left to do; in a process of its own. */
void batch_work(struct batch *b);

/* What the journal has of an input that was begun. */
struct batch_records {
    struct buf tape;   /* the lines of a tape, without an end */
    bool command_cut;  /* a command was begun, and has no end */
    unsigned commands; /* begun */
};
MUST_CHECK bool batch_records_read(const struct batch *b,
                                   const struct batch_line *line,
                                   struct batch_records *out, struct err *e);
void batch_records_done(struct batch_records *r);

/* The asks and commands of one input; the hooks of its run. */
struct batch_effects {
    struct batch *b;
    const struct batch_line *line;
    struct tape tape;
    struct tape_player player;
    struct err fault; /* the journal could not be written: the batch ends */
    bool out_of_asks; /* and this input is not ended */
};
bool batch_ask(void *ctx, struct run_execution *x, const struct ask *in,
               struct arena *a, struct answer *out, struct err *e);
bool batch_command(void *ctx, struct run_execution *x, const struct command *in,
                   struct arena *a, struct command_result *out, struct err *e);

#endif
