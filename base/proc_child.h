#ifndef BASE_PROC_CHILD_H
#define BASE_PROC_CHILD_H

#include "base/proc.h"

/* proc_child: starts child processes that inherit only the intended
 * descriptors. */

/* Converts a status of waitpid to the exit_code of proc.h. */
int proc_exit_code(int status);

#endif
