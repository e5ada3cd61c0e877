#ifndef INSTALL_INDEX_H
#define INSTALL_INDEX_H

#include "mapm/well_known.h"

#include "closure.h"

/*
 * index: skills that a host publishes in an index of .well-known/agent-skills.
 *
 *     the index ──▶ its entry ──▶ the artifact, whose hash the entry has
 *     the lock  ───────────────▶ the artifact, whose hash the lock has: of the
 *                                store, a bundle, the team's stores, or its host
 *                                     │
 *              mapm-fetch unpacks ◀───┘  then it is like any other package
 *
 * No host is asked that the user has not named or confirmed
 * (authorize_index_host). Source: X42; W1 to W10; rows 44, 45.
 */

/* Lists the skills of an index, which is read once, in the arena of the
 * closure. */
MUST_CHECK bool index_list(struct closure *c, struct node *n, struct err *e);
/* Finds the skill that `o` names in its index. Errors: ERR_NOT_FOUND. */
MUST_CHECK bool index_find(struct closure *c, const struct origin *o,
                           const struct well_known_skill **out, struct err *e);
/* Returns NULL if the index was not read or has no such skill. */
const struct well_known_skill *
index_offer(const struct closure *c, const struct node *n, struct str name);

/* Fetches a skill as the index describes it now. If that equals `moving` (may
 * be NULL), sets `*stays` and fetches nothing. */
MUST_CHECK bool index_fetch(struct closure *c, struct node *n,
                            const struct lock_entry *moving, bool *stays,
                            struct err *e);
/* As the lock has it, without the index: its artifact from the store of this
 * machine, a bundle or the team's stores, else from its host. */
MUST_CHECK bool index_fetch_locked(struct closure *c, struct node *n,
                                   struct err *e);
/* What a bundle or the stores said to FETCH_ARTIFACT. */
MUST_CHECK bool index_take_event(struct closure *c, struct node *n,
                                 const struct fetch_event *event,
                                 struct err *e);

/* Returns the hash of the artifact of the skill. */
struct str index_artifact(const struct node *n);
/* Where it was, or is to be, downloaded from. */
struct str index_url(const struct node *n);

#endif
