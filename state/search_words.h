#ifndef STATE_SEARCH_WORDS_H
#define STATE_SEARCH_WORDS_H

#include "base/arena.h"
#include "base/str.h"
#include "mapm/limits.h"

/* search_words: the significant words of a request, their synonyms and their
 * beginnings. Words of general English (state/general_words.txt) are marked, or
 * are no terms: the most common. */

#define SEARCH_MAX_PHRASES 256

enum search_phrase_kind {
    SEARCH_WORD,    /* the word as it is in the request */
    SEARCH_SYNONYM, /* another word for it */
    SEARCH_JOINED,  /* it and its neighbour, as "codebase" for "code base" */
    SEARCH_PREFIX,  /* the beginning of a long word, as "transcri" of
                     * "transcribe" for "transcription" */
};

struct search_phrase {
    struct str text;
    size_t term; /* index of the request's word that the phrase represents */
    enum search_phrase_kind kind;
};

struct search_words {
    struct str terms[MATCH_MAX_WORDS]; /* lower case, without duplicates */
    bool is_general[MATCH_MAX_WORDS];  /* tells little, however rare it is */
    size_t count;
    struct str common[MATCH_MAX_WORDS]; /* the most common: no terms */
    size_t common_count;
    bool are_keywords; /* the request is a few words, all of them terms */
    struct search_phrase phrases[SEARCH_MAX_PHRASES];
    size_t phrase_count;
};

/* Splits a request of at most QUERY_MAX_BYTES. Allocated in `a`. */
void search_words_read(struct search_words *w, struct str request,
                       struct arena *a);

/* Returns which of the most common words a text in lower case contains, one bit
 * each. */
uint64_t search_words_find_common(const struct search_words *w,
                                  struct str text);

/* Returns an FTS5 query for any of the phrases, allocated in `a`. */
struct str search_words_query(const struct search_words *w, struct arena *a);

#endif
