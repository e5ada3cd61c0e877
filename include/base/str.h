#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* str: a read-only view of text: pointer and length, borrowed, passed by
 * value, not terminated by NUL, any byte inside. Compared by bytes,
 * independent of locale. */

struct str {
    const char *p;
    size_t n;
};

/* A list of strings, borrowed. */
struct str_list {
    const struct str *items;
    size_t count;
};

/* Number of elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

#define STR(literal) ((struct str){"" literal "", sizeof(literal) - 1})
#define STR_INIT(literal)                                                      \
    {                                                                          \
        "" literal "", sizeof(literal) - 1                                     \
    }
#define STR_ARG(s) (int)(s).n, (s).p /* for "%.*s" */

/* Frequent comparisons are inline, so that the length of a literal
 * is a constant. */
static inline struct str str_make(const char *p, size_t n)
{
    return (struct str){p, n};
}

/* Returns an empty str for NULL. */
static inline struct str str_cstr(const char *text)
{
    return text ? str_make(text, strlen(text)) : str_make("", 0);
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *text)
{
    return str_eq(a, str_cstr(text));
}

bool str_eq_nocase(struct str a, struct str b); /* ASCII letters only */
int str_cmp(struct str a, struct str b);        /* bytes first, then length */
/* `list` must be sorted by str_cmp. */
bool str_in_sorted(const struct str *list, size_t count, struct str s);
bool str_in(const struct str *list, size_t count, struct str s); /* unsorted */
void str_sort(struct str *list, size_t count); /* by str_cmp */

/* Returns whether `s` is in `words`, an array of C strings. */
#define STR_IS_ONE_OF(s, words) str_is_one_of(s, words, COUNT(words))
bool str_is_one_of(struct str s, const char *const *words, size_t count);

/* Sorts an array of structs by a member of type struct str. */
#define STR_SORT_BY(items, count, member)                                      \
    str_sort_by(items, count, sizeof *(items),                                 \
                offsetof(__typeof__(*(items)), member))
void str_sort_by(void *items, size_t count, size_t size, size_t offset);

/* Returns the lower bound of `s`: the index of the first item with a member
 * >= `s`, or `count`. A binary search; the items must be sorted by the member. */
#define STR_FIRST_AT(items, count, member, s)                                  \
    str_first_at(items, count, sizeof *(items),                                \
                 offsetof(__typeof__(*(items)), member), s)
size_t str_first_at(const void *items, size_t count, size_t size, size_t offset,
                    struct str s);

bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);

/* Return the index of the first (or last) occurrence, or SIZE_MAX. */
size_t str_find(struct str s, struct str what);
size_t str_find_char(struct str s, char c);
size_t str_find_last(struct str s, char c);
bool str_has_char(struct str s, char c);

/* Indices beyond the end of `s` are limited to its length. */
struct str str_slice(struct str s, size_t from, size_t to);
struct str str_from_index(struct str s, size_t from);
struct str str_trim(struct str s); /* blanks, tabs, CR, LF at both ends */

/* Splits `*rest` at the first `separator`: `*head` is the part before
 * it, `*rest` the part after it. Returns false when no part is left; an
 * empty text has one empty part. Start with rest->p not NULL; it is NULL
 * after the last part. */
bool str_cut(struct str *rest, char separator, struct str *head);

/* Gets the next line without its LF or CRLF; returns false at the
 * end of the text. */
bool str_line(struct str *rest, struct str *line);

/* Return a copy allocated in `a`, terminated by NUL. */
const char *str_dup0(struct str s, struct arena *a);
struct str str_lower(struct str s, struct arena *a); /* ASCII */
struct str str_join(struct str x, struct str y, struct arena *a);
/* All of them, `between` in between. In `a`. */
struct str str_list_join(struct str_list words, const char *between,
                         struct arena *a);
struct str str_concat(const struct str *parts, size_t count, struct arena *a);

/* Parses an unsigned decimal number of at most `max`; returns false
 * for other text. */
bool str_number(struct str s, uint64_t max, uint64_t *out);

static inline bool char_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool char_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Returns the value of a hexadecimal digit of either case, or -1. */
static inline int char_hex(char c)
{
    if (char_is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool str_is_digits(struct str s); /* at least one */
bool str_is_hex(struct str s);    /* lower case only; also "" */
bool str_is_ascii(struct str s);

bool char_is_alpha(char c);
bool char_is_hex(char c); /* lower case only */

#endif
