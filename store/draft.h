#ifndef STORE_DRAFT_H
#define STORE_DRAFT_H

#include "base/map.h"

#include "object_pack.h"

/*
 * draft: a pack while it is written. Its file appears when there is more than
 * fits in memory, or when the draft is finished.
 */

struct draft {
    struct arena arena;
    int dirfd; /* its file's folder, borrowed */
    int fd;    /* -1: there is no file yet */
    char name[40];
    struct buf pending; /* what follows the `written` bytes of the file */
    uint64_t written;
    struct map rows; /* 32 bytes of hash -> struct pack_row */
};

void draft_init(struct draft *d, int dirfd);
/* Closes and removes the file; twice is harmless. */
void draft_drop(struct draft *d);

/* Smaller than PACK_OBJECT_MAX_BYTES. Twice is harmless. */
MUST_CHECK bool draft_add(struct draft *d, const struct hash *h,
                          struct str content, struct err *e);
/* NULL when it is not there, or was forgotten. */
const struct pack_row *draft_find(const struct draft *d, const struct hash *h);
void draft_forget(struct draft *d, const struct hash *h);
/* row->size bytes. */
MUST_CHECK bool draft_read(const struct draft *d, const struct pack_row *row,
                           char *out, struct err *e);

/* Those not forgotten, in order of arrival; in `a`. */
size_t draft_count(const struct draft *d);
struct pack_row *draft_rows(const struct draft *d, struct arena *a,
                            size_t *count);

/* Writes what is missing; `rows` are its draft_rows, which it forgets. `*index` (rows and
 * end) in `a`. The file is whole then, but still has its draft's name. */
MUST_CHECK bool draft_finish(struct draft *d, struct pack_row *rows,
                             size_t count, struct arena *a, struct str *index,
                             struct err *e);

/* Exactly `n` bytes at `offset`: ERR_DAMAGED when the file is shorter. */
MUST_CHECK bool pread_all(int fd, char *out, size_t n, uint64_t offset,
                          struct err *e);

#endif
