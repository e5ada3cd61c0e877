#ifndef RUNTIME_RUN_H
#define RUNTIME_RUN_H

#include "mapm/runtime.h"

#include "envelope.h"
#include "message.h"
#include "run_worker.h"
#include "trace.h"

/*
 * run: one run in the host's process.
 *
 *     run_begin() --> worker_go() --> run_serve() --> run_finish()
 *                                          |  run_receive()      run_channel.c
 *                                          |  run_on_ask() …     run_call.c
 *                                          `> run_end_…()        run_end.c
 */

struct run {
    const struct runtime_job *job;
    struct arena *a;
    struct runtime_result *out;
    struct worker worker;
    struct message_input in;
    struct trace trace;
    uint64_t start_ms, deadline_ms;
    size_t printed; /* printed bytes */
    bool ended;     /* `out` is complete except for the counts */
};

/* The interpreter stops at its own limit first and reports the line. */
#define RUN_GRACE_MS 20

void run_begin(struct run *r, const struct runtime_job *job, struct arena *a,
               struct runtime_result *out);
/* Handles messages of r->worker until the run has ended. */
void run_serve(struct run *r);
/* Ends the worker process and adds up the counts; the run must have ended. */
void run_finish(struct run *r);

/* --- what happens ---------------------------------------------------------- */

uint64_t run_took(const struct run *r); /* Returns the elapsed milliseconds. */
void run_report_step(const struct run *r, struct step s);

/* Set the result unless there is one already. */
void run_end_as(struct run *r, enum runtime_end end, const char *why);
void run_fail(struct run *r, const char *format, ...) PRINTF(2, 3);
void run_end_interrupted(struct run *r);
void run_end_late(struct run *r);
/* Ends the run because the worker sent a message that no interpreter sends. */
void run_end_broken(struct run *r);
void run_end_error(struct run *r, const struct err *e);

/* Called before every call of the host (K30): ends the run on a signal or after
 * its time. Returns true if the run continues. */
bool run_is_in_time(struct run *r);

/* --- messages --------------------------------------------------------------- */

/* Receives the next message; returns false when the run has ended. */
bool run_receive(struct run *r, struct message *m);
void run_reply(struct run *r, const struct buf *json);

void run_on_ask(struct run *r, struct str body);
void run_on_command(struct run *r, struct str body);

#endif
