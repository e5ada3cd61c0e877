#ifndef FETCH_WORKER_PARTS_H
#define FETCH_WORKER_PARTS_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"

/*
 * parts: what was fetched, in the incoming folder: the one that may be
 * written.
 *
 *     part-0, part-1 …   small files, one after the other
 *     <hash in hex>      one of PACK_OBJECT_MAX_BYTES or more
 *
 * The same content twice is written once. No file is larger than RLIMIT_FSIZE
 * allows: PART_MAX_BYTES, or what a file of a package may have.
 */

struct parts {
    struct arena arena;
    int dirfd; /* -1: none */
    int fd;    /* of `part`, that is being written; -1: nothing yet */
    uint64_t part;
    uint64_t written;   /* up to here, of all parts */
    struct buf pending; /* what follows, not written yet */
    struct map known;   /* 32 bytes of hash --> uint64_t offset */
};

void parts_init(struct parts *p, int dirfd);

/* `*offset` is for small ones. */
MUST_CHECK bool parts_put(struct parts *p, const struct hash *h,
                          struct str bytes, uint64_t *offset, struct err *e);
/* Writes buffered content to its file. */
MUST_CHECK bool parts_flush(struct parts *p, struct err *e);
/* In `a`. ERR_NOT_FOUND for a large one that mapm took meanwhile. */
MUST_CHECK bool parts_read(struct parts *p, const struct hash *h,
                           uint64_t offset, uint64_t size, struct arena *a,
                           struct str *bytes, struct err *e);

#endif
