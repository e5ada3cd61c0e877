#include "base/buf.h"

#include "base/invariant.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void buf_init(struct buf *b, size_t max_bytes)
{
    *b = (struct buf){.max = max_bytes};
}

void buf_done(struct buf *b)
{
    heap_free(b->p);
    buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->overflowed = false;
    if (b->p)
        b->p[0] = '\0';
}

/* If memory is allocated, the text ends with a NUL that `n` does not count. */
static bool is_sound(const struct buf *b)
{
    return b->n <= b->max &&
           (b->p ? b->n < b->capacity : !b->n && !b->capacity);
}

char *buf_reserve(struct buf *b, size_t n)
{
    size_t wanted;

    INVARIANT(is_sound(b));
    if (b->overflowed || n > b->max - b->n) {
        b->overflowed = true;
        return NULL;
    }
    if (b->n + n + 1 > b->capacity) {
        wanted = b->capacity ? b->capacity * 2 : 256;
        if (wanted < b->n + n + 1)
            wanted = b->n + n + 1;
        b->p = heap_resize(b->p, wanted);
        b->capacity = wanted;
    }
    b->p[b->n + n] = '\0';
    return b->p + b->n;
}

void buf_append(struct buf *b, struct str s)
{
    char *room = buf_reserve(b, s.n);

    if (!room)
        return;
    if (s.n)
        memcpy(room, s.p, s.n);
    b->n += s.n;
    INVARIANT(is_sound(b) && b->p[b->n] == '\0');
}

void buf_text(struct buf *b, const char *text)
{
    buf_append(b, str_cstr(text));
}

void buf_char(struct buf *b, char c)
{
    buf_append(b, str_make(&c, 1));
}

/* Formats into the available space, and again after growing if that
 * was too small. */
void buf_vprintf(struct buf *b, const char *format, va_list args)
{
    size_t room = b->p && !b->overflowed ? b->capacity - b->n : 0;
    char *at = room ? b->p + b->n : NULL;
    va_list again;
    int n;

    va_copy(again, args);
    n = vsnprintf(at, room, format, args);
    if (n >= 0 && (size_t)n < room && (size_t)n <= b->max - b->n) {
        b->n += (size_t)n;
        va_end(again);
        return;
    }
    at = n < 0 ? NULL : buf_reserve(b, (size_t)n);
    if (at) {
        vsnprintf(at, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    } else if (b->p) {
        b->p[b->n] = '\0';
    }
    va_end(again);
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buf_vprintf(b, format, args);
    va_end(args);
}

struct str buf_str(const struct buf *b)
{
    INVARIANT(is_sound(b));
    return b->p ? str_make(b->p, b->n) : str_make("", 0);
}

bool buf_check(const struct buf *b, const char *what, struct err *e)
{
    if (!b->overflowed)
        return true;
    return err_set(e, ERR_LIMIT, "%s: larger than %zu bytes", what, b->max);
}
