#ifndef STARLARK_BLOCKS_H
#define STARLARK_BLOCKS_H

#include "star.h"

/*
 * blocks: chunks, blocks, cells, runs and mappings. blocks.c hands them out and
 * charges for them, collect.c sweeps them; only heap.c sees both.
 */

enum sl_block_kind {
    BLOCK_IDLE,
    BLOCK_OBJECTS, /* cells of objects, or of storage */
    BLOCK_STORAGE,
    BLOCK_OBJECT_RUN, /* one object, or one storage, in `run` blocks */
    BLOCK_STORAGE_RUN,
    BLOCK_TAIL, /* belongs to the run that begins before it */
};

struct sl_block {
    struct sl_free_cell *free;    /* free cells, apart from those in
                                   * sl_heap.free */
    struct sl_block *next, *prev; /* links in the list of blocks of the class
                                   * with free cells */
    uint16_t live;  /* number of cells in use; for objects, after the last
                     * sweep */
    uint16_t made;  /* number of cells ever used, in order of address */
    uint16_t cells; /* number of cells that fit into the block */
    uint8_t kind;   /* enum sl_block_kind */
    uint8_t rank;   /* size class of the cells */
    uint8_t pages;  /* number of pages touched since they were mapped */
    uint8_t run;    /* length of the run in blocks */
    bool listed;    /* whether the block is in sl_heap.partial */
};

#define SL_CHUNK_BLOCKS (SL_CHUNK_BYTES / SL_BLOCK_BYTES)
#define SL_RUN_MAX      (SL_CHUNK_BLOCKS - 1)
#define SL_BLOCK_PAGES  (SL_BLOCK_BYTES / SL_PAGE_BYTES)

/* Header of a chunk, stored in its first block; blocks[0] is never used. */
struct sl_chunk {
    struct sl_chunk *next;
    uint64_t busy; /* one bit per block */
    struct sl_block blocks[SL_CHUNK_BLOCKS];
};

#define SL_CHUNK_TABLE_BYTES                                                   \
    ((sizeof(struct sl_chunk) + SL_PAGE_BYTES - 1) &                           \
     ~(size_t)(SL_PAGE_BYTES - 1))

/* Header of an object that has its own mapping. */
struct sl_large {
    struct sl_large *next;
    size_t size; /* size of the mapping */
};
#define SL_LARGE_HEADER 16u

extern const uint16_t sl_cell_bytes[SL_CLASS_COUNT];

static inline struct sl_chunk *sl_chunk_of(const void *p)
{
    return (struct sl_chunk *)((uintptr_t)p & ~(uintptr_t)(SL_CHUNK_BYTES - 1));
}

static inline struct sl_block *sl_block_of(const void *p)
{
    return &sl_chunk_of(p)->blocks[((uintptr_t)p & (SL_CHUNK_BYTES - 1)) /
                                   SL_BLOCK_BYTES];
}

/* Returns the address of the first cell of the block. */
static inline char *sl_block_base(const struct sl_block *b)
{
    struct sl_chunk *c = sl_chunk_of(b);

    return (char *)c + (size_t)(b - c->blocks) * SL_BLOCK_BYTES;
}

/* Storage larger than a run of blocks is a mapping of its own. */
static inline bool sl_is_mapping(size_t size)
{
    return size > (size_t)SL_RUN_MAX * SL_BLOCK_BYTES;
}

/* Returns NULL or false if the budget or the system has no memory. */
bool sl_heap_charge(struct sl_heap *h, size_t bytes);
void *sl_take_object(struct sl_heap *h, size_t size);
void *sl_take_storage(struct sl_heap *h, size_t size);
/* Resizes without copying: inside the cell or run, or by moving pages. Returns
 * NULL if that is impossible. */
void *sl_resize_in_place(struct sl_heap *h, void *p, size_t old_size,
                         size_t size);
void sl_give_storage(struct sl_heap *h, void *p, size_t size);
void sl_blocks_close(struct sl_heap *h);

void sl_block_list(struct sl_heap *h, struct sl_block *b);
/* Marks a block, or all blocks of a run, as idle. */
void sl_block_release(struct sl_heap *h, struct sl_block *b);
void sl_large_release(struct sl_heap *h, struct sl_large *l);
/* Returns idle pages to the system until `wanted` bytes fit into the budget. */
void sl_heap_trim(struct sl_heap *h, size_t wanted);

/* Implemented in collect.c. */
void sl_each_object(struct star *s,
                    void (*visit)(struct star *s, struct sl_object *o));
void sl_object_free_storage(struct star *s, struct sl_object *o);
int64_t sl_collect_pace(const struct sl_heap *h);

/* --- free cells are out of bounds, where a sanitizer can see it --------------- */

#if defined(__SANITIZE_ADDRESS__)
#    define SL_ASAN 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define SL_ASAN 1
#    endif
#    if __has_feature(memory_sanitizer)
#        define SL_MSAN 1
#    endif
#endif

#ifdef SL_ASAN
#    include <sanitizer/asan_interface.h>
#    define SL_POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#    define SL_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#    define SL_UNCHECKED      __attribute__((noinline, no_sanitize_address))
#else
#    define SL_POISON(p, n)   ((void)(p), (void)(n))
#    define SL_UNPOISON(p, n) ((void)(p), (void)(n))
#    define SL_UNCHECKED
#endif

#ifdef SL_MSAN
#    include <sanitizer/msan_interface.h>
#    define SL_UNDEFINED(p, n) __msan_allocated_memory(p, n)
#    define SL_DEFINED(p, n)                                                   \
        __msan_unpoison(                                                       \
            p, n) /* mremap moved the bytes, which MSan does not see */
#else
#    define SL_UNDEFINED(p, n) ((void)(p), (void)(n))
#    define SL_DEFINED(p, n)   ((void)(p), (void)(n))
#endif

#endif
