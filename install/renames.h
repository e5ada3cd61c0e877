#ifndef INSTALL_RENAMES_H
#define INSTALL_RENAMES_H

#include "install_session.h"

/* Fills plan.renames. */
void session_find_renames(struct install_session *s);
/* Applies request.renames to the manifest of a layer: its text and its
 * roots. */
MUST_CHECK bool session_rename(struct install_session *s, struct layer *l,
                               struct str *yaml, struct err *e);

#endif
