#ifndef BASE_SPLICE_H
#define BASE_SPLICE_H

#include "base/buf.h"

/* splice: replaces parts of a text and keeps all other bytes. The editors
 * of JSON, YAML and TOML find positions in a tree, add splices, and parse
 * the result again. */

struct splice {
    size_t from, to; /* byte range that is removed */
    struct str text; /* replacement, borrowed */
};

struct splices {
    struct arena *arena;
    struct splice *items;
    size_t count, capacity;
};

/* Adds a splice; splices must be added in the order of the text. Adjacent
 * removals are merged. */
void splice_add(struct splices *s, size_t from, size_t to, struct str text);

/* Appends `text` with all splices applied to `out`. */
void splice_apply(const struct splices *s, struct str text, struct buf *out);

#endif
