#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

#include <stdarg.h>

/* buf: a growing text with a fixed maximum size. Appending past the maximum
 * only sets `overflowed`, so one check at the end is enough. Always
 * NUL-terminated. */

struct buf {
    char *p;
    size_t n, capacity, max;
    bool overflowed;
};

void buf_init(struct buf *b, size_t max_bytes);
void buf_done(struct buf *b);  /* frees the memory; may be called twice */
void buf_clear(struct buf *b); /* empties the text; keeps memory and maximum */

void buf_append(struct buf *b, struct str s);
void buf_text(struct buf *b, const char *text);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) PRINTF(2, 3);
void buf_vprintf(struct buf *b, const char *format, va_list args) PRINTF(2, 0);

/* Reserves `n` bytes, which the caller fills and then adds to b->n. Returns
 * NULL and sets `overflowed` if they exceed the maximum. */
char *buf_reserve(struct buf *b, size_t n);

struct str buf_str(const struct buf *b); /* borrowed until the next change */

/* Fails with ERR_LIMIT, naming `what`, if the buffer overflowed. */
MUST_CHECK bool buf_check(const struct buf *b, const char *what, struct err *e);

#endif
