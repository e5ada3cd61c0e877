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
 * not depend on what else is in mapm.db. A synonym, and a word within a word of
 * a name, counts half. Source: G1, G2.
 */

struct rating {
    float sum;     /* of the words: bm25 */
    float met;     /* of `total`: how much of the request it has */
    float name;    /* 0 to 1: how much of its name the request has */
    uint64_t mask; /* words of the request */
    float score;   /* ranking_end(): what the order is by … */
    float fit;     /* … and 0 to 1, how well it fits */
};

struct ranking {
    const struct search_words *words;
    struct search_texts *const *sources;
    size_t source_count;
    struct rating **ratings; /* [source][entry] */
    double count;            /* of entries */
    double weight[MATCH_MAX_WORDS], phrase_weight[SEARCH_MAX_PHRASES];
    double have[MATCH_MAX_WORDS]; /* so many entries have the word */
    double total, max;            /* of all words; of one that no entry has */
    bool is_ready;
    /* of the row at hand */
    unsigned hits[SEARCH_MAX_PHRASES][3];
};

/* In `a`. */
void ranking_begin(struct ranking *r, const struct search_words *words,
                   struct search_texts *const *sources, size_t count,
                   struct arena *a);
/* Rates the entries with words of the request, by FTS5. */
MUST_CHECK bool ranking_rate(struct ranking *r, struct state *s,
                             struct arena *a, struct err *e);
/* Words within the words of names. */
void ranking_add_parts(struct ranking *r);
/* `literal`: in its name (2), in its text (1), nowhere (0). */
void ranking_end(const struct ranking *r, struct rating *rating,
                 unsigned literal);

#endif
