#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/err.h"

#include <stddef.h>

struct str;

/*
 * arena: memory for one phase of work, released in one call.
 *
 * Objects in an arena are not freed one by one. Memory is zeroed and aligned
 * for any type. If the heap is exhausted, heap_exhausted() is called, which
 * does not return. Not thread-safe: an arena is used by one thread only.
 */

struct arena_block;

struct arena {
    struct arena_block *blocks;
    char *next, *end;
    size_t bytes; /* total size of the allocations so far */
};

/* A zeroed struct arena is a valid, empty arena. arena_done() may be called
 * twice. */
void arena_init(struct arena *a);
void arena_done(struct arena *a);

void *arena_alloc(struct arena *a, size_t size);

/* Returns a zeroed array of `count` elements of `size` bytes; exits if the
 * product overflows. */
void *arena_array(struct arena *a, size_t count, size_t size);

/* Makes room for one more element in an array whose capacity doubles when it is
 * full: returns `items` or a larger copy. Start with items NULL and `*capacity`
 * 0. */
void *arena_grow(struct arena *a, void *items, size_t count, size_t *capacity,
                 size_t size);

/* Like arena_grow, for an array that no other pointer refers to: a large array
 * is freed when it grows, so that its memory is not held twice. */
void *arena_extend(struct arena *a, void *items, size_t count, size_t *capacity,
                   size_t size);

/* Return a copy, terminated by NUL. */
char *arena_text(struct arena *a, const char *p, size_t n);
struct str arena_str(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *format, ...) PRINTF(2, 3);
/* Returns `words` followed by `between` and `word`; `word` alone if `words` is
 * empty. */
struct str arena_join(struct str words, const char *between, struct str word,
                      struct arena *a);

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))

/* Heap memory outside of arenas, for `buf` and objects with open/close
 * functions. */
void *heap_alloc(size_t size); /* zeroed */
void *heap_resize(void *p, size_t size);
void heap_free(void *p);

/* Ends the process. base/exhausted.c prints a message and exits with code 1; a
 * program or library may define the function itself instead. */
NORETURN void heap_exhausted(void);
/* Tells the kernel that these newly allocated bytes are about to be written, so
 * that it maps their pages at once instead of one by one, in a third of the
 * time. */
void heap_will_write(void *p, size_t size);

/* Frees a buffer at the end of its scope: `CLEANUP_HEAP char *block = …`. For
 * buffers that are too large for the stack. */
void heap_free_at(char **p);
#define CLEANUP_HEAP __attribute__((cleanup(heap_free_at)))

#endif
