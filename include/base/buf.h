#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

#include <stdarg.h>

/*
 * buf: text we build. It has a maximum from birth; past it, it only remembers
 * that it overflowed, so one check at the end is enough. Always NUL-terminated.
 */

struct buf {
    char *p;
    size_t n, capacity, max;
    bool overflowed;
};

void buf_init(struct buf *b, size_t max_bytes);
void buf_done(struct buf *b);  /* frees; twice is harmless */
void buf_clear(struct buf *b); /* keeps the memory and the maximum */

void buf_append(struct buf *b, struct str s);
void buf_text(struct buf *b, const char *text);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) PRINTF(2, 3);
void buf_vprintf(struct buf *b, const char *format, va_list args) PRINTF(2, 0);

/* Reserves `n` more bytes, to be filled by the caller, which then adds to
 * b->n; NULL beyond the maximum (overflowed is set). */
char *buf_reserve(struct buf *b, size_t n);

struct str buf_str(const struct buf *b); /* borrowed until the next change */

/* ERR_LIMIT naming `what` when it overflowed. */
MUST_CHECK bool buf_check(const struct buf *b, const char *what, struct err *e);

#endif
