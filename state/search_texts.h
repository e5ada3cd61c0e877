#ifndef STATE_SEARCH_TEXTS_H
#define STATE_SEARCH_TEXTS_H

#include "base/needle.h"
#include "mapm/state_search.h"

/*
 * search_texts: names, and descriptions with tags, of one source in lower case
 * one after the other, for what FTS5 cannot find: parts of words. A blob beside
 * the entries:
 *
 *     count   row, flags and numbers of words, name, text   …
 *     names, each with NUL   texts likewise
 *
 * Numbers are little-endian. Bytes that come back are checked.
 */

/* Bits of an entry's id for its number in the source. */
#define SEARCH_ROW_BITS 24

struct search_texts {
    struct arena a;
    uint64_t source;
    struct str stamp;
    struct str bytes;
    size_t count, names, texts; /* number of entries, and offsets of names
                                 * and texts */
    uint32_t *at;               /* row, flags, name, text of each entry */
    uint32_t *entry;            /* by row: index of the entry + 1 */
    size_t rows;
};

/* Formats the blob, allocated in `a`; `rows` contains the number of each
 * entry. */
struct str search_texts_format(const struct search_entry *entries,
                               const uint32_t *rows, size_t count,
                               struct arena *a);
/* Parses a blob, which borrows `bytes`; the rest is allocated in `a`. Returns
 * false if it is damaged. */
bool search_texts_parse(struct str bytes, struct arena *a,
                        struct search_texts *out);

uint32_t search_texts_row(const struct search_texts *t, size_t i);
bool search_texts_hidden(const struct search_texts *t, size_t i);
/* Return the number of words of the name and of the description. */
unsigned search_texts_name_words(const struct search_texts *t, size_t i);
unsigned search_texts_words(const struct search_texts *t, size_t i);
struct str search_texts_name(const struct search_texts *t, size_t i);
struct str search_texts_text(const struct search_texts *t, size_t i);
/* Returns the entry of a row, or SIZE_MAX. */
size_t search_texts_find(const struct search_texts *t, uint64_t row);

/* Returns the next entry whose name (or text) contains the query, or SIZE_MAX.
 * `*at` starts at 0. */
size_t search_texts_next_name(const struct search_texts *t,
                              const struct needle *what, size_t *at);
size_t search_texts_next_text(const struct search_texts *t,
                              const struct needle *what, size_t *at);

#endif
