#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (lower(a.p[i]) != lower(b.p[i]))
            return false;
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;

    if (order != 0)
        return order;
    return (a.n > b.n) - (a.n < b.n);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n && str_eq(str_make(s.p, prefix.n), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.n >= suffix.n &&
           str_eq(str_make(s.p + s.n - suffix.n, suffix.n), suffix);
}

size_t str_find(struct str s, struct str what)
{
    const char *at;

    if (what.n == 0)
        return 0;
    at = s.n ? memmem(s.p, s.n, what.p, what.n) : NULL;
    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_find_char(struct str s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_find_last(struct str s, char c)
{
    const char *at = s.n ? memrchr(s.p, c, s.n) : NULL;

    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

bool str_has_char(struct str s, char c)
{
    return str_find_char(s, c) != SIZE_MAX;
}

struct str str_slice(struct str s, size_t from, size_t to)
{
    if (to > s.n)
        to = s.n;
    if (from > to)
        from = to;
    /* Adding to NULL is undefined, even 0. */
    return str_make(s.p ? s.p + from : s.p, to - from);
}

struct str str_from_index(struct str s, size_t from)
{
    return str_slice(s, from, s.n);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
    while (s.n && is_blank(s.p[0]))
        s = str_from_index(s, 1);
    while (s.n && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

bool str_cut(struct str *rest, char separator, struct str *head)
{
    size_t at;

    if (!rest->p)
        return false;
    at = str_find_char(*rest, separator);
    if (at == SIZE_MAX) {
        *head = *rest;
        *rest = (struct str){NULL, 0};
        return true;
    }
    *head = str_slice(*rest, 0, at);
    *rest = str_from_index(*rest, at + 1);
    return true;
}

bool str_line(struct str *rest, struct str *line)
{
    if (rest->n == 0)
        return false;
    if (!str_cut(rest, '\n', line))
        return false;
    if (line->n && line->p[line->n - 1] == '\r')
        line->n--;
    return true;
}

const char *str_dup0(struct str s, struct arena *a)
{
    return arena_text(a, s.p, s.n);
}

struct str str_concat(const struct str *parts, size_t count, struct arena *a)
{
    size_t n = 0;
    char *text;

    for (size_t i = 0; i < count; i++)
        n += parts[i].n;
    text = arena_alloc(a, n + 1);
    n = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].n)
            memcpy(text + n, parts[i].p, parts[i].n);
        n += parts[i].n;
    }
    return str_make(text, n);
}

bool str_in(const struct str *list, size_t count, struct str s)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(list[i], s))
            return true;
    return false;
}

bool str_is_one_of(struct str s, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_is(s, words[i]))
            return true;
    return false;
}

static struct str member_of(const void *item, size_t offset)
{
    struct str s;

    memcpy(&s, (const char *)item + offset, sizeof s);
    return s;
}

static int by_member(const void *x, const void *y, void *offset)
{
    const size_t at = *(const size_t *)offset;

    return str_cmp(member_of(x, at), member_of(y, at));
}

void str_sort_by(void *items, size_t count, size_t size, size_t offset)
{
    if (count)
        qsort_r(items, count, size, by_member, &offset);
}

void str_sort(struct str *list, size_t count)
{
    str_sort_by(list, count, sizeof *list, 0);
}

size_t str_first_at(const void *items, size_t count, size_t size, size_t offset,
                    struct str s)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *item = (const char *)items + middle * size;

        if (str_cmp(member_of(item, offset), s) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool str_in_sorted(const struct str *list, size_t count, struct str s)
{
    size_t i = str_first_at(list, count, sizeof *list, 0, s);

    return i < count && str_eq(list[i], s);
}

struct str str_lower(struct str s, struct arena *a)
{
    char *copy = arena_text(a, s.p, s.n);

    for (size_t i = 0; i < s.n; i++)
        copy[i] = lower(copy[i]);
    return str_make(copy, s.n);
}

struct str str_join(struct str x, struct str y, struct arena *a)
{
    char *copy = arena_alloc(a, x.n + y.n + 1);

    if (x.n)
        memcpy(copy, x.p, x.n);
    if (y.n)
        memcpy(copy + x.n, y.p, y.n);
    return str_make(copy, x.n + y.n);
}

bool str_number(struct str s, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;

    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!char_is_digit(s.p[i]) ||
            __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(s.p[i] - '0'), &value))
            return false;
    }
    if (value > max)
        return false;
    *out = value;
    return true;
}

bool str_is_digits(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!char_is_digit(s.p[i]))
            return false;
    return s.n > 0;
}

bool str_is_hex(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!char_is_hex(s.p[i]))
            return false;
    return true;
}

bool str_is_ascii(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    return true;
}

bool char_is_alpha(char c)
{
    return char_is_lower(lower(c));
}

bool char_is_hex(char c)
{
    return char_is_digit(c) || (c >= 'a' && c <= 'f');
}

struct str str_list_join(struct str_list words, const char *between,
                         struct arena *a)
{
    struct str text = STR("");

    for (size_t i = 0; i < words.count; i++)
        text = arena_join(text, between, words.items[i], a);
    return text;
}
