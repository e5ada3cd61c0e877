#ifndef STARLARK_HEAP_H
#define STARLARK_HEAP_H

#include <assert.h>

#include "value.h"

/*
 * heap: memory under a byte budget, and the collection of garbage.
 *
 *     chunk, 1 MiB, aligned   | its table | block 1 | block 2 | ... | block 63 |
 *     block, 16 KiB           cells of one size | or part of a longer run
 *
 * Objects and storage of up to 8 KiB live in cells, objects and storage in
 * blocks of their own; up to a chunk's size they are a run of blocks; beyond it
 * a mapping. malloc has no part in it, so what is counted is what is resident:
 * a page of 4 KiB is charged to the budget just before it is first touched, and
 * stays charged until it is given back to the system. When it does not fit, idle
 * blocks are given back, then garbage is collected, and only then the
 * allocation fails.
 *
 * Collection marks and sweeps; objects never move. Its roots are precise: the
 * value stack of the VM, kept values, the interpreter's own tables - and every
 * object made since the running native function was entered. So C code between
 * sl_native_enter and sl_native_leave need not register what it makes. Values it
 * received are held by its caller; a value taken out of a
 * container which is then changed must be passed to sl_hold.
 *
 * Built with -DSL_COLLECT_ALWAYS it collects at every allocation; under ASan
 * and MSan free cells may not be touched. Together they find values that are not held.
 */

#define SL_CHUNK_BYTES  (1024u * 1024u)
#define SL_BLOCK_BYTES  16384u
#define SL_PAGE_BYTES   4096u
#define SL_SMALL_BYTES  512u  /* cells of 16 sizes up to this, */
#define SL_CELL_BYTES   8192u /* and of eleven larger ones up to this */
#define SL_CLASS_COUNT  27u
#define SL_CLASS(small) (sl_small_class[((small) + 15) / 16])
#define SL_GRAY_MAX     SL_RARE(65536u, 8u)
#define SL_GRAY_FEW     SL_RARE(64u, 4u)

/* Where each allocation and each access is looked at. */
#if defined(SL_COLLECT_ALWAYS) || defined(__SANITIZE_ADDRESS__)
#    define SL_CHECKED_HEAP 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#        define SL_CHECKED_HEAP 1
#    endif
#endif
#ifndef SL_CHECKED_HEAP
#    define SL_CHECKED_HEAP 0
#endif

/* A guarantee of starlark/ itself, never of a program or host; checked under
 * sanitizers and in make star-gc. */
#if SL_CHECKED_HEAP
#    define SL_ASSERT(condition) assert(condition)
#else
#    define SL_ASSERT(condition) ((void)0)
#endif

/* Steps of 16 bytes up to 128, then four for each doubling: a small program
 * touches a page for each size it uses, so that few sizes serve it better. */
static const uint8_t sl_small_class[SL_SMALL_BYTES / 16 + 1] = {
    0,  0,  1,  2,  3,  4,  5,  6,  7,  8,  8,  9,  9,  10, 10, 11, 11,
    12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15};

struct sl_free_cell {
    uint64_t header; /* 0: of type T_NONE, which no object has */
    struct sl_free_cell *next;
};

struct sl_kept {
    value v;
    size_t count;
};

struct sl_heap {
    struct sl_free_cell *free[SL_CLASS_COUNT]; /* for objects; ready to take */
    struct sl_block *partial[2][SL_CLASS_COUNT]; /* objects, storage: blocks
                                                    that have free cells */
    struct sl_chunk *chunks;
    struct sl_large *large; /* objects that are mappings */
    size_t mappings;        /* storage that is one: how many */
    bool has_host_objects;  /* their data is released at the end */
    /* Hooks of the VM: its roots; called between marking and sweeping. */
    void (*mark_roots)(struct star *s, void (*mark)(struct star *s, value v));
    void (*before_sweep)(struct star *s);
    void *spare; /* a mapping in no use, for the next one */
    size_t spare_size;
    size_t used, peak, limit; /* bytes charged */
    size_t idle;              /* of them in blocks that nothing uses */
    int64_t until_collect;    /* bytes to allocate before the next collection */
    uint8_t epoch;            /* the mark of what the last collection reached */
    value *held; /* made in native functions that run, or by the host */
    size_t held_count, held_capacity;
    value pinned;         /* a root for a moment */
    struct sl_kept *kept; /* open addressing; a power of two of slots */
    size_t kept_count, kept_capacity;
    value *gray; /* the collector's work list; bounded */
    size_t gray_count, gray_capacity;
    bool gray_overflow;
    bool stopped;       /* canceled or out of time while collecting */
    uint8_t unfinished; /* collections that were, since one was finished */
    uint32_t visited;
    value gray_few[SL_GRAY_FEW]; /* when there is no memory for more */
};

