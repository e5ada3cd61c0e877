#ifndef CLI_SKILL_SESSION_H
#define CLI_SKILL_SESSION_H

#include "skill.h"

/*
 * skill_session: the activations of --session ID so far (T21), stored in
 * mapm.db. It is locked from open to keep, so that two commands do not spend
 * the same budget twice. Without keep it is unchanged.
 */

struct skill_session {
    struct str id; /* of a fresh session when none was named */
    bool is_named; /* --session: only then there are budgets to keep */
    struct library_session state;
};

/*
 * Errors: ERR_USAGE for an invalid ID; ERR_DAMAGED; an unusable store, when a
 * session was named. Without one it may be NULL.
 */
MUST_CHECK bool skill_session_open(struct skill_job *job,
                                   struct skill_session *out, struct err *e);
bool skill_session_has(const struct skill_session *s, struct str name);
MUST_CHECK bool skill_session_keep(struct skill_job *job,
                                   const struct skill_session *s,
                                   struct err *e);

#endif
