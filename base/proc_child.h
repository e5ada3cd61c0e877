#ifndef BASE_PROC_CHILD_H
#define BASE_PROC_CHILD_H

#include "base/proc.h"

/* proc_child: from fork to exec, with nothing inherited by accident. */

struct proc_start {
    const char *const *argv; /* argv[0] absolute */
    const char *const *env;  /* NULL: ours */
    const char *dir;         /* NULL: ours */
    int fds[4];              /* become 0 to 3; -1: 0 to 2 ours, 3 closed */
    bool own_group;          /* a process group that can be killed whole */
    bool own_session;        /* likewise, and no terminal */
};

/* Returns once the program runs, or could not be started: ERR_NOT_FOUND when
 * it is not there. The child dies with us. */
MUST_CHECK bool proc_start(const struct proc_start *s, pid_t *pid,
                           struct err *e);

/* exit_code of proc.h from the status that waitpid gave. */
int proc_exit_code(int status);

#endif
