#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

/* map: a hash table from text to pointers that keeps the insertion order, so
 * that the same input produces the same output. The hash function is keyed, so
 * that chosen keys cannot cause collisions. Entries cannot be removed. */

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

/* Initializes a map whose entries are allocated in `a`. Keys are
 * borrowed, not copied. */
void map_init(struct map *m, struct arena *a);

void *map_find(const struct map *m, struct str key); /* NULL if absent */
bool map_has(const struct map *m, struct str key);

/* Adds a key or replaces its value. Returns true if the key is new. */
bool map_put(struct map *m, struct str key, void *value);

/* Returns the entry of `key`, adding it with value NULL if absent. Borrowed
 * until the next key is added. */
struct map_entry *map_entry(struct map *m, struct str key);

#endif
