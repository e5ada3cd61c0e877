#include "table.h"

/*
 * Entries are stored in insertion order. Tables with more than SL_TABLE_SMALL
 * entries have an index of entry numbers, at most two thirds full. A removed
 * entry leaves a hole; holes are closed when the entry array is full, or when a
 * walk begins over a table that is mostly holes. `first` skips holes at the
 * front, so that repeatedly taking the first entry has constant cost.
 */

#define TABLE_MAX_ENTRIES 0x40000000u
#define INDEX_PIECE       SL_RARE(4096, 4)

static bool hash_key(struct star *s, value key, uint32_t *hash)
{
    if (sl_is_int_word(key)) {
        *hash = sl_mix(s->hash_seed, key);
        return true;
    }
    if (sl_is(key, T_STRING) && sl_object(key)->hash) {
        *hash = sl_object(key)->hash;
        return true;
    }
    return sl_hash(s, key, hash);
}

/* Returns 1 if two keys of the same hash are equal, 0 if not, -1 on failure. */
static int same_key(struct star *s, value a, value b)
{
    uint64_t before;
    bool equal;

    if (a == b)
        return 1;
    if (!a || (sl_is_int_word(a) && sl_is_int_word(b)))
        return 0;
    before = star_usage(s).steps;
    if (!sl_equal(s, a, b, &equal))
        return -1;
    /* Do not charge for mismatches: collisions depend on the seed, and step
     * counts must not. */
    if (!equal)
        s->fuel += (int64_t)(star_usage(s).steps - before);
    return equal;
}

/* Sets *at to the index of the entry, or to t->used if the key is missing. */
static bool find(struct star *s, const struct sl_table *t, value key,
                 uint32_t hash, uint32_t *at)
{
    if (sl_is(key, T_STRING)) {
        const struct sl_entry *e = sl_table_find_text(s, t, key, hash);
        *at = e ? (uint32_t)(e - t->entries) : t->used;
        return true;
    }
    uint32_t slot = hash & t->index_mask;
    for (uint32_t i = t->first;; i++) {
        uint32_t number = i;
        if (t->index) {
            number = t->index[slot] - 1; /* an unused slot gives UINT32_MAX */
            slot = (slot + 1) & t->index_mask;
        }
        if (number >= t->used)
            break;
        const struct sl_entry *e = &t->entries[number];
        if (e->hash != hash)
            continue;
        int same = same_key(s, e->key, key);
        if (same) {
            *at = number;
            return same > 0;
        }
    }
    *at = t->used;
    return true;
}

static void index_put(struct sl_table *t, uint32_t number)
{
    uint32_t slot = t->entries[number].hash & t->index_mask;

    while (t->index[slot])
        slot = (slot + 1) & t->index_mask;
    t->index[slot] = number + 1;
}

/* Clears the index. If few entries are in a large index, they are removed one
 * by one, so that refilling a table that once was large costs in proportion to
 * its entries. */
static void index_clear(struct sl_table *t)
{
    if (t->used > t->index_mask / 8) {
        memset(t->index, 0, ((size_t)t->index_mask + 1) * sizeof *t->index);
        return;
    }
    for (uint32_t i = 0; i < t->used; i++) {
        uint32_t slot = t->entries[i].hash & t->index_mask;
        while (t->index[slot] != i + 1)
            slot = (slot + 1) & t->index_mask;
        t->index[slot] = 0;
    }
}

static void close_holes(struct sl_table *t)
{
    uint32_t to = 0;

    if (t->index)
        index_clear(t);
    for (uint32_t i = t->first; i < t->used; i++)
        if (t->entries[i].key)
            t->entries[to++] = t->entries[i];
    t->used = to;
    t->first = 0;
}

/* Compacts the entries of a small table. */
static void pack(struct sl_table *t)
{
    close_holes(t);
    for (uint32_t i = 0; t->index && i < t->used; i++)
        index_put(t, i);
}

void sl_table_pack(value table)
{
    if (sl_table(table)->used > sl_table(table)->count)
        pack(sl_table(table));
}

