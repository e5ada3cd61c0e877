#ifndef RUNTIME_INTERPRETER_H
#define RUNTIME_INTERPRETER_H

#include "base/buf.h"
#include "mapm/runtime.h"
#include "mapm/starlark.h"

#include "message.h"

/*
 * Starlark with the functions ask, command and trace, each of which sends a
 * message through `fd`. It runs in the worker process (worker.h) and ends that
 * process when the parent has closed its end.
 */

struct interpreter {
    int fd;
    const struct runtime_job *job;
    uint64_t deadline_ms;
    struct star *star;
    struct buf out;    /* the message under construction, after its header */
    uint64_t traces;   /* number of traces sent */
    size_t printed;    /* number of printed bytes sent */
    const char *fault; /* fault of the run, in addition to errors of the
                        * interpreter */
};

/* Returns an interpreter with the functions of metaskills, or NULL if memory is
 * exhausted. `g` is NULL if programs are only compiled. */
struct star *interpreter_open(const struct star_options *options,
                              struct interpreter *g);

/* Waits for the start of the run, reads and runs the program, and sends RESULT
 * or FAILURE. */
void interpreter_run(struct interpreter *g);

/* interpreter_call.c: the functions for programs. */
star_function interpreter_ask, interpreter_command, interpreter_trace;

/* Waits for the host's first bytes, the deadline. */
void interpreter_wait(struct interpreter *g);
/* Begin a message; append its body to g->out; send it. */
void interpreter_begin(struct interpreter *g);
void interpreter_send(struct interpreter *g, enum message_kind kind);

#endif
