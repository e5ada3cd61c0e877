#include "search_texts.h"

#include "base/text.h"
#include "mapm/limits.h"

#include <endian.h>
#include <string.h>

/* Layout of the second number: the flag, then the number of words of the name
 * and of the text. */
#define FLAG_HIDDEN    1u
#define NAME_WORDS_AT  1
#define NAME_WORDS_MAX 0x7fu
#define WORDS_AT       8
#define WORDS_MAX      0xffffffu
#define ENTRY_WORDS    4 /* row, flags, name, text */

enum { ROW, FLAGS, NAME, TEXT };

/* --- writing ---------------------------------------------------------------- */

static void put_number(struct buf *b, size_t n)
{
    uint32_t little = htole32((uint32_t)n);

    buf_append(b, str_make((const char *)&little, sizeof little));
}

/* Texts end with NUL, which no query contains, so that no match spans two
 * texts. */
static void put_text(struct buf *b, struct str s, char end)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str lower = text_lower(s, &a);

    for (size_t i = 0; i < lower.n; i++)
        buf_char(b, lower.p[i] ? lower.p[i] : ' ');
    buf_char(b, end);
}

static unsigned count_words(struct str text, unsigned max)
{
    unsigned n = 0;
    bool inside = false;

    for (size_t i = 0; i < text.n && n < max; i++) {
        char c = text.p[i];
        bool is_word = (unsigned char)c >= 0x80 || char_is_digit(c) ||
                       char_is_lower((char)(c | 0x20));

        n += is_word && !inside;
        inside = is_word;
    }
    return n;
}

static uint32_t flags_of(const struct search_entry *n)
{
    return (n->hidden ? FLAG_HIDDEN : 0) |
           count_words(n->name, NAME_WORDS_MAX) << NAME_WORDS_AT |
           count_words(n->description, WORDS_MAX) << WORDS_AT;
}

struct str search_texts_format(const struct search_entry *entries,
                               const uint32_t *rows, size_t count,
                               struct arena *a)
{
    CLEANUP(buf_done) struct buf head = {0}, names = {0}, texts = {0};
    size_t start = (1 + ENTRY_WORDS * count) * sizeof(uint32_t);
    uint32_t *at = arena_array(a, 2 * count + 1, sizeof *at);

    buf_init(&head, SEARCH_MAX_BYTES);
    buf_init(&names, SEARCH_MAX_BYTES);
    buf_init(&texts, SEARCH_MAX_BYTES);
    for (size_t i = 0; i < count; i++) {
        const struct search_entry *n = &entries[i];

        at[2 * i] = (uint32_t)names.n;
        at[2 * i + 1] = (uint32_t)texts.n;
        put_text(&names, n->name, '\0');
        put_text(&texts, n->description, n->tags.n ? '\n' : '\0');
        if (n->tags.n)
            put_text(&texts, n->tags, '\0');
    }
    put_number(&head, count);
    for (size_t i = 0; i < count; i++) {
        put_number(&head, rows[i]);
        put_number(&head, flags_of(&entries[i]));
        put_number(&head, start + at[2 * i]);
        put_number(&head, start + names.n + at[2 * i + 1]);
    }
    buf_append(&head, buf_str(&names));
    buf_append(&head, buf_str(&texts));
    return head.overflowed || names.overflowed || texts.overflowed
               ? STR("")
               : arena_str(a, buf_str(&head));
}

/* --- reading ---------------------------------------------------------------- */

static uint32_t number_at(const struct search_texts *t, size_t i, size_t which)
{
    return t->at[ENTRY_WORDS * i + which];
}

/* Returns whether the text begins behind the previous one. Whether a NUL ends
 * that one is not read: it would touch each page of the texts, and a damaged
 * text is only found wrongly, within bounds. */
static bool is_text_start(const struct search_texts *t, size_t i, size_t which,
                          size_t first)
{
    size_t at = number_at(t, i, which);

    return i == 0 ? at == first
                  : at > number_at(t, i - 1, which) && at < t->bytes.n;
}

static bool check_texts(const struct search_texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (!is_text_start(t, i, NAME, t->names) ||
            !is_text_start(t, i, TEXT, t->texts) ||
            number_at(t, i, NAME) >= t->texts)
            return false;
    return t->count == 0 || (t->bytes.p[t->bytes.n - 1] == '\0' &&
                             t->bytes.p[t->texts - 1] == '\0');
}

