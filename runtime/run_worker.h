#ifndef RUNTIME_RUN_WORKER_H
#define RUNTIME_RUN_WORKER_H

#include "mapm/runtime.h"

#include <sys/types.h>

/*
 * worker: the process in which a program runs. It is a fork without exec: the
 * program and its input are in memory already, and the only descriptor it keeps
 * is one end of a socket pair.
 *
 * Isolation: no other descriptor, no capability, no new privileges, no file
 * (Landlock), no system call but memory, clock, read and write (seccomp), no
 * core dump, limits on memory and CPU time, and death with the parent.
 * Source: THREATS.md 1.8, row 17.
 */

struct worker {
    pid_t pid; /* 0 if there is none */
    int fd;    /* this process's end of the socket, non-blocking; -1 if there
                * is none */
};

/* Starts the process, which drops its rights and then waits for worker_go(). */
MUST_CHECK bool worker_start(const struct runtime_job *job, struct worker *out,
                             struct err *e);

/* Lets the process run the program until `deadline_ms`. */
void worker_go(const struct worker *c, uint64_t deadline_ms);

/* Kills the process without waiting for it. */
void worker_kill(const struct worker *c);

/* Kills the process if it still runs, and waits for it. `*status` is that of
 * waitpid if it had ended by itself. May be called twice. */
void worker_end(struct worker *c, int *status);

/* Returns why a process ended without a result. Allocated in `a`. */
struct str worker_fate(int status, struct arena *a);

#endif
