#ifndef BASE_PROC_CHILD_H
#define BASE_PROC_CHILD_H

#include "base/proc.h"

/* proc_child: from fork to exec, with nothing inherited by accident. */

/* exit_code of proc.h from the status that waitpid gave. */
int proc_exit_code(int status);

#endif
