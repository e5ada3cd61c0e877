#include "blocks.h"

#include <sys/mman.h>

/*
 * Functions of this file return NULL or false without setting an error if the
 * budget or the system has no memory; they never start a collection. Their
 * callers in heap.c collect garbage and retry.
 */

/* Sizes above 512 leave at most an eighth of a block unused at its end. */
const uint16_t sl_cell_bytes[SL_CLASS_COUNT] = {
    16,   32,   48,   64,   80,   96,   112,  128,  160,
    192,  224,  256,  320,  384,  448,  512,  640,  768,
    1024, 1360, 1632, 2048, 2720, 3264, 4096, 5456, 8192};

static inline unsigned class_of(size_t size)
{
    unsigned rank = SL_CLASS(SL_SMALL_BYTES) + 1;

    if (size <= SL_SMALL_BYTES)
        return SL_CLASS(size);
    while (sl_cell_bytes[rank] < size)
        rank++;
    return rank;
}

static size_t round_up(size_t n, size_t unit)
{
    return (n + unit - 1) & ~(unit - 1);
}

static unsigned run_of(size_t size)
{
    return (unsigned)((size + SL_BLOCK_BYTES - 1) / SL_BLOCK_BYTES);
}

/* --- the budget and the system ----------------------------------------------- */

bool sl_heap_charge(struct sl_heap *h, size_t bytes)
{
    if (h->used > h->limit || bytes > h->limit - h->used)
        return false;
    h->used += bytes;
    if (h->used > h->peak)
        h->peak = h->used;
    return true;
}