static bool number_rows(struct search_texts *t, struct arena *a)
{
    for (size_t i = 0; i < t->count; i++) {
        uint32_t row = number_at(t, i, ROW);

        if (row > 2 * t->count + SEARCH_ROWS_SLACK)
            return false;
        if (row >= t->rows)
            t->rows = row + 1;
    }
    t->entry = arena_array(a, t->rows + 1, sizeof *t->entry);
    for (size_t i = 0; i < t->count; i++)
        t->entry[number_at(t, i, ROW)] = (uint32_t)i + 1;
    return true;
}

bool search_texts_parse(struct str bytes, struct arena *a,
                        struct search_texts *out)
{
    struct search_texts t = {.bytes = bytes};
    uint32_t count;

    if (bytes.n < sizeof count || bytes.n > SEARCH_MAX_BYTES)
        return false;
    memcpy(&count, bytes.p, sizeof count);
    t.count = le32toh(count);
    t.names = (1 + ENTRY_WORDS * t.count) * sizeof(uint32_t);
    if (t.count > SEARCH_MAX_ENTRIES || t.names > bytes.n)
        return false;
    t.at = arena_array(a, ENTRY_WORDS * t.count + 1, sizeof *t.at);
    memcpy(t.at, bytes.p + sizeof count,
           ENTRY_WORDS * t.count * sizeof(uint32_t));
    for (size_t i = 0; i < ENTRY_WORDS * t.count; i++)
        t.at[i] = le32toh(t.at[i]);
    t.texts = t.count ? number_at(&t, 0, TEXT) : bytes.n;
    if (t.texts < t.names || t.texts > bytes.n ||
        (t.count && (t.texts == t.names || t.texts == bytes.n)) ||
        !check_texts(&t) || !number_rows(&t, a))
        return false;
    *out = t;
    return true;
}

uint32_t search_texts_row(const struct search_texts *t, size_t i)
{
    return number_at(t, i, ROW);
}

bool search_texts_hidden(const struct search_texts *t, size_t i)
{
    return number_at(t, i, FLAGS) & FLAG_HIDDEN;
}

unsigned search_texts_name_words(const struct search_texts *t, size_t i)
{
    return number_at(t, i, FLAGS) >> NAME_WORDS_AT & NAME_WORDS_MAX;
}

unsigned search_texts_words(const struct search_texts *t, size_t i)
{
    return number_at(t, i, FLAGS) >> WORDS_AT;
}

static size_t end_of(const struct search_texts *t, size_t i, size_t which)
{
    if (i + 1 < t->count)
        return number_at(t, i + 1, which) - 1;
    return (which == NAME ? t->texts : t->bytes.n) - 1;
}

struct str search_texts_name(const struct search_texts *t, size_t i)
{
    return str_slice(t->bytes, number_at(t, i, NAME), end_of(t, i, NAME));
}

struct str search_texts_text(const struct search_texts *t, size_t i)
{
    return str_slice(t->bytes, number_at(t, i, TEXT), end_of(t, i, TEXT));
}

size_t search_texts_find(const struct search_texts *t, uint64_t row)
{
    return row < t->rows && t->entry[row] ? t->entry[row] - 1 : SIZE_MAX;
}

static size_t entry_at(const struct search_texts *t, size_t at, size_t which)
{
    size_t low = 0, high = t->count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (number_at(t, middle, which) <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static size_t next_in(const struct search_texts *t, struct str part,
                      size_t start, size_t which, const struct needle *what,
                      size_t *at)
{
    size_t found = text_search(part, what, *at), i;

    if (found == SIZE_MAX)
        return SIZE_MAX;
    i = entry_at(t, start + found, which);
    *at = end_of(t, i, which) + 1 - start; /* report each entry once */
    return i;
}

size_t search_texts_next_name(const struct search_texts *t,
                              const struct needle *what, size_t *at)
{
    return next_in(t, str_slice(t->bytes, t->names, t->texts), t->names, NAME,
                   what, at);
}

size_t search_texts_next_text(const struct search_texts *t,
                              const struct needle *what, size_t *at)
{
    return next_in(t, str_from_index(t->bytes, t->texts), t->texts, TEXT, what,
                   at);
}
