#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

/*
 * map: from text to pointer, in insertion order, so the same input writes the
 * same bytes. Keyed hashing: hostile keys cannot make it slow. No removal.
 */

struct map_entry {
    struct str key;
    void *value;
    uint64_t hash;
};

struct map {
    struct arena *arena;
    struct map_entry *entries; /* in insertion order */
    size_t count, capacity;
    uint32_t *slots; /* entry index + 1 */
    size_t slot_count;
    uint64_t seed[2];
};

/* Keys and entries live in `a`; keys are borrowed, not copied. */
void map_init(struct map *m, struct arena *a);

void *map_find(const struct map *m, struct str key); /* NULL: none */
bool map_has(const struct map *m, struct str key);

/* Adds, or replaces the value. True when the key was new. */
bool map_put(struct map *m, struct str key, void *value);

/* The entry for `key`, added with a NULL value when it was not there. Borrowed
 * until the next key is added. */
struct map_entry *map_entry(struct map *m, struct str key);

#endif
