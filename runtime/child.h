#ifndef RUNTIME_CHILD_H
#define RUNTIME_CHILD_H

#include "mapm/runtime.h"

#include <sys/types.h>

/*
 * child: the process in which a program runs. It is forked, not started: it
 * has the program and its input in memory already, and with one socket as all
 * it can reach it needs no other.
 *
 * Walls: no descriptor but the socket, no capability, no new privilege, no
 * file (Landlock), no call but memory, clock and read and write (seccomp), no
 * core dump, a limit on memory and on the processor's time, and death with the
 * parent. Source: THREATS.md 1.8, row 17.
 */

struct child {
    pid_t pid; /* 0: none */
    int fd;    /* our end of the socket, which does not block; -1: none */
};

MUST_CHECK bool child_start(const struct runtime_job *job, uint64_t deadline_ms,
                            struct child *out, struct err *e);

/* Kills it, and does not wait. */
void child_kill(const struct child *c);

/* Kills it if it is still there, and waits; `*status` as waitpid gives it, of
 * a process that ended by itself just before. Twice is harmless. */
void child_end(struct child *c, int *status);

/* Why a process that gave no result is no more. In `a`. */
struct str child_fate(int status, struct arena *a);

#endif
