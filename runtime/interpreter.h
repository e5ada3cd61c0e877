#ifndef RUNTIME_INTERPRETER_H
#define RUNTIME_INTERPRETER_H

#include "base/buf.h"
#include "mapm/runtime.h"
#include "mapm/starlark.h"

#include "message.h"

/*
 * interpreter: Starlark with the functions ask, command and trace, each a
 * message through `fd`. It lives in the worker process (worker.h), and ends
 * that process when the parent has closed its end.
 */

struct interpreter {
    int fd;
    const struct runtime_job *job;
    uint64_t deadline_ms;
    struct star *star;
    struct buf out;    /* the message under construction, after its header */
    uint64_t traces;   /* sent */
    size_t printed;    /* bytes sent */
    const char *fault; /* of the run, beside the interpreter's errors */
};

/* An interpreter with the functions of metaskills; `g` NULL: only to compile.
 * Returns NULL when memory is exhausted. */
struct star *interpreter_open(const struct star_options *options,
                              struct interpreter *g);

/* Waits until it may begin, reads and runs the program, sends RESULT or
 * FAILURE. */
void interpreter_run(struct interpreter *g);

/* interpreter_call.c: the functions of programs. */
star_function interpreter_ask, interpreter_command, interpreter_trace;

/* Waits for the host's first bytes: the deadline. */
void interpreter_wait(struct interpreter *g);
/* Begin a message, append its body to g->out, send it. */
void interpreter_begin(struct interpreter *g);
void interpreter_send(struct interpreter *g, enum message_kind kind);
/* Waits for the REPLY; the body lives in `in`. */
struct str interpreter_receive(struct interpreter *g, struct message_input *in);

#endif
