#ifndef INSTALL_LOCAL_H
#define INSTALL_LOCAL_H

#include "closure.h"

/*
 * local: a `file:` package, read in place: never out of its folder, no
 * device, no socket. Source: DESIGN.md 5; THREATS.md rows 1, 4, 16.
 */
MUST_CHECK bool local_read(struct closure *c, struct node *n, struct err *e);

#endif