bool sl_heap_open(struct star *s);
void sl_heap_close(struct star *s);

/* An object of `size` bytes, header included: zeroed behind the header. NULL,
 * with the error set, when the budget does not allow it. */
void *sl_alloc(struct star *s, enum sl_type type, size_t size);
/* The same, zeroed only up to `zeroed`: for what is filled at once. */
void *sl_alloc_part(struct star *s, enum sl_type type, size_t size,
                    size_t zeroed);

/* Storage that one object owns: the items of a list, the entries of a table. Not
 * zeroed. It is freed by its owner, or with it. `sl_storage_resize` keeps the
 * bytes up to the smaller size; on failure the old storage stays. NULL and 0 are
 * the storage of no bytes. */
void *sl_storage(struct star *s, size_t size);
void *sl_storage_resize(struct star *s, void *p, size_t old_size, size_t size);
void sl_storage_free(struct star *s, void *p, size_t size);

/* Not charged: for what is small and bounded, and for reports of errors, which
 * must succeed when the budget is used up. NULL when the system has no more. */
void *sl_system_alloc(size_t size);
void sl_system_free(void *p);

/* From here on every object made is a root, until the matching leave. The VM
 * brackets calls of native functions; they nest. */
struct sl_scope {
    size_t held;
    bool native;
};
struct sl_scope sl_native_enter(struct star *s);
void sl_native_leave(struct star *s, struct sl_scope scope);
/* Keeps `v` until the native function that runs now returns. The VM does so
 * with the result of a call that a native function, or the host, made. */
bool sl_hold(struct star *s, value v);
/* Lets go of all that was made since `held` was s->heap.held_count: for loops
 * that put each thing they make into a container that is held. */
#define SL_RELEASE(s, mark) ((void)((s)->heap.held_count = (mark)))

void sl_collect(struct star *s);

/* For those that the collector asks, as vm.h's sl_vm_mark_roots: `v` is
 * reachable. 0 is fine. */
void sl_mark(struct star *s, value v);

/* Each array of a struct sl_code is a storage of exactly its count of elements,
 * NULL when there are none; so is `cached` of a site, of `named` elements. The
 * collector frees them, and marks the constants and names in them. */

/* Memory that is no object: the tree of a source, scratch. Charged like all. */
struct sl_arena {
    struct sl_arena_block *last;
    size_t left;
    char *next;
};
void *sl_arena_alloc(struct star *s, struct sl_arena *a, size_t size);
void sl_arena_free(struct star *s, struct sl_arena *a);

/* A growing text for building strings. `failed` stays set once memory ended;
 * appending to it then does nothing. It may begin in an array of the caller's,
 * for most texts are short: SL_TEXT_IN. */
struct sl_text {
    struct star *s;
    char *p;
    size_t length, capacity;
    bool failed;
    bool local; /* p is the caller's */
};
#define SL_TEXT_IN(interpreter, array)                                         \
    {                                                                          \
        .s = (interpreter), .p = (array), .capacity = sizeof(array),           \
        .local = true                                                          \
    }
#define SL_TEXT_LOCAL_BYTES 256 /* a good size for it */
void sl_text_append(struct sl_text *t, const char *p, size_t length);
void sl_text_char(struct sl_text *t, char c);
void sl_text_rune(struct sl_text *t, uint32_t code_point);
void sl_text_printf(struct sl_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sl_text_free(struct sl_text *t);
value sl_text_string(struct sl_text *t); /* and frees it; 0 if failed */

/* --- budgets ---------------------------------------------------------------- */

/* Work of `units`, about as much as one round of a simple loop each: 64 bytes
 * compared, an element visited. Fails with STEPS, TIMEOUT or CANCELED. Work is
 * charged before it is done, in pieces of at most some 100,000. */
bool sl_charge_slow(struct star *s);

/* Where host calls begin and end: the outermost one forgets the last error and
 * starts the clock of limits.timeout_ms. */
void sl_host_enter(struct star *s);
void sl_host_leave(struct star *s);

/* Fails with the error of an exhausted budget; returns 0. */
value sl_fail_memory(struct star *s, size_t wanted);

#endif
