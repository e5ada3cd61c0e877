#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <sys/types.h>

#include "../command.h"

/* pager: pipes stdout through $PAGER, by default less, if it is a terminal. If
 * the pager cannot be started, output is written directly. */
struct pager {
    pid_t pid; /* 0 if none */
    int out;   /* the original stdout */
};

void pager_start(struct pager *p, struct invocation *inv);
/* Waits until the user quits the pager, then restores stdout. */
MUST_CHECK bool pager_end(struct pager *p, struct invocation *inv,
                          struct err *e);

#endif