static void *map(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Reserves address space only; pages are charged when they are first touched.
 * Chunks tend to be mapped next to each other, so the first attempt is mostly
 * aligned. */
static void *map_chunk(void)
{
    size_t size = SL_CHUNK_BYTES;
    char *p = map(size), *aligned;

    if (!p || (uintptr_t)p % size == 0)
        return p;
    munmap(p, size);
    if (!(p = map(2 * size)))
        return NULL;
    aligned = (char *)round_up((uintptr_t)p, size);
    if (aligned != p)
        munmap(p, (size_t)(aligned - p));
    munmap(aligned + size, (size_t)(p + size - aligned));
    return aligned;
}

static struct sl_chunk *chunk_new(struct sl_heap *h)
{
    struct sl_chunk *c;

    if (!sl_heap_charge(h, SL_CHUNK_TABLE_BYTES))
        return NULL;
    if (!(c = map_chunk())) {
        h->used -= SL_CHUNK_TABLE_BYTES;
        return NULL;
    }
    c->busy = 1;
    c->next = h->chunks;
    h->chunks = c;
    return c;
}

/* Charges those of the first `pages` pages of a block that are not charged
 * yet. */
static bool touch(struct sl_heap *h, struct sl_block *b, unsigned pages)
{
    if (pages > b->pages) {
        if (!sl_heap_charge(h, (pages - b->pages) * (size_t)SL_PAGE_BYTES))
            return false;
        b->pages = (uint8_t)pages;
    }
    return true;
}

static bool touch_run(struct sl_heap *h, struct sl_block *b, size_t size)
{
    for (size_t i = 0; size; i++) {
        size_t part = size < SL_BLOCK_BYTES ? size : SL_BLOCK_BYTES;

        if (!touch(h, b + i,
                   (unsigned)((part + SL_PAGE_BYTES - 1) / SL_PAGE_BYTES)))
            return false;
        size -= part;
    }
    return true;
}

static void drop_spare(struct sl_heap *h)
{
    if (!h->spare)
        return;
    munmap(h->spare, h->spare_size);
    h->used -= h->spare_size;
    h->idle -= h->spare_size;
    h->spare = NULL;
    h->spare_size = 0;
}

void sl_heap_trim(struct sl_heap *h, size_t wanted)
{
    if (h->used > h->limit || wanted > h->limit - h->used)
        drop_spare(h);
    for (struct sl_chunk *c = h->chunks; c && h->idle; c = c->next)
        for (size_t i = 1; i < SL_CHUNK_BLOCKS; i++) {
            struct sl_block *b = &c->blocks[i];
            size_t bytes = b->pages * (size_t)SL_PAGE_BYTES;

            if (h->used <= h->limit && wanted <= h->limit - h->used)
                return;
            if (b->kind != BLOCK_IDLE || !bytes ||
                madvise(sl_block_base(b), bytes, MADV_DONTNEED) < 0)
                continue;
            b->pages = 0;
            h->used -= bytes;
            h->idle -= bytes;
        }
}

/* --- blocks -------------------------------------------------------------------- */

void sl_block_list(struct sl_heap *h, struct sl_block *b)
{
    struct sl_block **head = &h->partial[b->kind == BLOCK_STORAGE][b->rank];

    if (b->listed)
        return;
    b->prev = NULL;
    b->next = *head;
    if (b->next)
        b->next->prev = b;
    *head = b;
    b->listed = true;
}

static void sl_block_unlist(struct sl_heap *h, struct sl_block *b)
{
    if (!b->listed)
        return;
    if (b->next)
        b->next->prev = b->prev;
    if (b->prev)
        b->prev->next = b->next;
    else
        h->partial[b->kind == BLOCK_STORAGE][b->rank] = b->next;
    b->listed = false;
}

void sl_block_release(struct sl_heap *h, struct sl_block *b)
{
    struct sl_chunk *c = sl_chunk_of(b);
    unsigned run = b->run;

    sl_block_unlist(h, b);
    SL_POISON(sl_block_base(b), run * (size_t)SL_BLOCK_BYTES);
    for (unsigned i = 0; i < run; i++) {
        c->busy &= ~((uint64_t)1 << (b + i - c->blocks));
        h->idle += b[i].pages * (size_t)SL_PAGE_BYTES;
        b[i].kind = BLOCK_IDLE;
    }
}

/* Returns the index of the first of `run` adjacent idle blocks, or 0 if there
 * is no such run. */
static unsigned find_run(uint64_t busy, unsigned run)
{
    uint64_t idle = ~busy;

    for (unsigned have = 1; have < run && idle;) {
        unsigned more = run - have < have ? run - have : have;

        idle &= idle >> more;
        have += more;
    }
    return idle ? (unsigned)__builtin_ctzll(idle) : 0;
}

static struct sl_block *take_blocks(struct sl_heap *h, enum sl_block_kind kind,
                                    unsigned run)
{
    struct sl_chunk *c = h->chunks;
    struct sl_block *b;
    unsigned i = 0;

    while (c && !(i = find_run(c->busy, run)))
        c = c->next;
    if (!c) {
        if (!(c = chunk_new(h)))
            return NULL;
        i = 1;
    }
    b = &c->blocks[i];
    for (unsigned k = 0; k < run; k++) {
        c->busy |= (uint64_t)1 << (i + k);
        h->idle -= b[k].pages * (size_t)SL_PAGE_BYTES;
        b[k].kind = BLOCK_TAIL;
    }
    b->kind = (uint8_t)kind;
    b->run = (uint8_t)run;
    b->free = NULL;
    b->live = b->made = 0;
    return b;
}

/* --- cells ---------------------------------------------------------------------- */

static SL_UNCHECKED struct sl_free_cell *pop(struct sl_free_cell **list)
{
    struct sl_free_cell *cell = *list;

    *list = cell->next;
    return cell;
}

static SL_UNCHECKED void push(struct sl_free_cell **list, void *p)
{
    struct sl_free_cell *cell = p;

    cell->header = 0;
    cell->next = *list;
    *list = cell;
}

/* Creates at least one cell in the rest of the page in which the last cell
 * ends. */
static bool make_cells(struct sl_heap *h, struct sl_block *b)
{
    size_t cell = sl_cell_bytes[b->rank], from = b->made * cell;
    size_t end = round_up(from + 1, SL_PAGE_BYTES);
    size_t count = (end - from) / cell, left = b->cells - (size_t)b->made;
    char *base = sl_block_base(b);

    if (!count)
        count = 1;
    if (count > left)
        count = left;
    end = from + count * cell;
    if (!touch(h, b, (unsigned)((end + SL_PAGE_BYTES - 1) / SL_PAGE_BYTES)))
        return false;
    SL_POISON(base + from, end - from);
    for (size_t i = count; i-- > 0;)
        push(&b->free, base + from + i * cell);
    b->made = (uint16_t)(b->made + count);
    return true;
}

/* Returns a block of the class that has free cells. */
static struct sl_block *block_with_cells(struct sl_heap *h,
                                         enum sl_block_kind kind, unsigned rank)
{
    struct sl_block *b = h->partial[kind == BLOCK_STORAGE][rank];

    if (!b) {
        if (!(b = take_blocks(h, kind, 1)))
            return NULL;
        b->rank = (uint8_t)rank;
        b->cells = (uint16_t)(SL_BLOCK_BYTES / sl_cell_bytes[rank]);
        sl_block_list(h, b);
    }
    if (!b->free && !make_cells(h, b)) {
        if (!b->made)
            sl_block_release(h, b);
        return NULL;
    }
    return b;
}

static void *take_object_cell(struct sl_heap *h, unsigned rank)
{
    if (!h->free[rank]) {
        struct sl_block *b = block_with_cells(h, BLOCK_OBJECTS, rank);
        size_t cells;

        if (!b)
            return NULL;
        cells = b->made - b->live;
        h->until_collect -= (int64_t)(cells * sl_cell_bytes[rank]);
        b->live = b->made;
        h->free[rank] = b->free;
        b->free = NULL;
        if (b->made == b->cells)
            sl_block_unlist(h, b);
    }
    return pop(&h->free[rank]);
}

static void *take_storage_cell(struct sl_heap *h, unsigned rank)
{
    struct sl_block *b = h->partial[true][rank];
    void *p;

    if ((!b || !b->free) && !(b = block_with_cells(h, BLOCK_STORAGE, rank)))
        return NULL;
    p = pop(&b->free);
    b->live++;
    if (!b->free && b->made == b->cells)
        sl_block_unlist(h, b);
    return p;
}

static void give_storage_cell(struct sl_heap *h, void *p)
{
    struct sl_block *b = sl_block_of(p);

    SL_POISON(p, sl_cell_bytes[b->rank]);
    push(&b->free, p);
    b->live--;
    sl_block_list(h, b);
    /* Keep the last block of the class for the next allocation. */
    if (!b->live && (b->next || b->prev))
        sl_block_release(h, b);
}

/* --- runs and mappings ------------------------------------------------------------ */

static void *take_run(struct sl_heap *h, enum sl_block_kind kind, size_t size)
{
    struct sl_block *b = take_blocks(h, kind, run_of(size));

    if (!b)
        return NULL;
    if (!touch_run(h, b, size)) {
        sl_block_release(h, b);
        return NULL;
    }
    SL_UNPOISON(sl_block_base(b), size);
    return sl_block_base(b);
}

static bool remap(struct sl_heap *h, void **p, size_t old_size, size_t size)
{
    void *moved;

    if (size > old_size && !sl_heap_charge(h, size - old_size))
        return false;
    moved = mremap(*p, old_size, size, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) {
        h->used -= size > old_size ? size - old_size : 0;
        return false;
    }
    h->used -= size < old_size ? old_size - size : 0;
    SL_DEFINED(moved, size < old_size ? size : old_size);
    *p = moved;
    return true;
}

/* Returns the spare mapping if it is large enough: its touched pages cost a
 * fraction of new ones. */
static void *take_mapping(struct sl_heap *h, size_t size)
{
    void *p = h->spare;

    if (p && remap(h, &p, h->spare_size, size)) {
        h->idle -= h->spare_size;
        h->spare = NULL;
        h->spare_size = 0;
        return p;
    }
    if (!sl_heap_charge(h, size))
        return NULL;
    if (!(p = map(size)))
        h->used -= size;
    return p;
}

/* Keeps the larger of `p` and the spare mapping as the spare one and unmaps the
 * other. */
static void give_mapping(struct sl_heap *h, void *p, size_t size)
{
    if (size <= h->spare_size) {
        h->used -= size;
        munmap(p, size);
        return;
    }
    drop_spare(h);
    h->spare = p;
    h->spare_size = size;
    h->idle += size;
}

static void *take_storage_mapping(struct sl_heap *h, size_t size)
{
    void *p = take_mapping(h, round_up(size, SL_PAGE_BYTES));

    h->mappings += p != NULL;
    return p;
}

static void *take_large(struct sl_heap *h, size_t size)
{
    struct sl_large *l;

    size = round_up(size + SL_LARGE_HEADER, SL_PAGE_BYTES);
    if (!(l = take_mapping(h, size)))
        return NULL;
    l->size = size;
    l->next = h->large;
    h->large = l;
    return (char *)l + SL_LARGE_HEADER;
}

void sl_large_release(struct sl_heap *h, struct sl_large *l)
{
    give_mapping(h, l, l->size);
}

void *sl_take_object(struct sl_heap *h, size_t size)
{
    unsigned rank;
    void *p;

    if (size > SL_CELL_BYTES) {
        p = sl_is_mapping(size) ? take_large(h, size)
                                : take_run(h, BLOCK_OBJECT_RUN, size);
        if (p)
            h->until_collect -= (int64_t)size;
        return p;
    }
    rank = class_of(size);
    if ((p = take_object_cell(h, rank)))
        SL_UNPOISON(p, sl_cell_bytes[rank]);
    return p;
}

void *sl_take_storage(struct sl_heap *h, size_t size)
{
    void *p;

    if (size > SL_CELL_BYTES)
        p = sl_is_mapping(size) ? take_storage_mapping(h, size)
                                : take_run(h, BLOCK_STORAGE_RUN, size);
    else if ((p = take_storage_cell(h, class_of(size))))
        SL_UNPOISON(p, size);
    if (p) {
        h->until_collect -= (int64_t)size;
        SL_UNDEFINED(p, size);
    }
    return p;
}

void sl_give_storage(struct sl_heap *h, void *p, size_t size)
{
    h->until_collect += (int64_t)size;
    if (size <= SL_CELL_BYTES) {
        give_storage_cell(h, p);
    } else if (!sl_is_mapping(size)) {
        sl_block_release(h, sl_block_of(p));
    } else {
        h->mappings--;
        give_mapping(h, p, round_up(size, SL_PAGE_BYTES));
    }
}

void *sl_resize_in_place(struct sl_heap *h, void *p, size_t old_size,
                         size_t size)
{
    size_t old_mapped = round_up(old_size, SL_PAGE_BYTES);
    size_t mapped = round_up(size, SL_PAGE_BYTES);

    if (size <= SL_CELL_BYTES || old_size <= SL_CELL_BYTES) {
        if (size > SL_CELL_BYTES || old_size > SL_CELL_BYTES ||
            class_of(size) != class_of(old_size))
            return NULL;
    } else if (!sl_is_mapping(size) || !sl_is_mapping(old_size)) {
        if (sl_is_mapping(size) || sl_is_mapping(old_size) ||
            run_of(size) != run_of(old_size) ||
            !touch_run(h, sl_block_of(p), size))
            return NULL;
    } else {
        if (!remap(h, &p, old_mapped, mapped))
            return NULL;
    }
    SL_UNPOISON(p, size);
    h->until_collect -= (int64_t)size - (int64_t)old_size;
    return p;
}

/* Unmaps all chunks. Storage in its own mapping was released before. */
void sl_blocks_close(struct sl_heap *h)
{
    while (h->large) {
        struct sl_large *l = h->large;

        h->large = l->next;
        sl_large_release(h, l);
    }
    drop_spare(h);
    while (h->chunks) {
        struct sl_chunk *c = h->chunks;

        h->chunks = c->next;
        SL_UNPOISON(c, SL_CHUNK_BYTES);
        munmap(c, SL_CHUNK_BYTES);
    }
}
