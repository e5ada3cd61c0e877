#ifndef STORE_DRAFT_H
#define STORE_DRAFT_H

#include "base/map.h"

#include "object_pack.h"

/* draft: a pack that is being written. Its file is created when the contents no
 * longer fit in memory, or when the draft is finished. */

struct draft {
    struct arena arena;
    int dirfd; /* folder of the file, borrowed */
    int fd;    /* -1: there is no file yet */
    char name[40];
    struct buf pending; /* contents after the first `written` bytes, not in
                         * the file yet */
    uint64_t written;
    struct map rows; /* 32 bytes of hash -> struct pack_row */
};

void draft_init(struct draft *d, int dirfd);
/* Closes and removes the file. May be called twice. */
void draft_drop(struct draft *d);

/* Adds an object of less than PACK_OBJECT_MAX_BYTES. Adding it again has no
 * effect. */
MUST_CHECK bool draft_add(struct draft *d, const struct hash *h,
                          struct str content, struct err *e);
/* Returns NULL if the object is missing or was forgotten. */
const struct pack_row *draft_find(const struct draft *d, const struct hash *h);
void draft_forget(struct draft *d, const struct hash *h);
/* Reads row->size bytes. */
MUST_CHECK bool draft_read(const struct draft *d, const struct pack_row *row,
                           char *out, struct err *e);

/* Returns the rows that were not forgotten, in order of addition, allocated in
 * `a`. */
size_t draft_count(const struct draft *d);
struct pack_row *draft_rows(const struct draft *d, struct arena *a,
                            size_t *count);

/* Writes the rest of the file, with `rows`, the result of draft_rows(), and
 * forgets these rows. `*index` receives rows and end, allocated in `a`. The
 * file is then complete but keeps its temporary name. */
MUST_CHECK bool draft_finish(struct draft *d, struct pack_row *rows,
                             size_t count, struct arena *a, struct str *index,
                             struct err *e);

/* Reads exactly `n` bytes at `offset`. ERR_DAMAGED if the file is shorter. */
MUST_CHECK bool pread_all(int fd, char *out, size_t n, uint64_t offset,
                          struct err *e);

#endif
