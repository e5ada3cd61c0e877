#ifndef MAPM_SKILL_SESSION_H
#define MAPM_SKILL_SESSION_H

#include "base/context.h"
#include "mapm/library.h"
#include "mapm/store.h"

/*
 * skill_session: loads by hand, and the activations of a named session so far
 * (T21), stored in mapm.db. That is locked from open to keep, so that two commands
 * do not spend the same budget twice. Without keep it is unchanged.
 *
 *     open --> skill_session_load() --> texts; events and session kept
 *        `---> skill_session_preload() for the bodies of an index (T26)
 */

struct skill_session {
    struct context *cx;              /* set by the caller, as the next four */
    struct store *store;             /* NULL: it cannot be used, */
    const struct err *store_problem; /* … and why not */
    bool metis;                      /* T21: budgets of its own */
    struct str id; /* p NULL: none is named; a fresh one is given then */
    bool is_named; /* only then there are budgets to keep */
    struct library_session state;
};

/*
 * Errors: ERR_USAGE for an invalid ID; ERR_DAMAGED; an unusable store, when a
 * session was named.
 */
MUST_CHECK bool skill_session_open(struct skill_session *s, struct err *e);

struct skill_loads {
    struct str *names;
    struct library_loaded *items;
    size_t count, capacity;
    bool has_arguments; /* "/name" was how it was named */
    struct str arguments;
};

/*
 * The bodies that `words` name: each by name, by "$name" in a text (K18), or the
 * first as "/name" with the rest as its arguments (L12). All or none of them; on
 * failure the session keeps its former state. The events of a named session
 * belong to its budget, those of another are no reason to fail.
 *
 * Ownership: cx->arena. Errors: ERR_NOT_FOUND with near names; ERR_LIMIT.
 */
MUST_CHECK bool skill_session_load(struct skill_session *s,
                                   struct library *library,
                                   struct str_list words, enum library_as as,
                                   struct skill_loads *out, struct err *e);

/* One event for each body of `block` that is new to the session. */
MUST_CHECK bool skill_session_preload(struct skill_session *s,
                                      struct library *library,
                                      const struct library_block *block,
                                      struct err *e);

#endif
