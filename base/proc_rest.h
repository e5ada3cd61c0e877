#ifndef BASE_PROC_REST_H
#define BASE_PROC_REST_H

#include "base/buf.h"

#include <sys/types.h>

/*
 * proc_rest: the processes that a run leaves behind. During a run this process
 * is a subreaper: orphaned descendants become its children, independent of
 * their sessions and groups, so that they can be found and killed.
 */

struct proc_rest {
    bool on;
    int before;       /* were we a subreaper? */
    struct buf known; /* pid_t: children that we had before */
};

void proc_rest_begin(struct proc_rest *r);

/* Kills and reaps what became our child since, until nothing comes any more.
 * False: something is left, which cannot be killed, or forks faster than it is
 * found. Without a begin it does nothing. */
MUST_CHECK bool proc_rest_kill(struct proc_rest *r);

/* Reaps ended children except `running`: a process that only starts others
 * and leaves them must not exhaust the process numbers. */
void proc_rest_reap(struct proc_rest *r, pid_t running);

/* Twice is harmless. */
void proc_rest_end(struct proc_rest *r);

/* Ends the children of our process group, and what of it becomes our child by
 * that: SIGTERM, and after `max_ms` SIGKILL. Daemons are in other groups. */
void proc_end_group(unsigned max_ms);

#endif
