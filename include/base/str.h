#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * str: text we look at. Pointer and length, borrowed, passed by value, no NUL
 * at the end, any byte inside. Compared by bytes, never by locale.
 */

struct str {
    const char *p;
    size_t n;
};

/* Several, borrowed. */
struct str_list {
    const struct str *items;
    size_t count;
};

#define STR(literal) ((struct str){"" literal "", sizeof(literal) - 1})
#define STR_INIT(literal)                                                      \
    {                                                                          \
        "" literal "", sizeof(literal) - 1                                     \
    }
#define STR_ARG(s) (int)(s).n, (s).p /* for "%.*s" */

/* Frequent comparisons are inline: the length of a literal is known then. */
static inline struct str str_make(const char *p, size_t n)
{
    return (struct str){p, n};
}

/* NULL gives the empty str. */
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
int str_cmp(struct str a, struct str b);        /* by bytes, then length */
/* `list` is in the order of str_cmp. */
bool str_in_sorted(const struct str *list, size_t count, struct str s);
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);

/* Index of the first (last) one; SIZE_MAX: none. */
size_t str_find(struct str s, struct str what);
size_t str_find_char(struct str s, char c);
size_t str_find_last(struct str s, char c);
bool str_has_char(struct str s, char c);

/* Clamped to `s`: never out of bounds. */
struct str str_slice(struct str s, size_t from, size_t to);
struct str str_from_index(struct str s, size_t from);
struct str str_trim(struct str s); /* blanks, tabs, CR, LF at both ends */

/*
 * Cuts `*rest` at the first `separator`: `*head` is what stood before it.
 * False once `*rest` is used up (an empty text yields one empty head).
 * Start with a rest that is not NULL; a finished one has p == NULL.
 */
bool str_cut(struct str *rest, char separator, struct str *head);

/* One line without its LF (and CR before it); false at the end of the text. */
bool str_line(struct str *rest, struct str *line);

/* In `a`, NUL-terminated. */
const char *str_dup0(struct str s, struct arena *a);
struct str str_lower(struct str s, struct arena *a); /* ASCII */
struct str str_join(struct str x, struct str y, struct arena *a);
struct str str_concat(const struct str *parts, size_t count, struct arena *a);

/* Whole decimal number without sign, or false. */
bool str_number(struct str s, uint64_t max, uint64_t *out);

static inline bool char_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool char_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

bool char_is_alpha(char c);
bool char_is_hex(char c); /* lower case only */

#endif