static void index_free(struct star *s, struct sl_table *t)
{
    if (t->index)
        sl_storage_free(s, t->index,
                        ((size_t)t->index_mask + 1) * sizeof *t->index);
    t->index = NULL;
    t->index_mask = 0;
}

/* Fills the index, with a cache miss per entry. If interrupted, the table has
 * no index until it grows, and is searched linearly. */
static bool index_fill(struct star *s, struct sl_table *t)
{
    for (uint32_t i = 0; t->index && i < t->used; i++) {
        if (i % INDEX_PIECE == INDEX_PIECE - 1 &&
            !sl_charge(s, INDEX_PIECE / 4)) {
            index_free(s, t);
            return false;
        }
        index_put(t, i);
    }
    sl_owe(s, t->used % INDEX_PIECE / 4);
    return true;
}

/* Returns the number of index slots for `capacity` entries: a power of two. */
static uint32_t slots_for(uint32_t capacity)
{
    uint32_t slots = 16;

    while (slots / 3 * 2 < capacity)
        slots *= 2;
    return slots;
}

static bool grow(struct star *s, struct sl_table *t, uint32_t capacity)
{
    uint32_t *index = NULL, slots = 0;

    if (capacity > TABLE_MAX_ENTRIES) {
        sl_fail_memory(s, (size_t)capacity * sizeof *t->entries);
        return false;
    }
    if (capacity > SL_TABLE_SMALL) {
        slots = slots_for(capacity);
        capacity = slots / 3 * 2;
        index = sl_storage(s, slots * sizeof *index);
        if (!index)
            return false;
    }
    struct sl_entry *entries =
        sl_storage_resize(s, t->entries, (size_t)t->capacity * sizeof *entries,
                          (size_t)capacity * sizeof *entries);
    if (!entries) {
        if (index)
            sl_storage_free(s, index, slots * sizeof *index);
        return false;
    }
    t->entries = entries;
    t->capacity = capacity;
    index_free(s, t);
    close_holes(t);
    if (index) {
        memset(index, 0, slots * sizeof *index);
        t->index = index;
        t->index_mask = slots - 1;
    }
    return index_fill(s, t);
}

bool sl_table_reserve(struct star *s, value table, uint32_t capacity)
{
    struct sl_table *t = sl_table(table);

    return t->capacity >= capacity || grow(s, t, capacity);
}

/* Makes room for one more entry at the end. */
static bool make_room(struct star *s, struct sl_table *t)
{
    if (t->used < t->capacity)
        return true;
    if (t->count < t->capacity - t->capacity / 4) {
        close_holes(t);
        return index_fill(s, t);
    }
    return grow(s, t, t->capacity ? t->capacity * 2 : 4);
}

bool sl_table_add(struct star *s, value table, value key, uint32_t hash,
                  value v)
{
    struct sl_table *t = sl_table(table);

    if (!make_room(s, t))
        return false;
    SL_ASSERT(t->count <= t->used && t->used < t->capacity);
    SL_ASSERT(!t->index || t->used < t->index_mask);
    t->entries[t->used] =
        (struct sl_entry){.key = key, .value = v, .hash = hash};
    t->used++;
    t->count++;
    if (t->index)
        index_put(t, t->used - 1);
    return true;
}

bool sl_table_find(struct star *s, value table, value key, value *out)
{
    const struct sl_table *t = sl_table(table);
    uint32_t hash, at;

    if (!hash_key(s, key, &hash) || !find(s, t, key, hash, &at))
        return false;
    *out = at < t->used ? t->entries[at].value : 0;
    return true;
}

bool sl_table_has(struct star *s, value table, const struct sl_entry *e,
                  bool *has)
{
    const struct sl_table *t = sl_table(table);
    uint32_t at;

    if (!find(s, t, e->key, e->hash, &at))
        return false;
    *has = at < t->used;
    return true;
}

bool sl_table_set(struct star *s, value table, value key, value v)
{
    struct sl_table *t = sl_table(table);
    uint32_t hash, at;

    if (!hash_key(s, key, &hash) || !find(s, t, key, hash, &at))
        return false;
    if (at == t->used)
        return sl_table_add(s, table, key, hash, v);
    t->entries[at].value = v;
    return true;
}

