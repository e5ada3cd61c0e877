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
    PACK_NEWER,  /* another version's: to be left alone */
    PACK_UNREAD, /* the operating system said no: the next time, perhaps */
    PACK_BAD,
};

/* From the last PACK_END_BYTES of a file of `size` bytes: how many bytes
 * before them are rows. */
enum pack_verdict pack_parse_end(struct str end, uint64_t size,
                                 size_t *row_bytes);

/* `data` is the length of the contents. False for rows that are out of order,
 * twice there or out of bounds. */
bool pack_parse_rows(struct str rows, uint64_t data, struct pack_index *out);

/* SIZE_MAX when it is not there. */
size_t pack_find(const struct pack_index *p, const struct hash *h);
struct pack_row pack_row(const struct pack_index *p, size_t at);

/* Rows and end. Sorts `rows`, of which no two have one hash. */
void pack_format(struct pack_row *rows, size_t count, struct buf *out);

#endif
