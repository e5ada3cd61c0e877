#ifndef INSTALL_RENAMES_H
#define INSTALL_RENAMES_H

#include "install_session.h"

/* Fills in `renames` of the plan. */
void session_find_renames(struct install_session *s);
/* The manifest of a layer as request.renames changes it: its text, and what the
 * layer says of its roots. */
MUST_CHECK bool session_rename(struct install_session *s, struct layer *l,
                               struct str *yaml, struct err *e);

#endif
