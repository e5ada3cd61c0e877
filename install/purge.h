#ifndef INSTALL_PURGE_H
#define INSTALL_PURGE_H

#include "install_session.h"

/*
 * purge: the data folders of servers whose plugin a removal takes away
 * (remove --purge). Nothing else deletes them. Source: X37, X45.
 */

/* Sets plan.purged to the existing folders, after all layers are resolved. */
void purge_find(struct install_session *s);

/* Deletes them after the workspace has changed, so that they survive an earlier
 * kill. */
MUST_CHECK bool purge_apply(struct install_session *s, struct err *e);

#endif
