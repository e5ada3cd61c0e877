#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/err.h"

#include <stddef.h>

struct str;

/*
 * arena: memory for one phase, released in one call.
 *
 * Nobody frees inside it. When the heap is exhausted heap_exhausted() is called,
 * which does not return. Zeroed memory, aligned for any type. Not thread-safe:
 * one arena belongs to one thread.
 */

struct arena_block;

struct arena {
    struct arena_block *blocks;
    char *next, *end;
    size_t bytes; /* asked for so far */
};

/* A zeroed struct arena is a valid, empty one. `arena_done` twice is harmless. */
void arena_init(struct arena *a);
void arena_done(struct arena *a);

void *arena_alloc(struct arena *a, size_t size);

/* Zeroed array of `count`; exits on overflow of the product. */
void *arena_array(struct arena *a, size_t count, size_t size);

/*
 * Room for one more element in an array that grows by doubling: returns
 * `items`, or a larger copy. `*capacity` starts at 0 with items NULL.
 */
void *arena_grow(struct arena *a, void *items, size_t count, size_t *capacity,
                 size_t size);

/* The same for an array into which nothing points: a large one is freed when
 * it grows, so that its memory is not held twice. */
void *arena_extend(struct arena *a, void *items, size_t count, size_t *capacity,
                   size_t size);

/* Copies, NUL after the last byte. */
char *arena_text(struct arena *a, const char *p, size_t n);
struct str arena_str(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *format, ...) PRINTF(2, 3);
/* `words` and one more; `between` them where there are some already. */
struct str arena_join(struct str words, const char *between, struct str word,
                      struct arena *a);

#define arena_new(a, type) ((type *)arena_alloc((a), sizeof(type)))

/* The heap outside arenas, for `buf` and for objects with open/close. */
void *heap_alloc(size_t size); /* zeroed */
void *heap_resize(void *p, size_t size);
void heap_free(void *p);

/* Ends the process: base/exhausted.c with a message and exit code 1; a program
 * or library that defines it itself is linked without that. */
NORETURN void heap_exhausted(void);
/* All of these fresh bytes are about to be written: has the kernel provide their
 * pages at once instead of one by one, at a third of the time. */
void heap_will_write(void *p, size_t size);

/* For a buffer too large for the stack: `CLEANUP_HEAP char *block = …`. */
void heap_free_at(char **p);
#define CLEANUP_HEAP __attribute__((cleanup(heap_free_at)))

#endif
