#include "heap.h"

#include <stdlib.h>

#include "blocks.h"

/* Allocation for the rest of starlark/: blocks.c, and the collector when it has
 * no room. */

/* --- making room -------------------------------------------------------------- */

/* Frees memory before an allocation of `size` bytes is retried. Returns false
 * when all means are exhausted. */
static bool make_room(struct star *s, int attempt, size_t size)
{
    struct sl_heap *h = &s->heap;

    if (size > h->limit || attempt == 2) {
        if (sl_poll(s)) /* the collection was interrupted */
            sl_fail_memory(s, size);
        return false;
    }
    if (attempt == 1)
        sl_collect(s);
    sl_heap_trim(h, size + SL_CHUNK_TABLE_BYTES);
    return true;
}

/* Rejects sizes that could overflow in later arithmetic. */
static inline bool is_beyond(const struct sl_heap *h, size_t size)
{
    return size > SL_CELL_BYTES && size > h->limit;
}

static inline bool collection_is_due(const struct sl_heap *h)
{
#ifdef SL_COLLECT_ALWAYS
    (void)h;
    return true;
#else
    return h->until_collect < 0;
#endif
}

static bool reserve_held(struct star *s)
{
    struct sl_heap *h = &s->heap;
    size_t capacity = h->held_capacity ? 2 * h->held_capacity : 64;
    value *held = sl_storage_resize(s, h->held, h->held_capacity * sizeof *held,
                                    capacity * sizeof *held);

    if (!held)
        return false;
    h->held = held;
    h->held_capacity = capacity;
    return true;
}

bool sl_hold(struct star *s, value v)
{
    struct sl_heap *h = &s->heap;

    if (!sl_is_object(v))
        return true;
    if (h->held_count == h->held_capacity) {
        bool ok;

        h->pinned = v; /* not reachable from anything else yet */
        ok = reserve_held(s);
        h->pinned = 0;
        if (!ok)
            return false;
    }
    h->held[h->held_count++] = v;
    return true;
}

void *sl_alloc_part(struct star *s, enum sl_type type, size_t size,
                    size_t zeroed)
{
    struct sl_heap *h = &s->heap;
    struct sl_object *o;

    if (s->native && h->held_count == h->held_capacity && !reserve_held(s))
        return NULL;
    if (collection_is_due(h))
        sl_collect(s);
    for (int attempt = 0; is_beyond(h, size) || !(o = sl_take_object(h, size));
         attempt++)
        if (!make_room(s, attempt, size))
            return NULL;
    SL_UNDEFINED(o, size);
    memset(o, 0, zeroed);
    o->type = (uint8_t)type;
    if (s->native)
        h->held[h->held_count++] = sl_value(o);
    return o;
}

void *sl_alloc(struct star *s, enum sl_type type, size_t size)
{
    return sl_alloc_part(s, type, size, size);
}

void *sl_storage(struct star *s, size_t size)
{
    struct sl_heap *h = &s->heap;
    void *p;

    if (collection_is_due(h))
        sl_collect(s);
    for (int attempt = 0; is_beyond(h, size) || !(p = sl_take_storage(h, size));
         attempt++)
        if (!make_room(s, attempt, size))
            return NULL;
    return p;
}

void sl_storage_free(struct star *s, void *p, size_t size)
{
    if (p)
        sl_give_storage(&s->heap, p, size);
}

void *sl_storage_resize(struct star *s, void *p, size_t old_size, size_t size)
{
    struct sl_heap *h = &s->heap;
    void *moved = NULL;

    if (!p)
        return sl_storage(s, size);
    if (collection_is_due(h))
        sl_collect(s);
    if (!is_beyond(h, size)) {
        moved = sl_resize_in_place(h, p, old_size, size);
        /* Avoid copying, which would need the old and the new size at once. */
        for (int attempt = 0;
             !moved && sl_is_mapping(old_size) && sl_is_mapping(size);
             attempt++) {
            if (!make_room(s, attempt, size - old_size))
                return NULL;
            moved = sl_resize_in_place(h, p, old_size, size);
        }
    }
    if (moved || !(moved = sl_storage(s, size)))
        return moved;
    memcpy(moved, p, old_size < size ? old_size : size);
    sl_storage_free(s, p, old_size);
    return moved;
}

void *sl_system_alloc(size_t size)
{
    return malloc(size ? size : 1);
}

void sl_system_free(void *p)
{
    free(p);
}

/* --- the heap itself ----------------------------------------------------------- */

bool sl_heap_open(struct star *s)
{
    struct sl_heap *h = &s->heap;

    h->limit = s->limits.memory_bytes;
    h->until_collect = sl_collect_pace(h);
    return sl_heap_charge(h, sizeof *s);
}

void sl_heap_close(struct star *s)
{
    struct sl_heap *h = &s->heap;

    sl_storage_free(s, h->held, h->held_capacity * sizeof *h->held);
    sl_storage_free(s, h->kept, h->kept_capacity * sizeof *h->kept);
    /* All other storage is released with the chunks. */
    if (h->mappings || h->has_host_objects)
        sl_each_object(s, sl_object_free_storage);
    sl_blocks_close(h);
    if (h->gray != h->gray_few)
        sl_system_free(h->gray);
}
