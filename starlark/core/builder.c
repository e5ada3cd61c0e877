#include <stdarg.h>
#include <stdio.h>

#include "ops.h"

/* Growing texts, and memory that is not an object. */

/* --- texts ------------------------------------------------------------------------ */

/* Shorter texts are copied into their string; longer ones become its
 * storage. */
#define COPIED_BYTES 256
_Static_assert(COPIED_BYTES >= SL_TEXT_LOCAL_BYTES, "local text is copied");

static bool text_room(struct sl_text *t, size_t more)
{
    size_t capacity = t->capacity ? 2 * t->capacity : 64;
    char *p;

    if (t->failed)
        return false;
    if (t->capacity - t->length >= more)
        return true;
    t->failed = true;
    if (more > SL_TEXT_MAX_BYTES - t->length)
        return sl_fail_memory(t->s, more) != 0;
    if (capacity < t->length + more)
        capacity = t->length + more;
    p = t->local ? sl_storage(t->s, capacity)
                 : sl_storage_resize(t->s, t->p, t->capacity, capacity);
    if (!p)
        return false;
    if (t->local)
        memcpy(p, t->p, t->length);
    t->local = false;
    t->p = p;
    t->capacity = capacity;
    t->failed = false;
    return true;
}

void sl_text_append(struct sl_text *t, const char *p, size_t length)
{
    if (length == 0 || !text_room(t, length))
        return;
    SL_ASSERT(t->length + length <= t->capacity);
    memcpy(t->p + t->length, p, length);
    t->length += length;
}

void sl_text_char(struct sl_text *t, char c)
{
    if (t->length < t->capacity && !t->failed)
        t->p[t->length++] = c;
    else
        sl_text_append(t, &c, 1);
}

void sl_text_rune(struct sl_text *t, uint32_t code_point)
{
    char bytes[4];

    sl_text_append(t, bytes, sl_rune_encode(code_point, bytes));
}

void sl_text_printf(struct sl_text *t, const char *format, ...)
{
    char few[256];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(few, sizeof few, format, args);
    va_end(args);
    if (length < 0)
        return;
    if ((size_t)length < sizeof few) {
        sl_text_append(t, few, (size_t)length);
        return;
    }
    if (!text_room(t, (size_t)length + 1))
        return;
    va_start(args, format);
    vsnprintf(t->p + t->length, (size_t)length + 1, format, args);
    va_end(args);
    t->length += (size_t)length;
}

void sl_text_free(struct sl_text *t)
{
    if (!t->local)
        sl_storage_free(t->s, t->p, t->capacity);
    t->p = NULL;
    t->local = false;
    t->length = t->capacity = 0;
}

/* Returns a string that takes over the storage of the text, cut to its
 * length. */
static value text_adopt(struct sl_text *t)
{
    struct star *s = t->s;
    struct sl_buffer *buffer;
    struct sl_string *string;
    bool native = s->native;

    if (t->capacity - t->length > t->length / 8) {
        char *p = sl_storage_resize(s, t->p, t->capacity, t->length);

        if (!p)
            return 0;
        t->p = p;
        t->capacity = t->length;
    }
    if (!(string = sl_alloc(s, T_STRING, sizeof *string)))
        return 0;
    string->p = string->bytes;
    s->heap.pinned = sl_value(string);
    s->native = false; /* no need to root the buffer: the string refers to it */
    buffer = sl_alloc(s, T_BUFFER, sizeof *buffer);
    s->native = native;
    s->heap.pinned = 0;
    if (!buffer)
        return 0;
    buffer->p = t->p;
    buffer->filled = (uint32_t)t->length;
    buffer->capacity = (uint32_t)t->capacity;
    string->p = t->p;
    string->length = (uint32_t)t->length;
    string->owner = buffer;
    t->p = NULL;
    t->length = t->capacity = 0;
    sl_string_filled(sl_value(string));
    return sl_value(string);
}

value sl_text_string(struct sl_text *t)
{
    value v = 0;

    sl_owe(t->s, t->length / 64);
    if (!t->failed)
        v = t->length <= COPIED_BYTES ? sl_string_new(t->s, t->p, t->length)
                                      : text_adopt(t);
    sl_text_free(t);
    return v;
}

/* --- arenas ------------------------------------------------------------------------- */

struct sl_arena_block {
    struct sl_arena_block *before;
    size_t size;
};
#define ARENA_BYTES SL_RARE(16384u, 512u)

void *sl_arena_alloc(struct star *s, struct sl_arena *a, size_t size)
{
    char *p;

    if (size > SIZE_MAX / 2) {
        sl_fail_memory(s, size);
        return NULL;
    }
    size = (size + 15) & ~(size_t)15;
    if (size > a->left) {
        /* Most sources are small, so the first block is small. */
        size_t block = a->last ? ARENA_BYTES : 1024;
        struct sl_arena_block *b;

        if (size > block - sizeof *b)
            block = size + sizeof *b;
        if (!(b = sl_storage(s, block)))
            return NULL;
        b->before = a->last;
        b->size = block;
        a->last = b;
        a->next = (char *)(b + 1);
        a->left = block - sizeof *b;
    }
    p = a->next;
    a->next += size;
    a->left -= size;
    return p;
}

void sl_arena_free(struct star *s, struct sl_arena *a)
{
    while (a->last) {
        struct sl_arena_block *b = a->last;

        a->last = b->before;
        sl_storage_free(s, b, b->size);
    }
    a->left = 0;
    a->next = NULL;
}
