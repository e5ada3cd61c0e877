#ifndef MAPM_STATE_H
#define MAPM_STATE_H

#include "base/hash.h"
#include "mapm/limits.h"

/*
 * state: mapm.db, the database of a user: trust, runs, events, sessions,
 * workspaces, and the index of the store. Opened at its first use.
 *
 *     state_index.h    resolved names: a cache
 *     state_trust.h    trust decisions of the user: not a cache
 *     state_runs.h     the history of runs
 *     state_events.h   events of the library
 *
 * A damaged file is set aside and replaced by an empty one, which
 * state_lost() reports.
 *
 * Source: DESIGN.md 4; THREATS.md rows 24 to 28.
 */

struct state;

/* Creates the state; `home_fd` is the open folder `home` with
 * mapm.db, borrowed. */
struct state *state_open(struct str home, int home_fd);
void state_close(struct state *s);

/* Limits the wait for other writers of mapm.db, initially to STATE_PATIENCE_MS.
 * After a signal the wait is minimal. */
#define STATE_PATIENCE_MS 10000
void state_set_patience(struct state *s, unsigned ms);

/* Opens mapm.db, if it is not open. */
MUST_CHECK bool state_check(struct state *s, struct err *e);

/* Makes rows visible that another process may have written. */
void state_refresh(struct state *s);

/* Combines queries of the index into one transaction, until it is
 * called with false. */
void state_set_batching(struct state *s, bool batching);

/* Combine several writes into one transaction; otherwise each write is its own.
 * Without the commit, state_close discards them. */
MUST_CHECK bool state_begin(struct state *s, struct err *e);
MUST_CHECK bool state_commit(struct state *s, struct err *e);

/* Opens the index now instead of at the first query. Errors are
 * reported by that query. */
void state_load(struct state *s);

/* Returns false with the first error if a query of the index failed: then "not
 * found" is not reliable. */
bool state_works(const struct state *s, struct err *e);

/* Returns the path of a damaged mapm.db that this process set aside, or "".
 * Trust and history are lost then, and the user must be told. Borrowed. */
struct str state_lost(const struct state *s);

/*
 * Until state_end_glance, queries read mapm.db and its log in place, which is
 * fast and writes nothing. Returns false if it is open already, or cannot be
 * read this way. If state_end_glance returns false, another process wrote in
 * the meantime, and all results are invalid.
 */
bool state_begin_glance(struct state *s);
MUST_CHECK bool state_end_glance(struct state *s);

/* Register workspaces: gc keeps the packages in their locks. */
MUST_CHECK bool state_put_workspace(struct state *s, struct str path,
                                    struct err *e);
MUST_CHECK bool state_list_workspaces(struct state *s, struct arena *a,
                                      struct str **paths, size_t *count,
                                      struct err *e);
MUST_CHECK bool state_forget_workspace(struct state *s, struct str path,
                                       struct err *e);

/* Finds the text that a caller stored for a session. Returns false with `e`
 * clear if there is none. SESSIONS_MAX sessions are kept. */
bool state_find_session(struct state *s, struct str id, struct arena *a,
                        struct str *state, struct err *e);
/* Stores the text of a session. Errors: ERR_LIMIT for SESSION_ID_MAX_CHARS and
 * SESSION_MAX_BYTES. */
MUST_CHECK bool state_put_session(struct state *s, struct str id,
                                  struct str state, struct err *e);

/* A cache with one blob for each root (an absolute path) of a library.
 * LIBRARY_CACHE_MAX_ROOTS and _BYTES are kept. */
bool state_find_library(struct state *s, struct str root, struct arena *a,
                        struct str *bytes);
MUST_CHECK bool state_put_library(struct state *s, struct str root,
                                  struct str bytes, struct err *e);

#endif
