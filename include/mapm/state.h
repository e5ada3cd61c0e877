#ifndef MAPM_STATE_H
#define MAPM_STATE_H

#include "base/hash.h"
#include "mapm/limits.h"

/*
 * state: mapm.db, what a user's mapm remembers: trust, runs, events, sessions,
 * workspaces, and the index of the store. Opened at its first use.
 *
 *     state_index.h    what names were resolved to: a cache
 *     state_trust.h    what the user accepted: none
 *     state_runs.h     the history of runs
 *     state_events.h   what happened in the library
 *
 * A damaged file is set aside and an empty one takes its place: state_lost()
 * says so. Source: DESIGN.md 4; THREATS.md rows 24 to 28.
 */

struct state;

/* `home_fd` is the open folder `home`, which holds mapm.db; it is borrowed. */
struct state *state_open(struct str home, int home_fd);
void state_close(struct state *s);

/* Limits the wait for other writers of mapm.db; STATE_PATIENCE_MS at first.
 * After a signal the wait is minimal. */
#define STATE_PATIENCE_MS 10000
void state_set_patience(struct state *s, unsigned ms);

/* Opens mapm.db, if it is not open. */
MUST_CHECK bool state_check(struct state *s, struct err *e);

/* Another process may have written: its rows count from now on. */
void state_refresh(struct state *s);

/* Many questions to the index in one transaction, until it is false again. */
void state_set_batching(struct state *s, bool batching);

/* Many puts, one commit: without it each put is its own transaction. Without
 * the commit state_close forgets them. */
MUST_CHECK bool state_begin(struct state *s, struct err *e);
MUST_CHECK bool state_commit(struct state *s, struct err *e);

/* Opens the index now, instead of at the first question, which reports errors. */
void state_load(struct state *s);

/* False with the first error when a query of the index failed: then "not found"
 * is not reliable. */
bool state_works(const struct state *s, struct err *e);

/* Where a damaged mapm.db is, that this process found and set aside, "" = none:
 * trust and history are lost, which a person must be told. Borrowed. */
struct str state_lost(const struct state *s);

/*
 * Until state_end_glance queries read mapm.db and its log, if any, in place:
 * cheap, and nothing is written. False: it is open already, or cannot be read
 * so. If state_end_glance returns false another process wrote meanwhile, and
 * all results are invalid.
 */
bool state_begin_glance(struct state *s);
MUST_CHECK bool state_end_glance(struct state *s);

/* gc keeps packages that the lock of a registered workspace can reach. */
MUST_CHECK bool state_put_workspace(struct state *s, struct str path,
                                    struct err *e);
MUST_CHECK bool state_list_workspaces(struct state *s, struct arena *a,
                                      struct str **paths, size_t *count,
                                      struct err *e);
MUST_CHECK bool state_forget_workspace(struct state *s, struct str path,
                                       struct err *e);

/* The caller's own text for a session of that name. False, with `e` clear, when
 * there is none. SESSIONS_MAX are kept. */
bool state_find_session(struct state *s, struct str id, struct arena *a,
                        struct str *state, struct err *e);
/* ERR_LIMIT past SESSION_ID_MAX_CHARS and SESSION_MAX_BYTES. */
MUST_CHECK bool state_put_session(struct state *s, struct str id,
                                  struct str state, struct err *e);

/* One blob for each root (an absolute path) of a library: a cache, which may be
 * empty. LIBRARY_CACHE_MAX_ROOTS and _BYTES are kept. */
bool state_find_library(struct state *s, struct str root, struct arena *a,
                        struct str *bytes);
MUST_CHECK bool state_put_library(struct state *s, struct str root,
                                  struct str bytes, struct err *e);

#endif
