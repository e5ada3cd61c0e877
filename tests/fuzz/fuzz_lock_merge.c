/* A mapm.lock in conflict: each pair has a side to take, each package of a side
 * is in one pair, and the result is sorted, without needs and with one package
 * a place. [row 12, D13]. */
#include "mapm/lock_merge.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_pairs(const struct lock_merge *m)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct lock_pair *p = &m->pairs[i];

        if ((!p->ours && !p->theirs) || (!p->ours && p->side != LOCK_THEIRS) ||
            (!p->theirs && p->side != LOCK_OURS) ||
            (p->ours && p->theirs && p->ours->kind != p->theirs->kind))
            abort();
    }
}

static void check_result(const struct lock *lock)
{
    for (size_t i = 0; i < lock->count; i++) {
        const struct lock_entry *entry = &lock->entries[i];

        outcome_str(entry->place.p ? "package" : "", entry->name);

        if (entry->need_count ||
            lock_find(lock, entry->kind, entry->name) != entry)
            abort();
        for (size_t k = 0; k < i; k++)
            if (entry->place.n && str_eq(entry->place, lock->entries[k].place))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = str_make((const char *)data, size);
    struct lock_merge merge;
    struct lock lock;
    struct err e = {0};

    if (!lock_merge_read(text, "l", &a, &merge, &e)) {
        outcome_err(&e);
        if (e.code == ERR_FORMAT ? !e.hint[0] : e.code != ERR_LIMIT)
            abort();
        return 0;
    }
    check_pairs(&merge);
    for (int side = LOCK_OURS; side <= LOCK_THEIRS; side++) {
        for (size_t i = 0; i < merge.count; i++)
            if (merge.pairs[i].ours && merge.pairs[i].theirs)
                merge.pairs[i].side = (enum lock_side)side;
        lock_merge_take(&merge, &a, &lock);
        check_result(&lock);
    }
    return 0;
}
