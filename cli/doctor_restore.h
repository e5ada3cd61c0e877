#ifndef CLI_DOCTOR_RESTORE_H
#define CLI_DOCTOR_RESTORE_H

#include "command.h"

/* mapm doctor --restore-user [CLIENT…]: instead of the report. */
MUST_CHECK bool doctor_restore(struct invocation *inv, int *exit_code,
                               struct err *e);

#endif
