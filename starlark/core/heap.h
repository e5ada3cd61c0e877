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
#define SL_SMALL_BYTES  512u  /* 16 cell sizes up to this limit */
#define SL_CELL_BYTES   8192u /* 11 further cell sizes up to this limit */
#define SL_CLASS_COUNT  27u
#define SL_CLASS(small) (sl_small_class[((small) + 15) / 16])
#define SL_GRAY_MAX     SL_RARE(65536u, 8u)
#define SL_GRAY_FEW     SL_RARE(64u, 4u)

/* Defined where every allocation and access is checked. */
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
 * sanitizers and by `make star-gc`. */
#if SL_CHECKED_HEAP
#    define SL_ASSERT(condition) assert(condition)
#else
#    define SL_ASSERT(condition) ((void)0)
#endif

/* Steps of 16 bytes up to 128, then four sizes per doubling. Few sizes suit
 * small programs, which touch a page for each size they use. */
static const uint8_t sl_small_class[SL_SMALL_BYTES / 16 + 1] = {
    0,  0,  1,  2,  3,  4,  5,  6,  7,  8,  8,  9,  9,  10, 10, 11, 11,
    12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 15};

struct sl_free_cell {
    uint64_t header; /* 0 in a free cell: type T_NONE, which no object has */
    struct sl_free_cell *next;
};

struct sl_kept {
    value v;
    size_t count;
};

struct sl_heap {
    struct sl_free_cell *free[SL_CLASS_COUNT];   /* free cells for objects,
                                                * ready for use */
    struct sl_block *partial[2][SL_CLASS_COUNT]; /* blocks with free cells,
                                                  * for objects and for
                                                  * storage */
    struct sl_chunk *chunks;
    struct sl_large *large; /* objects that have their own mapping */
    size_t mappings;        /* number of storages that are mappings */
    bool has_host_objects;  /* some object has host data to release when the
                             * heap is closed */
    /* Hooks of the VM: mark its roots; called between marking and sweeping. */
    void (*mark_roots)(struct star *s, void (*mark)(struct star *s, value v));
    void (*before_sweep)(struct star *s);
    void *spare; /* an unused mapping kept for reuse */
    size_t spare_size;
    size_t used, peak, limit; /* bytes charged to the budget now, at most,
                               * and allowed */
    size_t idle;              /* part of `used` in idle blocks */
    int64_t until_collect;    /* bytes that may be allocated before the next
                               * collection */
    uint8_t epoch;            /* mark of the objects that the last collection
                               * reached */
    value *held; /* objects created in running native functions, or by the
                  * host */
    size_t held_count, held_capacity;
    value pinned;         /* temporary root */
    struct sl_kept *kept; /* hash table of kept values, open addressing; its
                           * size is a power of two */
    size_t kept_count, kept_capacity;
    value *gray; /* work list of the collector, bounded */
    size_t gray_count, gray_capacity;
    bool gray_overflow;
    bool stopped;       /* collection was canceled or timed out */
    uint8_t unfinished; /* number of unfinished collections since the last
                         * finished one */
    uint32_t visited;
    value gray_few[SL_GRAY_FEW]; /* work list if none can be allocated */
};

bool sl_heap_open(struct star *s);
void sl_heap_close(struct star *s);

/* Allocates an object of `size` bytes including the header, zeroed after the
 * header. Returns NULL with the error set if it exceeds the budget. */
void *sl_alloc(struct star *s, enum sl_type type, size_t size);
/* Like sl_alloc, but zeroes only the first `zeroed` bytes, for objects that are
 * filled at once. */
void *sl_alloc_part(struct star *s, enum sl_type type, size_t size,
                    size_t zeroed);

/* Allocates storage that one object owns: the items of a list, the entries of a
 * table. It is not zeroed, and is freed by its owner or with it.
 * `sl_storage_resize` keeps the bytes up to the smaller size; on failure the
 * old storage remains valid. NULL is the storage of 0 bytes. */
void *sl_storage(struct star *s, size_t size);
void *sl_storage_resize(struct star *s, void *p, size_t old_size, size_t size);
void sl_storage_free(struct star *s, void *p, size_t size);

/* Allocates from the system, uncharged: for small bounded data, and for error
 * reports, which must succeed when the budget is used up. Returns NULL if the
 * system has no memory. */
void *sl_system_alloc(size_t size);
void sl_system_free(void *p);

/* From enter to the matching leave, every new object is a root. The VM brackets
 * calls of native functions with them; they nest. */
struct sl_scope {
    size_t held;
    bool native;
};
struct sl_scope sl_native_enter(struct star *s);
void sl_native_leave(struct star *s, struct sl_scope scope);
/* Keeps `v` reachable until the running native function returns. The VM calls
 * it for the result of a call made by a native function or the host. */
bool sl_hold(struct star *s, value v);
/* Releases the objects created since s->heap.held_count was `mark`, for loops
 * that put each new object into a container that is itself held. */
#define SL_RELEASE(s, mark) ((void)((s)->heap.held_count = (mark)))

void sl_collect(struct star *s);

/* Each array of a struct sl_code is one storage of exactly its element count,
 * or NULL if empty; so is `cached` of a site, with `named` elements. The
 * collector frees them, and marks the constants and names in them. */

/* Memory that is not an object, charged like all other: the syntax tree of a
 * source, scratch data. */
struct sl_arena {
    struct sl_arena_block *last;
    size_t left;
    char *next;
};
void *sl_arena_alloc(struct star *s, struct sl_arena *a, size_t size);
void sl_arena_free(struct star *s, struct sl_arena *a);

/* A growing text for building strings. `failed` stays set once memory ran out,
 * and appending then does nothing. It may start in an array of the caller
 * (SL_TEXT_IN), since most texts are short. */
struct sl_text {
    struct star *s;
    char *p;
    size_t length, capacity;
    bool failed;
    bool local; /* p is an array of the caller */
};
#define SL_TEXT_IN(interpreter, array)                                         \
    {                                                                          \
        .s = (interpreter), .p = (array), .capacity = sizeof(array),           \
        .local = true                                                          \
    }
#define SL_TEXT_LOCAL_BYTES 256 /* a suitable size for that array */
void sl_text_append(struct sl_text *t, const char *p, size_t length);
void sl_text_char(struct sl_text *t, char c);
void sl_text_rune(struct sl_text *t, uint32_t code_point);
void sl_text_printf(struct sl_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sl_text_free(struct sl_text *t);
value sl_text_string(struct sl_text *t); /* Returns the text as a string and
                                          * frees it; 0 if it failed. */

/* --- budgets ---------------------------------------------------------------- */

/* Charges `units` of work, each about one round of a simple loop: 64 bytes
 * compared, or an element visited. Fails with STEPS, TIMEOUT or CANCELED. Work
 * is charged before it is done, in pieces of at most about 100,000. */
bool sl_charge_slow(struct star *s);

/* Bracket host calls. The outermost one clears the last error and starts the
 * clock of limits.timeout_ms. */
void sl_host_enter(struct star *s);
void sl_host_leave(struct star *s);

/* Sets the error of an exhausted budget and returns 0. */
value sl_fail_memory(struct star *s, size_t wanted);

#endif
