#ifndef RUNTIME_GUEST_H
#define RUNTIME_GUEST_H

#include "mapm/runtime.h"
#include "mapm/starlark.h"

#include "message.h"

/*
 * guest: the program's side of a run: an interpreter with ask, command and
 * trace, which are messages through `fd`. It lives in the process that
 * runtime_run makes for it, and ends that process when nobody listens.
 */

struct guest {
    int fd;
    const struct runtime_job *job;
    uint64_t deadline_ms;
    struct star *star;
    struct buf out;    /* the message being made, behind its header */
    uint64_t traces;   /* sent */
    size_t printed;    /* bytes sent */
    const char *fault; /* of the run, beside the interpreter's errors */
};

/* An interpreter as programs have it; `g` NULL: only to compile. NULL when
 * there is no memory. */
struct star *guest_open(const struct star_options *options, struct guest *g);

/* Reads and runs the program, sends RESULT or FAILURE. */
void guest_run(struct guest *g);

/* guest_call.c: what the program calls. */
star_function guest_ask, guest_command, guest_trace;

/* A message is begun, written to g->out, and sent. */
void guest_begin(struct guest *g);
void guest_send(struct guest *g, enum message_kind kind);
/* Waits for the REPLY; its body lives in `in`. */
struct str guest_receive(struct guest *g, struct message_input *in);

#endif
