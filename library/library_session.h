#ifndef LIBRARY_SESSION_H
#define LIBRARY_SESSION_H

#include "mapm/library.h"

/* What a session holds already of that name, and of that version; NULL: nothing.
 * `skill_version` NULL: the last one of the name. */
const struct library_activation *session_find(const struct library_session *s,
                                              struct str name,
                                              const char *skill_version);

/* T21, T22: whether one more of `tokens` fits. */
bool session_check(const struct library_session *s, struct str name,
                   size_t tokens, struct err *e);

#endif
