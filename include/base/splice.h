#ifndef BASE_SPLICE_H
#define BASE_SPLICE_H

#include "base/buf.h"

/*
 * splice: a text changed in place: every byte that no splice covers stays. The
 * editors of JSON, YAML and TOML find positions in a tree, add splices, and
 * parse the result again.
 */

struct splice {
    size_t from, to; /* bytes that go */
    struct str text; /* what takes their place; borrowed */
};

struct splices {
    struct arena *arena;
    struct splice *items;
    size_t count, capacity;
};

/* In the order of the text. Removals that touch become one. */
void splice_add(struct splices *s, size_t from, size_t to, struct str text);

/* Adds `text` with all splices made to `out`. */
void splice_apply(const struct splices *s, struct str text, struct buf *out);

#endif
