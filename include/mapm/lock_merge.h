#ifndef MAPM_LOCK_MERGE_H
#define MAPM_LOCK_MERGE_H

#include "mapm/lock.h"

/*
 * lock_merge: a mapm.lock that git could not merge.
 *
 *     text with conflict markers
 *         --> lock_merge_read()   the entries of both sides, in pairs
 *         --> the caller          decides those that both sides changed
 *         --> lock_merge_take()   one lock
 *
 * The sides are read from the markers alone, so it does not matter which
 * program merged. A base section (merge.conflictStyle diff3) says what a side
 * changed; without one, different entries count as changed on both.
 *
 * Source: D13.
 */

enum lock_side { LOCK_OURS, LOCK_THEIRS, LOCK_BOTH_CHANGED };

/* What both sides say about one package; at least one of the two is there. */
struct lock_pair {
    const struct lock_entry *ours, *theirs;
    enum lock_side side; /* the one to take; BOTH_CHANGED: not decided */
};

struct lock_merge {
    struct lock_pair *pairs;
    size_t count;
};

/* Whether a line of the text is a conflict marker of git. */
bool lock_has_conflict(struct str text);

/* Whether git may have joined two edits to it without a conflict, where
 * lock_parse refuses it: its entries are sound, each by itself. */
bool lock_is_joined(struct str text);

/*
 * Of a text without markers the first and the last block of one name are the
 * sides; equal blocks are one. An entry that one side lacks is taken from the other: whether anything needs
 * it is the plan's to find out. What the entries need is left out, for the same
 * reason. Ownership: in `a`; entries borrow `text`. Errors: ERR_FORMAT, as
 * lock_parse; ERR_LIMIT.
 */
MUST_CHECK bool lock_merge_read(struct str text, const char *name,
                                struct arena *a, struct lock_merge *out,
                                struct err *e);

/*
 * The lock of the decided pairs (undecided ones: ours), without needs. Of two
 * packages in one place the second has none (`place` is "").
 */
void lock_merge_take(const struct lock_merge *merge, struct arena *a,
                     struct lock *out);

#endif
