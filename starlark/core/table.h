#ifndef STARLARK_TABLE_H
#define STARLARK_TABLE_H

#include "ops.h"

/*
 * table: what the VM does with dicts and sets without a call: the commonest
 * lookups, and the hash that all tables share.
 */

/* A number and the interpreter's seed as 32 bits that look like noise: keys that
 * differ in a few bits, wherever these are, do not meet in an index. */
static inline uint32_t sl_mix(uint64_t seed, uint64_t n)
{
    unsigned __int128 m = (unsigned __int128)(n ^ seed) * 0x9e3779b97f4a7c15u;
    uint64_t folded = (uint64_t)m ^ (uint64_t)(m >> 64);

    return (uint32_t)folded ^ (uint32_t)(folded >> 32);
}

/* Whether two texts of the same hash are equal. If not, it costs nothing: which
 * ones meet depends on the seed, and steps do not. */
static inline bool sl_same_text(struct star *s, value a, value b)
{
    if (!sl_text_equal(a, b))
        return false;
    sl_owe(s, sl_string(a)->length / 64);
    return true;
}

/* Index slots hold the number of an entry plus one; 0: never used. The slot of a
 * removed entry stays, so that searches go on behind it. */
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

/* The entry of a string, or NULL. Cannot fail: for INDEX_K and its like. */
static inline struct sl_entry *sl_table_find_string(struct star *s, value table,
                                                    value key)
{
    uint32_t hash = sl_object(key)->hash;

    return sl_table_find_text(s, sl_table(table), key,
                              hash ? hash : sl_text_hash(s, key));
}

/* The entry of an int of one word, or NULL when it is not there or only
 * sl_table_find can tell, because a float has the same hash. */
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

/* Closes the holes that removed entries left; not while a loop runs over it. */
void sl_table_pack(value table);

/* Room for `capacity` entries without growing again. */
bool sl_table_reserve(struct star *s, value table, uint32_t capacity);

/* Whether the key of `e`, an entry of another table, is in this one. */
bool sl_table_has(struct star *s, value table, const struct sl_entry *e,
                  bool *has);

/* Adds a key that is not in the table, when its hash is known. */
bool sl_table_add(struct star *s, value table, value key, uint32_t hash,
                  value v);

/* Changes a dict or set by the keys of another one, as OP_OR (a dict takes the
 * values, too), OP_AND, OP_SUB or OP_XOR say. */
bool sl_table_combine(struct star *s, enum sl_operator op, value table,
                      value other);

#endif