bool sl_table_remove(struct star *s, value table, value key, value *out)
{
    struct sl_table *t = sl_table(table);
    uint32_t hash, at;

    if (!hash_key(s, key, &hash) || !find(s, t, key, hash, &at))
        return false;
    if (at == t->used) {
        if (out)
            *out = 0;
        return true;
    }
    if (out)
        *out = t->entries[at].value;
    t->entries[at].key = 0;
    t->entries[at].value = 0;
    if (--t->count == 0)
        pack(t);
    while (t->first < t->used && !t->entries[t->first].key)
        t->first++;
    return true;
}

void sl_table_clear(struct star *s, value table)
{
    struct sl_table *t = sl_table(table);

    if (t->entries)
        sl_storage_free(s, t->entries,
                        (size_t)t->capacity * sizeof *t->entries);
    index_free(s, t);
    t->entries = NULL;
    t->count = t->used = t->capacity = t->first = 0;
}

struct sl_entry *sl_table_next(value table, uint32_t *i)
{
    struct sl_table *t = sl_table(table);

    /* Entries are only removed when no walk is active: either the start of the
     * walk packs them, or the holes are few. */
    if (*i == 0 && t->used - t->first > 4 * t->count)
        pack(t);
    if (*i < t->first)
        *i = t->first;
    while (*i < t->used && !t->entries[*i].key)
        ++*i;
    return *i < t->used ? &t->entries[*i] : NULL;
}

value sl_table_get_text(struct star *s, value table, const char *p,
                        size_t length)
{
    struct sl_string key = {.o.type = T_STRING, .p = p};

    if (length > SL_TEXT_MAX_BYTES)
        return 0;
    key.length = (uint32_t)length;
    const struct sl_entry *e = sl_table_find_string(s, table, sl_value(&key));
    return e ? e->value : 0;
}

/* Uses the stored hashes of the entries that are added or removed. */
bool sl_table_combine(struct star *s, enum sl_operator op, value table,
                      value other)
{
    bool adds = op == OP_OR || op == OP_XOR, dicts = sl_is(table, T_DICT);
    bool copies = op == OP_OR && sl_table(table)->count == 0, there = false;
    const struct sl_entry *e;

    if (table == other) {
        if (op == OP_SUB || op == OP_XOR)
            sl_table_clear(s, table);
        return true;
    }
    for (uint32_t i = 0; (e = sl_table_next(adds ? other : table, &i)); i++) {
        bool ok = sl_charge(s, 1) &&
                  (copies || sl_table_has(s, adds ? table : other, e, &there));
        if (ok && adds && !there)
            ok = sl_table_add(s, table, e->key, e->hash,
                              dicts ? e->value : V_NONE);
        else if (ok && dicts)
            ok = sl_table_set(s, table, e->key, e->value);
        else if (ok && op != OP_OR && there != (op == OP_AND))
            ok = sl_table_remove(s, table, e->key, NULL);
        if (!ok)
            return false;
    }
    return true;
}

/* --- making them ---------------------------------------------------------------- */

static value table_new(struct star *s, enum sl_type type, size_t capacity)
{
    struct sl_table *t = sl_alloc_small(s, type, sizeof *t, sizeof *t);
    struct sl_heap *h = &s->heap;
    bool room = true;

    if (!t)
        return 0;
    if (capacity > UINT32_MAX)
        return sl_fail_memory(s, capacity);
    h->pinned = sl_value(t);
    if (capacity)
        room = sl_table_reserve(s, sl_value(t), (uint32_t)capacity);
    h->pinned = 0;
    return room ? sl_value(t) : 0;
}

value sl_dict_new(struct star *s, size_t capacity)
{
    return table_new(s, T_DICT, capacity);
}

value sl_set_new(struct star *s, size_t capacity)
{
    return table_new(s, T_SET, capacity);
}

value sl_intern(struct star *s, const char *p, size_t length)
{
    value v;

    if (!s->interned && !(s->interned = sl_dict_new(s, 0)))
        return 0;
    if ((v = sl_table_get_text(s, s->interned, p, length)))
        return v;
    if (!(v = sl_string_new(s, p, length)) ||
        !sl_table_set(s, s->interned, v, v))
        return 0;
    return v;
}
