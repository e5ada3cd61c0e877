#ifndef STATE_SEARCH_WORDS_H
#define STATE_SEARCH_WORDS_H

#include "base/arena.h"
#include "base/str.h"
#include "mapm/limits.h"

/* search_words: the words of a request that count, and what else means them. */

#define SEARCH_MAX_PHRASES 256

struct search_phrase {
    struct str text;
    size_t term;     /* the word of the request that it stands for */
    bool is_synonym; /* it counts less */
};

struct search_words {
    struct str terms[MATCH_MAX_WORDS]; /* in lower case, each once */
    size_t count;
    struct search_phrase phrases[SEARCH_MAX_PHRASES];
    size_t phrase_count;
};

/* Of at most QUERY_MAX_BYTES. In `a`. */
void search_words_read(struct search_words *w, struct str request,
                       struct arena *a);

/* An FTS5 query: any of the phrases. In `a`. */
struct str search_words_query(const struct search_words *w, struct arena *a);

#endif
