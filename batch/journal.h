#ifndef BATCH_JOURNAL_H
#define BATCH_JOURNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "batch_record.h"

/*
 * journal: the file of one shard, which the workers of one `mapm run --batch`
 * append to. The process that has it open, and its workers, hold its lock: another
 * one of the same shard waits, and fails.
 *
 *     DIR/3-of-8.journal
 *
 * A record is in the file before the call returns; on the disk after
 * batch_journal_sync.
 */

struct batch_journal_shared; /* between the processes */

struct batch_journal {
    int fd;
    const char *path; /* for messages */
    struct batch_journal_shared *shared;
};

/*
 * Opens or creates it in the folder `dir`, which is made; cuts off a record
 * that was not written whole. Errors: ERR_REFUSED for another digest, metaskill
 * or number of shards; ERR_BUSY; ERR_DAMAGED; ERR_IO.
 */
MUST_CHECK bool batch_journal_open(const char *dir,
                                   const struct batch_journal_head *head,
                                   struct arena *a, struct batch_journal *out,
                                   struct err *e);
void batch_journal_close(struct batch_journal *j);

/* Bytes of whole records. */
uint64_t batch_journal_size(const struct batch_journal *j);

/*
 * Calls `take` for each record from `*at` to `end`, and moves `*at` behind it.
 * What a record holds lives until `take` returns. Errors: ERR_DAMAGED, those of
 * `take`.
 */
struct batch_journal_each {
    bool (*take)(void *ctx, uint64_t at, const struct batch_journal_record *r,
                 struct err *e);
    void *ctx;
};
MUST_CHECK bool batch_journal_read(const struct batch_journal *j, uint64_t *at,
                                   uint64_t end,
                                   const struct batch_journal_each *each,
                                   struct err *e);
/* Where the first record behind the head is. */
uint64_t batch_journal_first(const struct batch_journal *j);

/* Callable from each process that was forked since batch_journal_open. */
MUST_CHECK bool batch_journal_append(struct batch_journal *j,
                                     const struct batch_journal_record *r,
                                     struct err *e);
MUST_CHECK bool batch_journal_sync(const struct batch_journal *j,
                                   struct err *e);

#endif
