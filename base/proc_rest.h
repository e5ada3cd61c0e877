#ifndef BASE_PROC_REST_H
#define BASE_PROC_REST_H

#include "base/buf.h"

#include <sys/types.h>

/* proc_rest: ends the processes that a run leaves behind. During a run this
 * process is a subreaper: orphaned descendants become its children, regardless
 * of their sessions and groups, so that they can be found and killed. */

struct proc_rest {
    bool on;
    int before;       /* previous subreaper setting */
    struct buf known; /* pid_t: children before the run */
};

void proc_rest_begin(struct proc_rest *r);

/* Kills and reaps processes that became children since the begin, until no new
 * ones appear. Returns false if a process is left that cannot be killed, or
 * that forks faster than it is found. Does nothing without a begin. */
MUST_CHECK bool proc_rest_kill(struct proc_rest *r);

/* Reaps ended children except `running`, so that a process that only starts
 * others cannot exhaust the process ids. */
void proc_rest_reap(struct proc_rest *r, pid_t running);

/* May be called twice. */
void proc_rest_end(struct proc_rest *r);

/* Ends the children in the process group of this process, and those that become
 * its children by that: by SIGTERM, and after `max_ms` by SIGKILL. Daemons are
 * in other groups. */
void proc_end_group(unsigned max_ms);

#endif
