#ifndef CLI_DOCTOR_RESTORE_H
#define CLI_DOCTOR_RESTORE_H

#include "command.h"

/* Runs `mapm doctor --restore-user [CLIENT…]`, which prints no report. */
MUST_CHECK bool doctor_restore(struct invocation *inv, int *exit_code,
                               struct err *e);

#endif
