#ifndef STARLARK_TEXT_H
#define STARLARK_TEXT_H

#include "ops.h"

/*
 * Functions shared by the parts that handle strings: searching, code points,
 * letters and their case. All accept any bytes; each byte of invalid UTF-8
 * counts as U+FFFD.
 */

/* Returns the part [from, to) of a string or bytes, or `whole` itself if that
 * is all of it. */
value sl_substring(struct star *s, value whole, size_t from, size_t to);

/* Compares like memcmp; of two texts with a common prefix the shorter is less.
 * The first byte usually decides. */
static inline int sl_text_compare(value a, value b)
{
    const struct sl_string *x = sl_string(a), *y = sl_string(b);
    size_t n = x->length < y->length ? x->length : y->length;
    int order = 0;

    if (n) {
        order = (unsigned char)x->p[0] - (unsigned char)y->p[0];
        if (!order)
            order = memcmp(x->p, y->p, n);
    }
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Append long texts with checks of the budget; the second converts between
 * bytes and str as bytes() and str() do: invalid bytes become U+FFFD. */
bool sl_text_put_long(struct sl_text *t, const char *p, size_t length);
bool sl_text_put_valid(struct sl_text *t, const char *p, size_t length);

/* Copies like memcpy, with checks of the budget: new memory is written at about
 * a gigabyte per second. */
#define SL_COPY_PIECE SL_RARE(65536u, 16u)
bool sl_copy_long(struct star *s, char *to, const char *from, size_t n);
static inline bool sl_copy(struct star *s, char *to, const char *from, size_t n)
{
    if (n > SL_COPY_PIECE)
        return sl_copy_long(s, to, from, n);
    sl_owe(s, n / 64);
    if (n) /* p may be NULL for an empty text */
        memcpy(to, from, n);
    return true;
}

/* Inline variant of sl_text_append for the common case. */
static inline void sl_text_put(struct sl_text *t, const char *p, size_t n)
{
    if (n < t->capacity - t->length) {
        memcpy(t->p + t->length, p, n);
        t->length += n;
    } else {
        sl_text_append(t, p, n);
    }
}

/* Writes `n` in decimal before `end`, at most SL_DIGITS_BYTES, and returns its
 * first character. */
#define SL_DIGITS_BYTES 24
char *sl_digits(int64_t n, char *end);

/* --- searching: search.c; the first: sl_text_find, in ops.h ------------------- */

int64_t sl_text_find_last(struct star *s, const char *p, size_t length,
                          const char *needle, size_t needle_length);

/* --- code points: unicode.c --------------------------------------------------- */

#define SL_RUNE_INVALID 0xfffdu

/* Decodes the code point that ends at p + length; `length` is at least 1. */
uint32_t sl_rune_last(const char *p, size_t length, unsigned *width);

/* Simple case mappings, one to one as in Go: sharp s is unchanged. */
uint32_t sl_rune_upper(uint32_t r);
uint32_t sl_rune_lower(uint32_t r);
uint32_t sl_rune_title(uint32_t r);
bool sl_rune_is_cased(uint32_t r); /* whether another code point differs from
                                    * it only in case */

/* Classes of a code point, as flags. RUNE_PRINT: repr() shows it unescaped. */
enum {
    RUNE_LETTER = 1,
    RUNE_DIGIT = 2,
    RUNE_SPACE = 4,
    RUNE_UPPER = 8,
    RUNE_LOWER = 16,
    RUNE_TITLE = 32,
    RUNE_PRINT = 64
};
unsigned sl_rune_class(uint32_t r);

/* --- methods that have a file of their own ------------------------------------- */

sl_native sl_string_format; /* format.c */
/* lib_string_case.c */
sl_native sl_string_capitalize, sl_string_lower, sl_string_title,
    sl_string_upper, sl_string_isalnum, sl_string_isalpha, sl_string_isdigit,
    sl_string_islower, sl_string_isspace, sl_string_istitle, sl_string_isupper;

#endif
