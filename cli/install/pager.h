#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <sys/types.h>

#include "../command.h"

/*
 * pager: what stdout gets goes through $PAGER, by default less, if it is a
 * terminal. Output is as without where none can be started.
 */
struct pager {
    pid_t pid; /* 0: none */
    int out;   /* stdout, as it was */
};

void pager_start(struct pager *p, struct invocation *inv);
/* Waits until the reader has seen enough; then stdout is as it was. */
MUST_CHECK bool pager_end(struct pager *p, struct invocation *inv,
                          struct err *e);

#endif
