#include "base/text.h"
#include "mapm/limits.h"

#include "catalog.h"

/* Mentions of skills in a request: "/name …" and "$name". Source: L12, K18. */

static bool is_name_char(char c)
{
    return char_is_lower(c) || char_is_digit(c) || c == '-';
}

/* Returns whether the word ends before `at`: no letter, digit, "_" or "-"
 * follows. */
static bool is_boundary(struct str text, size_t at)
{
    int32_t c;

    if (at >= text.n)
        return true;
    c = text_next(text, &at);
    return c != '_' && c != '-' && !text_is_word(c);
}

/* "x$name" is not a mention, but a price, a variable or a path. */
static bool follows_word(struct str text, size_t at)
{
    size_t start = at;

    if (at == 0)
        return false;
    do
        start--;
    while (start > 0 && at - start < 4 &&
           ((unsigned char)text.p[start] & 0xc0) == 0x80);
    return text_is_word(text_next(str_slice(text, start, at), &(size_t){0}));
}

/* Returns the name at `at`, without a trailing "-", which belongs to the
 * sentence. */
static struct str name_at(struct str text, size_t at)
{
    size_t end = at;

    while (end < text.n && is_name_char(text.p[end]))
        end++;
    if (!is_boundary(text, end))
        return STR("");
    while (end > at && text.p[end - 1] == '-')
        end--;
    return str_slice(text, at, end);
}

const struct library_skill *library_slash(const struct library *l,
                                          struct str text, struct str *rest)
{
    const struct library_skill *found;
    size_t end = 0;

    text = text_strip(text);
    if (!str_starts(text, STR("/")))
        return NULL;
    text = str_from_index(text, 1);
    while (end < text.n && is_name_char(text.p[end]))
        end++;
    if (end < text.n && text_strip(str_from_index(text, end)).n == text.n - end)
        return NULL; /* "/name" not followed by white space */
    found = library_find(l, str_slice(text, 0, end));
    if (found && rest)
        *rest = text_strip(str_from_index(text, end));
    return found;
}

static bool is_among(const struct library_skill *const *items, size_t count,
                     const struct library_skill *s)
{
    for (size_t i = 0; i < count; i++)
        if (items[i] == s)
            return true;
    return false;
}

const struct library_skill **library_mentions(const struct library *l,
                                              struct str text, struct arena *a,
                                              size_t *count)
{
    const struct library_skill **items = NULL;
    size_t n = 0, capacity = 0;

    for (size_t i = 0; i < text.n && n < MENTIONS_MAX; i++) {
        const struct library_skill *s;

        if (text.p[i] != '$' || follows_word(text, i))
            continue;
        s = library_find(l, name_at(text, i + 1));
        if (!s || is_among(items, n, s))
            continue;
        items = arena_grow(a, items, n, &capacity, sizeof *items);
        items[n++] = s;
    }
    *count = n;
    return items;
}
