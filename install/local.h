#ifndef INSTALL_LOCAL_H
#define INSTALL_LOCAL_H

#include "closure.h"

/*
 * local: a `file:` package or one of the workspace, read in place: never out
 * of its folder, no device, no socket; the latter through no link. Source:
 * DESIGN.md 5; D8; THREATS.md rows 1, 4, 16.
 */
MUST_CHECK bool local_read(struct closure *c, struct node *n, struct err *e);

#endif
