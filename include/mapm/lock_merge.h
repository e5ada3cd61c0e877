#ifndef MAPM_LOCK_MERGE_H
#define MAPM_LOCK_MERGE_H

#include "mapm/lock.h"

/*
 * lock_merge: resolves conflicts in a mapm.lock that git could not merge.
 *
 *     text with conflict markers
 *         --> lock_merge_read()   the entries of both sides, in pairs
 *         --> the caller          decides entries that both sides changed
 *         --> lock_merge_take()   one lock
 *
 * The sides are parsed from the conflict markers, so any merge program will
 * do. With a base section (merge.conflictStyle diff3) the side that changed
 * an entry is known; without one, entries that differ are treated as
 * changed by both sides.
 *
 * Source: D13.
 */

enum lock_side { LOCK_OURS, LOCK_THEIRS, LOCK_BOTH_CHANGED };

/* The entries of both sides for one package; at least one is not NULL. */
struct lock_pair {
    const struct lock_entry *ours, *theirs;
    enum lock_side side; /* side to use; BOTH_CHANGED: undecided */
};

struct lock_merge {
    struct lock_pair *pairs;
    size_t count;
};

/* Returns whether a line of the text is a conflict marker of git. */
bool lock_has_conflict(struct str text);

/* Returns whether a text that lock_parse rejects consists of entries that are
 * valid one by one: git may have merged two edits without a conflict. */
bool lock_is_joined(struct str text);

/*
 * Parses both sides. In a text without markers, the first and the last block
 * with the same name are the two sides, unless they are equal. An entry that
 * only one side has is used; the plan determines whether it is needed. `needs`
 * of the entries are omitted for the same reason.
 * Ownership: allocated in `a`; entries borrow from `text`.
 * Errors: ERR_FORMAT, as lock_parse; ERR_LIMIT.
 */
MUST_CHECK bool lock_merge_read(struct str text, const char *name,
                                struct arena *a, struct lock_merge *out,
                                struct err *e);

/* Makes the lock from the selected sides (ours for undecided pairs),
 * without `needs`. If two packages have the same place, the `place` of
 * the second is "". */
void lock_merge_take(const struct lock_merge *merge, struct arena *a,
                     struct lock *out);

#endif
