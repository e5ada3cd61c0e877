#ifndef STATE_RANKING_H
#define STATE_RANKING_H

#include "database.h"
#include "search_texts.h"
#include "search_words.h"

/*
 * ranking: how well each entry fits the words of a request.
 *
 *     FTS5 --a row that has any of them--> rate_entry() --> struct rating
 *
 * Bm25 with a constant length of the average description, so that a score does
 * not depend on what else is in mapm.db. A synonym, the beginning of a long word,
 * and a word within a word of a name count less. The most common words of English
 * are in most entries: only the best entries are searched for them, in their
 * texts. Source: G1, G2.
 */

struct rating {
    float sum;     /* bm25 score of the words */
    float met;     /* weight of the matching words, out of `total` */
    float common;  /* weight of the most common words that match, out of
                    * `common` */
    float name;    /* share of the name that the request contains, 0 to 1 */
    uint64_t mask; /* matching words of the request, one bit each */
    float score;   /* set by ranking_end(): the sort key */
    float fit;     /* set by ranking_end(): quality of the match, 0 to 1 */
};

struct ranking {
    const struct search_words *words;
    struct search_texts *const *sources;
    size_t source_count;
    struct rating **ratings; /* [source][entry] */
    double count;            /* number of entries */
    double weight[MATCH_MAX_WORDS], phrase_weight[SEARCH_MAX_PHRASES];
    double have[MATCH_MAX_WORDS]; /* per word: number of entries that contain
                                   * it */
    double total, max;            /* weight of all words; weight of a word
                                   * that no entry contains */
    double common;                /* weight of the most common words */
    /* words of the request, one bit each */
    uint64_t specific; /* not of general English */
    uint64_t unknown;  /* no entry contains it, or another word for it */
    double unknown_weight;
    size_t unknown_count;
    bool is_ready;
    /* hits of the current row */
    double hits[SEARCH_MAX_PHRASES][3];
};

/* Allocated in `a`. */
void ranking_begin(struct ranking *r, const struct search_words *words,
                   struct search_texts *const *sources, size_t count,
                   struct arena *a);
/* Rates the entries that contain words of the request, with FTS5. */
MUST_CHECK bool ranking_rate(struct ranking *r, struct state *s,
                             struct arena *a, struct err *e);
/* Adds words of the request that are parts of words in names. */
void ranking_add_parts(struct ranking *r);
/* Returns the weight of a most common word that `have` of `count` entries
 * contain. */
double ranking_common_weight(const struct ranking *r, size_t have,
                             size_t count);
/* `literal`: the request occurs in the name (2), the text (1), or neither
 * (0). */
void ranking_end(const struct ranking *r, struct rating *rating,
                 unsigned literal);

#endif
