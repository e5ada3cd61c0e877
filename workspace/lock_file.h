#ifndef WORKSPACE_LOCK_FILE_H
#define WORKSPACE_LOCK_FILE_H

#include "mapm/lock.h"

/*
 * Reads the lock `name` in the folder with the descriptor `dirfd` and the path
 * `folder`, without opening the layer. A lock that does not exist is empty.
 * Errors: those of reading, and of lock_parse with a hint how to repair it.
 */
MUST_CHECK bool lock_file_read(int dirfd, struct str folder, const char *name,
                               struct arena *a, struct lock *out,
                               struct err *e);

#endif
