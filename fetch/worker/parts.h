#ifndef FETCH_WORKER_PARTS_H
#define FETCH_WORKER_PARTS_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"

/*
 * parts: writes fetched files to the incoming folder, the only folder that
 * mapm-fetch may write to.
 *
 *     part-0, part-1 …   small files, concatenated
 *     <hash in hex>      one file of PACK_OBJECT_MAX_BYTES or more
 *
 * Equal content is written once. No file exceeds RLIMIT_FSIZE, which is
 * PART_MAX_BYTES or the limit on a file of a package.
 */

struct parts {
    struct arena arena;
    int dirfd; /* -1 if none */
    int fd;    /* the open file of `part`; -1 before the first write */
    uint64_t part;
    uint64_t written;   /* bytes written, over all parts */
    struct buf pending; /* buffered bytes that follow */
    struct map known;   /* 32 bytes of hash -> uint64_t offset */
};

void parts_init(struct parts *p, int dirfd);

/* Adds a file. `*offset` is its position in the parts, for small files only. */
MUST_CHECK bool parts_put(struct parts *p, const struct hash *h,
                          struct str bytes, uint64_t *offset, struct err *e);
/* Writes buffered content to its file. */
MUST_CHECK bool parts_flush(struct parts *p, struct err *e);
/* Reads a file, allocated in `a`. Errors: ERR_NOT_FOUND if mapm has already
 * moved a large one. */
MUST_CHECK bool parts_read(struct parts *p, const struct hash *h,
                           uint64_t offset, uint64_t size, struct arena *a,
                           struct str *bytes, struct err *e);

#endif
