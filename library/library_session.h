#ifndef LIBRARY_SESSION_H
#define LIBRARY_SESSION_H

#include "mapm/library.h"

/* Returns the activation of this name and version in the session, or NULL. With
 * `skill_version` NULL, returns the last one of the name. */
const struct library_activation *session_find(const struct library_session *s,
                                              struct str name,
                                              const char *skill_version);

/* Checks that another skill of `tokens` fits into the budget (T21, T22). */
bool session_check(const struct library_session *s, struct str name,
                   size_t tokens, struct err *e);

#endif
