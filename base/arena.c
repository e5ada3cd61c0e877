#include "base/arena.h"

#include "base/invariant.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT         16
#define FIRST_BLOCK_BYTES 1024
#define BLOCK_MAX_BYTES   (256 * 1024)
/* Smaller blocks are zeroed piece by piece as they are used, because
 * calloc would touch all of their pages. Larger blocks are fresh, zeroed
 * memory of the kernel. */
#define FRESH_BLOCK_BYTES (128 * 1024)
/* An array of arena_extend of at least this size is a block of its own, which
 * is freed when it grows. Under AddressSanitizer every array is, so that it
 * detects pointers into the old array. */
#ifdef __SANITIZE_ADDRESS__
#    include <sanitizer/asan_interface.h>
#    define ARRAY_BLOCK_BYTES 1
#    define GUARD_BYTES       32
#else
#    define ARRAY_BLOCK_BYTES               (32 * 1024)
#    define GUARD_BYTES                     0
#    define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p))
#endif

struct arena_block {
    struct arena_block *before;
    size_t size;
    bool is_array; /* block of an array of arena_extend */
    bool is_zeroed;
    _Alignas(ALIGNMENT) char bytes[];
};

void *heap_alloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);

    if (!p)
        heap_exhausted();
    return p;
}

void *heap_resize(void *p, size_t size)
{
    void *larger = realloc(p, size ? size : 1);

    if (!larger)
        heap_exhausted();
    return larger;
}

/* Large pages first: the kernel fills them at once. Kernels before 5.14 do not
 * support the second advice, some systems not the first, which is harmless. */
void heap_will_write(void *p, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)p + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)p + size) / page * page;
    void *first = (char *)p + (from - (uintptr_t)p);

    if (to <= from)
        return;
    (void)madvise(first, to - from, MADV_HUGEPAGE);
    (void)madvise(first, to - from, MADV_POPULATE_WRITE);
}

void heap_free(void *p)
{
    free(p);
}

void heap_free_at(char **p)
{
    heap_free(*p);
}

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

void arena_done(struct arena *a)
{
    for (struct arena_block *b = a->blocks, *before; b; b = before) {
        before = b->before;
        free(b);
    }
    arena_init(a);
}

/* Block sizes double, so that a small phase needs little memory and a large one
 * few allocations. */
static void add_block(struct arena *a, size_t size)
{
    size_t block = a->blocks ? a->blocks->size * 2 : FIRST_BLOCK_BYTES;
    struct arena_block *b;

    if (block > BLOCK_MAX_BYTES)
        block = BLOCK_MAX_BYTES;
    if (block < size)
        block = size;
    if (block > SIZE_MAX - sizeof *b)
        heap_exhausted();
    b = block < FRESH_BLOCK_BYTES ? malloc(sizeof *b + block)
                                  : calloc(1, sizeof *b + block);
    if (!b)
        heap_exhausted();
    b->before = a->blocks;
    b->size = block > BLOCK_MAX_BYTES ? BLOCK_MAX_BYTES : block;
    b->is_array = false;
    b->is_zeroed = block >= FRESH_BLOCK_BYTES;
    a->blocks = b;
    a->next = b->bytes;
    a->end = b->bytes + block;
}

/* Returns the next `size` bytes, not zeroed. AddressSanitizer detects an access
 * to what follows them. */
static char *take(struct arena *a, size_t size)
{
    size_t rounded, taken;
    char *p;

    if (size > SIZE_MAX / 2)
        heap_exhausted();
    rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    taken = rounded + GUARD_BYTES;
    if ((size_t)(a->end - a->next) < taken || !a->next)
        add_block(a, taken);
    p = a->next;
    a->next += taken;
    a->bytes += rounded;
    ASAN_POISON_MEMORY_REGION(p + size, taken - size);
    INVARIANT(a->next <= a->end && (uintptr_t)p % ALIGNMENT == 0);
    return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
    char *p = take(a, size);

    return a->blocks->is_zeroed ? p : memset(p, 0, size);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        heap_exhausted();
    return arena_alloc(a, bytes);
}

void *arena_grow(struct arena *a, void *items, size_t count, size_t *capacity,
                 size_t size)
{
    size_t wanted;
    void *larger;

    INVARIANT(count <= *capacity && (items || !count));
    if (count < *capacity)
        return items;
    wanted = *capacity ? *capacity * 2 : 8;
    larger = arena_array(a, wanted, size);
    if (count)
        memcpy(larger, items, count * size);
    *capacity = wanted;
    return larger;
}

/* Inserts the block behind the newest one, from which small pieces are
 * still allocated. */
static void *alloc_array_block(struct arena *a, size_t bytes)
{
    struct arena_block *b;

    if (!a->blocks)
        add_block(a, 1);
    INVARIANT(!a->blocks->is_array);
    b = calloc(1, sizeof *b + bytes);
    if (!b)
        heap_exhausted();
    b->before = a->blocks->before;
    b->size = bytes;
    b->is_array = true;
    a->blocks->before = b;
    a->bytes += bytes;
    return b->bytes;
}

static void free_array_block(struct arena *a, const void *items)
{
    struct arena_block **at = &a->blocks, *b;

    while ((b = *at) && (b->bytes != items || !b->is_array))
        at = &b->before;
    if (!b)
        return;
    *at = b->before;
    free(b);
}

void *arena_extend(struct arena *a, void *items, size_t count, size_t *capacity,
                   size_t size)
{
    size_t wanted = *capacity ? *capacity * 2 : 8, bytes;
    void *larger;

    INVARIANT(count <= *capacity && (items || !count));
    if (count < *capacity)
        return items;
    if (__builtin_mul_overflow(wanted, size, &bytes) || bytes > SIZE_MAX / 2)
        heap_exhausted();
    larger = bytes >= ARRAY_BLOCK_BYTES ? alloc_array_block(a, bytes)
                                        : arena_alloc(a, bytes);
    if (count)
        memcpy(larger, items, count * size);
    if (*capacity * size >= ARRAY_BLOCK_BYTES && items)
        free_array_block(a, items);
    *capacity = wanted;
    return larger;
}

char *arena_text(struct arena *a, const char *p, size_t n)
{
    char *copy = take(a, n + 1);

    if (n)
        memcpy(copy, p, n);
    copy[n] = '\0';
    return copy;
}

struct str arena_str(struct arena *a, struct str s)
{
    return s.n ? str_make(arena_text(a, s.p, s.n), s.n) : str_make("", 0);
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
    size_t room = a->next ? (size_t)(a->end - a->next) : 0;
    char *next = a->next, *text;
    va_list args, again;
    int n;

    va_start(args, format);
    va_copy(again, args);
    /* The text usually fits, and formatting it twice would be expensive. If it
     * does not fit, only the end of a block that is given up is overwritten. */
    n = vsnprintf(next, room, format, args);
    va_end(args);
    if (n < 0)
        n = 0;
    text = take(a, (size_t)n + 1);
    if (text != next)
        vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    text[n] = '\0';
    return str_make(text, (size_t)n);
}

struct str arena_join(struct str words, const char *between, struct str word,
                      struct arena *a)
{
    return arena_printf(a, "%.*s%s%.*s", STR_ARG(words), words.n ? between : "",
                        STR_ARG(word));
}
