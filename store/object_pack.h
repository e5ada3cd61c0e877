#ifndef STORE_OBJECT_PACK_H
#define STORE_OBJECT_PACK_H

#include "base/buf.h"
#include "base/hash.h"
#include "mapm/limits.h"

/*
 * pack: many small objects in one file.
 *
 *     contents, one after the other
 *     rows      32 bytes of hash, 8 of offset, 4 of size; by hash, ascending
 *     end       8 bytes: how many rows; 8 bytes: "mapmpak1"
 *
 * Numbers are big-endian. A row promises nothing: what is read is hashed, so
 * rows are checked for order and bounds alone. The name of the file is the
 * hash of the rows.
 *
 * Source: DESIGN.md 4.
 */

#define PACK_ROW_BYTES 44
#define PACK_END_BYTES 16

struct pack_row {
    struct hash hash;
    uint64_t offset;
    uint32_t size;
};

struct pack_index {
    struct str rows; /* borrowed */
    size_t count;
};

enum pack_verdict {
    PACK_GOOD,
    PACK_NEWER,  /* written by a newer version: do not change */
    PACK_UNREAD, /* a system call failed, which may be temporary */
    PACK_BAD,
};

/* Parses the last PACK_END_BYTES of a file of `size` bytes and returns the
 * number of bytes of the rows before them. */
enum pack_verdict pack_parse_end(struct str end, uint64_t size,
                                 size_t *row_bytes);

/* Parses the rows of a pack with `data` bytes of contents. Returns false if
 * rows are out of order, duplicate or out of bounds. */
bool pack_parse_rows(struct str rows, uint64_t data, struct pack_index *out);

/* Returns SIZE_MAX if there is no such row. */
size_t pack_find(const struct pack_index *p, const struct hash *h);
struct pack_row pack_row(const struct pack_index *p, size_t at);

/* Appends rows and end. Sorts `rows`, whose hashes must differ. */
void pack_format(struct pack_row *rows, size_t count, struct buf *out);

#endif
