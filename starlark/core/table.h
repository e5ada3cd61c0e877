#ifndef STARLARK_TABLE_H
#define STARLARK_TABLE_H

#include "ops.h"

/*
 * Table operations that the VM performs inline: the most common lookups, and
 * the hash function of all tables.
 */

/* Mixes a number with the interpreter's seed into 32 bits, so that keys that
 * differ in a few bits anywhere do not collide systematically. */
static inline uint32_t sl_mix(uint64_t seed, uint64_t n)
{
    unsigned __int128 m = (unsigned __int128)(n ^ seed) * 0x9e3779b97f4a7c15u;
    uint64_t folded = (uint64_t)m ^ (uint64_t)(m >> 64);

    return (uint32_t)folded ^ (uint32_t)(folded >> 32);
}

/* Compares two texts of the same hash. A mismatch is not charged: collisions
 * depend on the seed, and step counts must not. */
static inline bool sl_same_text(struct star *s, value a, value b)
{
    if (!sl_text_equal(a, b))
        return false;
    sl_owe(s, sl_string(a)->length / 64);
    return true;
}

/* An index slot holds the number of an entry plus one, or 0 if never used. The
 * slot of a removed entry stays occupied, so that probing continues past it. */
static inline struct sl_entry *sl_table_find_text(struct star *s,
                                                  const struct sl_table *t,
                                                  value key, uint32_t hash)
{
    if (!t->index) {
        for (uint32_t i = 0; i < t->used; i++) {
            struct sl_entry *e = &t->entries[i];
            if (e->key == key || (e->hash == hash && sl_is(e->key, T_STRING) &&
                                  sl_same_text(s, e->key, key)))
                return e;
        }
        return NULL;
    }
    for (uint32_t i = hash & t->index_mask; t->index[i];
         i = (i + 1) & t->index_mask) {
        struct sl_entry *e = &t->entries[t->index[i] - 1];
        if (e->key == key || (e->hash == hash && sl_is(e->key, T_STRING) &&
                              sl_same_text(s, e->key, key)))
            return e;
    }
    return NULL;
}

/* Returns the entry of a string key, or NULL. Cannot fail, for INDEX_K and
 * similar instructions. */
static inline struct sl_entry *sl_table_find_string(struct star *s, value table,
                                                    value key)
{
    uint32_t hash = sl_object(key)->hash;

    return sl_table_find_text(s, sl_table(table), key,
                              hash ? hash : sl_text_hash(s, key));
}

/* Returns the entry of an int key of one word. NULL if it is missing, or if
 * only sl_table_find can decide because a float has the same hash. */
static inline struct sl_entry *sl_table_find_word(struct star *s, value table,
                                                  value key)
{
    const struct sl_table *t = sl_table(table);

    if (!t->index) {
        for (uint32_t i = 0; i < t->used; i++)
            if (t->entries[i].key == key)
                return &t->entries[i];
        return NULL;
    }
    for (uint32_t i = sl_mix(s->hash_seed, key) & t->index_mask; t->index[i];
         i = (i + 1) & t->index_mask) {
        struct sl_entry *e = &t->entries[t->index[i] - 1];
        if (e->key == key)
            return e;
    }
    return NULL;
}

/* Closes the holes of removed entries. Must not be called while a loop runs
 * over the table. */
void sl_table_pack(value table);

/* Reserves room for `capacity` entries. */
bool sl_table_reserve(struct star *s, value table, uint32_t capacity);

/* Returns whether this table has the key of `e`, an entry of another table. */
bool sl_table_has(struct star *s, value table, const struct sl_entry *e,
                  bool *has);

/* Adds a key that is not in the table, with a known hash. */
bool sl_table_add(struct star *s, value table, value key, uint32_t hash,
                  value v);

/* Changes a dict or set by the keys of another one, for OP_OR (a dict also
 * takes the values), OP_AND, OP_SUB or OP_XOR. */
bool sl_table_combine(struct star *s, enum sl_operator op, value table,
                      value other);

#endif
