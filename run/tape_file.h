#ifndef RUN_TAPE_FILE_H
#define RUN_TAPE_FILE_H

#include "base/context.h"
#include "mapm/runtime.h"
#include "mapm/tape.h"

/* Checks that FILE of --record is writable before the run, whose cost would be
 * lost otherwise. */
MUST_CHECK bool tape_file_check(struct context *cx, struct str file,
                                struct err *e);

/* Writes the tape of `r` atomically. */
MUST_CHECK bool tape_file_write(struct str file, struct tape_recorder *r,
                                const struct runtime_result *result,
                                struct arena *a, struct err *e);

#endif
