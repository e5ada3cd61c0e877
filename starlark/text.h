#ifndef STARLARK_TEXT_H
#define STARLARK_TEXT_H

#include "ops.h"

/*
 * text: what the parts that handle strings share: searching, code points,
 * letters and their case. All of it takes any bytes; what is no valid UTF-8
 * counts as U+FFFD, one for each byte.
 */

/* The part [from, to) of a string or bytes; `whole` itself when it is all. */
value sl_substring(struct star *s, value whole, size_t from, size_t to);

/* As memcmp: bytewise, and the shorter of two equal beginnings is less. The
 * first byte decides mostly. */
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

/* As bytes() and str() turn one into the other: invalid bytes become U+FFFD. */
bool sl_text_put_valid(struct sl_text *t, const char *p, size_t length);

/* As memcpy, with looks at the budget on the way: new memory comes at no more
 * than a gigabyte a second. */
#define SL_COPY_PIECE 65536u
bool sl_copy_long(struct star *s, char *to, const char *from, size_t n);
static inline bool sl_copy(struct star *s, char *to, const char *from, size_t n)
{
    if (n > SL_COPY_PIECE)
        return sl_copy_long(s, to, from, n);
    if (n) /* nothing may have no address */
        memcpy(to, from, n);
    return true;
}

/* Appends like sl_text_append; the common case needs no call. */
static inline void sl_text_put(struct sl_text *t, const char *p, size_t n)
{
    if (n < t->capacity - t->length) {
        memcpy(t->p + t->length, p, n);
        t->length += n;
    } else {
        sl_text_append(t, p, n);
    }
}

/* In decimal, before `end`: at most SL_DIGITS_BYTES. Gives the first. */
#define SL_DIGITS_BYTES 24
char *sl_digits(int64_t n, char *end);
void sl_text_put_int(struct sl_text *t, int64_t n);

/* --- eight bytes at a time ---------------------------------------------------- */

#define SL_EACH_BYTE(c) (0x0101010101010101u * (unsigned char)(c))

static inline uint64_t sl_load8(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

static inline void sl_store8(char *p, uint64_t v)
{
    memcpy(p, &v, sizeof v);
}

/* Bit 7 of every byte that is zero, and no other. */
static inline uint64_t sl_zero_bytes(uint64_t v)
{
    const uint64_t low = SL_EACH_BYTE(0x7f);

    return ~(((v & low) + low) | v | low);
}

/* --- searching: search.c ---------------------------------------------------- */

/* A needle, and what was learnt about it and the texts searched so far: one for
 * all searches of one operation. Linear time, whatever the texts. */
struct sl_search {
    struct star *s;
    const char *needle;
    size_t length;
    size_t advanced, wasted; /* bytes passed; compared for nothing */
    size_t owed;             /* bytes looked at that were not charged yet */
    bool two_way, reverse, periodic;
    size_t suffix, period; /* of the two-way search */
};
static inline struct sl_search sl_search_for(struct star *s, const char *needle,
                                             size_t length)
{
    return (struct sl_search){.s = s, .needle = needle, .length = length};
}
/* The offset of the first (last) occurrence; -1: none; -2: a budget ended. One
 * sl_search is good for one direction. */
int64_t sl_search_first(struct sl_search *q, const char *p, size_t length);
int64_t sl_search_last(struct sl_search *q, const char *p, size_t length);

/* --- code points: unicode.c --------------------------------------------------- */

#define SL_RUNE_INVALID 0xfffdu

/* The code point that ends at p + length, which is at least 1. */
uint32_t sl_rune_last(const char *p, size_t length, unsigned *width);

/* Code points, invalid bytes included. False: a budget ended. */
bool sl_rune_count(struct star *s, const char *p, size_t length, size_t *out);

/* One to one, as in Go: no code point becomes two, and sharp s stays. */
uint32_t sl_rune_upper(uint32_t r);
uint32_t sl_rune_lower(uint32_t r);
uint32_t sl_rune_title(uint32_t r);

bool sl_rune_is_letter(uint32_t r);
bool sl_rune_is_digit(uint32_t r);
bool sl_rune_is_space(uint32_t r);
bool sl_rune_is_upper(uint32_t r); /* category Lu; then Ll, Lt */
bool sl_rune_is_lower(uint32_t r);
bool sl_rune_is_title(uint32_t r);
bool sl_rune_is_cased(uint32_t r); /* differs from a code point in case only */
bool sl_rune_is_print(uint32_t r); /* repr() shows it as it is */

static inline bool sl_is_ascii_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* --- methods that have a file of their own ------------------------------------- */

sl_native sl_string_format; /* format.c */
sl_native sl_string_join;   /* lib_string_join.c */
/* lib_string_case.c */
sl_native sl_string_capitalize, sl_string_lower, sl_string_title,
    sl_string_upper, sl_string_isalnum, sl_string_isalpha, sl_string_isdigit,
    sl_string_islower, sl_string_isspace, sl_string_istitle, sl_string_isupper;
/* lib_string_split.c */
sl_native sl_string_partition, sl_string_rpartition, sl_string_rsplit,
    sl_string_split, sl_string_splitlines, sl_string_strip, sl_string_lstrip,
    sl_string_rstrip;

/* Argument `i` as a string, or the error that it is none. */
bool sl_want_string(struct star *s, const struct sl_call *c, uint32_t i,
                    struct sl_string **out);

#endif
