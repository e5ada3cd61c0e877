#ifndef BATCH_JOURNAL_H
#define BATCH_JOURNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "batch_record.h"

/*
 * journal: the file of one shard, which the workers of one `mapm run --batch`
 * append to. The process that opened it and its workers hold its lock: another
 * process of the same shard waits for it, then fails.
 *
 *     DIR/3-of-8.journal
 *
 * A record is in the file when batch_journal_append() returns, and on disk after
 * batch_journal_sync().
 */

struct batch_journal_shared; /* shared by the processes */

struct batch_journal {
    int fd;
    const char *path; /* for messages */
    struct batch_journal_shared *shared;
};

/* Opens or creates the journal in the folder `dir`, which is created if
 * missing. Truncates an incomplete record. Errors: ERR_REFUSED for another
 * digest, metaskill or number of shards; ERR_BUSY; ERR_DAMAGED; ERR_IO. */
MUST_CHECK bool batch_journal_open(const char *dir,
                                   const struct batch_journal_head *head,
                                   struct arena *a, struct batch_journal *out,
                                   struct err *e);
void batch_journal_close(struct batch_journal *j);

/* Returns the size of the complete records in bytes. */
uint64_t batch_journal_size(const struct batch_journal *j);

/* Calls `take` for each record from `*at` to `end` and sets `*at` to the offset
 * after it. The content of a record is valid until `take` returns. Errors:
 * ERR_DAMAGED, and those of `take`. */
struct batch_journal_each {
    bool (*take)(void *ctx, uint64_t at, const struct batch_journal_record *r,
                 struct err *e);
    void *ctx;
};
MUST_CHECK bool batch_journal_read(const struct batch_journal *j, uint64_t *at,
                                   uint64_t end,
                                   const struct batch_journal_each *each,
                                   struct err *e);
/* Returns the offset of the first record after the head. */
uint64_t batch_journal_first(const struct batch_journal *j);

/* Appends a record. May be called in each process forked after
 * batch_journal_open(). */
MUST_CHECK bool batch_journal_append(struct batch_journal *j,
                                     const struct batch_journal_record *r,
                                     struct err *e);
MUST_CHECK bool batch_journal_sync(const struct batch_journal *j,
                                   struct err *e);

#endif
