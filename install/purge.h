#ifndef INSTALL_PURGE_H
#define INSTALL_PURGE_H

#include "install_session.h"

/*
 * purge: the data folders of servers whose plugin a removal takes away
 * (remove --purge). Nothing else deletes them. Source: X37, X45.
 */

/* Those that are there, as plan.purged: after the resolution of all layers. */
void purge_find(struct install_session *s);

/* Deletes them, when the workspace has changed: killed before, they stay. */
MUST_CHECK bool purge_apply(struct install_session *s, struct err *e);

#endif
