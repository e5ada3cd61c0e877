#include "ranking.h"

#include "base/text.h"

#include <math.h>

#define K1          0.8
#define NAME_WEIGHT 2.0 /* weight of a hit in a name */
#define TAG_WEIGHT  1.5
/* A hit in the first words of a description, which name its subject. */
#define EARLY_WEIGHT     1.5
#define EARLY_WORDS      12
#define DESCRIPTION_BEND 0.85 /* influence of the length of a text */
#define NAME_BEND        0.5
#define DESCRIPTION_MEAN 45.0 /* average number of words of real skills */
#define NAME_MEAN        2.5
/* Smaller collections are weighted as if they had so many entries. */
#define COUNT_MIN      1000
#define SYNONYM_WEIGHT 0.7
#define JOINED_WEIGHT  0.8
#define PREFIX_WEIGHT  0.6
#define PART_WEIGHT    0.5
#define PART_MIN_BYTES 4
/* The most that a word of general English weighs, as a share of the weight of a
 * word that no entry contains. */
#define GENERAL_MAX 0.42
/* Likewise for the most common words of English. */
#define COMMON_MAX 0.08
/* A word in a larger share of the entries is not searched within words. */
#define PART_MAX_SHARE 0.05
#define MET_POWER      0.7
#define NAME_BONUS     0.6
#define LITERAL_NAME   0.5 /* share of the weight of the heaviest word */
#define LITERAL_TEXT   0.15

/* `fit` below which matches are probably accidental, and by how much it grows
 * when there are e times as many entries, of which more match by chance */
#define FIT_MIN       0.38
#define FIT_GROWTH    0.02
#define FIT_NAME      0.3
#define LITERAL_FIT   0.4
#define LITERAL_NAMED 0.6

enum { NAME, DESCRIPTION, TAGS, COLUMNS };

/* --- the words ----------------------------------------------------------------- */

/* Returns the entry of an id; `*source` is the index of its source, or SIZE_MAX
 * if it is not searched. */
static size_t entry_of(const struct ranking *r, uint64_t id, size_t *source)
{
    for (size_t i = 0; i < r->source_count; i++) {
        if (r->sources[i]->source != id >> SEARCH_ROW_BITS)
            continue;
        *source = i;
        return search_texts_find(r->sources[i],
                                 id & ((1u << SEARCH_ROW_BITS) - 1));
    }
    return SIZE_MAX;
}

struct counting {
    const struct ranking *ranking;
    double n;
};

static int count_row(const Fts5ExtensionApi *api, Fts5Context *fts, void *ctx)
{
    struct counting *c = ctx;
    size_t source;

    c->n +=
        entry_of(c->ranking, (uint64_t)api->xRowid(fts), &source) != SIZE_MAX;
    return SQLITE_OK;
}

/* Returns the weight of a word that `have` entries contain. */
static double weight_of(const struct ranking *r, double have)
{
    return log(1 + (r->count - have + 0.5) / (have + 0.5));
}

double ranking_common_weight(const struct ranking *r, size_t have, size_t count)
{
    double rest = (double)(count - have);

    return fmin(log(1 + (rest + 0.5) / ((double)have + 0.5)),
                COMMON_MAX * r->max);
}

/* A word that no entry contains has the weight of its most common synonym or
 * beginning; without any, it counts as not found. */
static void weigh(struct ranking *r, const Fts5ExtensionApi *api,
                  Fts5Context *fts)
{
    const struct search_words *w = r->words;
    double have[MATCH_MAX_WORDS] = {0};

    for (size_t i = 0; i < w->phrase_count; i++) {
        const struct search_phrase *p = &w->phrases[i];
        struct counting c = {r, 0};

        api->xQueryPhrase(fts, (int)i, &c, count_row);
        r->phrase_weight[i] = weight_of(r, c.n);
        if (c.n > 0)
            r->unknown &= ~(UINT64_C(1) << p->term);
        if (p->kind == SEARCH_WORD)
            r->have[p->term] = have[p->term] = c.n;
        if (p->kind != SEARCH_WORD && have[p->term] == 0 && c.n > 0 &&
            r->phrase_weight[i] < r->weight[p->term])
            r->weight[p->term] = r->phrase_weight[i];
        if (p->kind == SEARCH_WORD)
            r->weight[p->term] = r->phrase_weight[i];
    }
    for (size_t i = 0; i < w->count; i++)
        if (w->is_general[i])
            r->weight[i] = fmin(r->weight[i], GENERAL_MAX * r->max);
    r->is_ready = true;
}

/* --- a row ----------------------------------------------------------------------- */

static void add_word(struct rating *rating, const struct ranking *r,
                     size_t term, double value)
{
    rating->sum += (float)value;
    rating->met += (float)(value < r->weight[term] ? value : r->weight[term]);
    rating->mask |= UINT64_C(1) << term;
}

static double value_of(const struct ranking *r, size_t phrase, double name_bend,
                       double bend)
{
    static const double weights[] = {[SEARCH_WORD] = 1,
                                     [SEARCH_SYNONYM] = SYNONYM_WEIGHT,
                                     [SEARCH_JOINED] = JOINED_WEIGHT,
                                     [SEARCH_PREFIX] = PREFIX_WEIGHT};
    const struct search_phrase *p = &r->words->phrases[phrase];
    const double *hits = r->hits[phrase];
    double weight = r->phrase_weight[phrase];
    double f = NAME_WEIGHT * hits[NAME] / name_bend + hits[DESCRIPTION] / bend +
               TAG_WEIGHT * hits[TAGS];

    if (weight > r->weight[p->term])
        weight = r->weight[p->term];
    return weights[p->kind] * weight * f * (K1 + 1) / (f + K1);
}

/* Counts the hits of a row by phrase and column. Returns the number of words of
 * its name that were hit. */
static int count_hits(struct ranking *r, const Fts5ExtensionApi *api,
                      Fts5Context *fts)
{
    int count = 0, phrase, column, at, name_hits = 0;
    int last_column = -1, last_at = 0;

    api->xInstCount(fts, &count);
    for (int i = 0; i < count; i++) {
        if (api->xInst(fts, i, &phrase, &column, &at) != SQLITE_OK ||
            column >= COLUMNS)
            continue;
        r->hits[phrase][column] +=
            column == DESCRIPTION && at < EARLY_WORDS ? EARLY_WEIGHT : 1;
        name_hits += column == NAME && (at != last_at || last_column != NAME);
        last_column = column;
        last_at = at;
    }
    return name_hits;
}

static void rate(struct ranking *r, const Fts5ExtensionApi *api,
                 Fts5Context *fts, size_t source, size_t entry)
{
    const struct search_texts *texts = r->sources[source];
    struct rating *rating = &r->ratings[source][entry];
    double best[MATCH_MAX_WORDS] = {0};
    double name_words = search_texts_name_words(texts, entry);
    double bend =
        1 - DESCRIPTION_BEND +
        DESCRIPTION_BEND * search_texts_words(texts, entry) / DESCRIPTION_MEAN;
    double name_bend = 1 - NAME_BEND + NAME_BEND * name_words / NAME_MEAN;
    int name_hits = count_hits(r, api, fts);

    for (size_t i = 0; i < r->words->phrase_count; i++) {
        double *hits = r->hits[i];
        size_t term = r->words->phrases[i].term;
        double value;

        if (hits[NAME] + hits[DESCRIPTION] + hits[TAGS] <= 0)
            continue;
        value = value_of(r, i, name_bend, bend);
        if (value > best[term])
            best[term] = value;
        hits[NAME] = hits[DESCRIPTION] = hits[TAGS] = 0;
    }
    for (size_t i = 0; i < r->words->count; i++)
        if (best[i] > 0)
            add_word(rating, r, i, best[i]);
    if (name_words > 0)
        rating->name = (float)(name_hits / name_words);
    if (rating->name > 1)
        rating->name = 1;
}

static void rate_entry(const Fts5ExtensionApi *api, Fts5Context *fts,
                       sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    struct state *s = api->xUserData(fts);
    struct ranking *r = s->ranking;
    size_t source, entry;

    (void)argc;
    (void)argv;
    if (!r->is_ready)
        weigh(r, api, fts);
    entry = entry_of(r, (uint64_t)api->xRowid(fts), &source);
    if (entry != SIZE_MAX)
        rate(r, api, fts, source, entry);
    sqlite3_result_null(ctx);
}

/* --- all rows ------------------------------------------------------------------------ */

static bool add_function(struct state *s, struct err *e)
{
    sqlite3_stmt *q = NULL;
    fts5_api *api = NULL;
    bool ok;

    if (s->has_ranking)
        return true;
    ok = sqlite3_prepare_v2(s->db, "SELECT fts5(?1)", -1, &q, NULL) ==
             SQLITE_OK &&
         sqlite3_bind_pointer(q, 1, &api, "fts5_api_ptr", NULL) == SQLITE_OK &&
         sqlite3_step(q) == SQLITE_ROW;
    sqlite3_finalize(q);
    s->has_ranking = ok && api &&
                     api->xCreateFunction(api, "rate_entry", s, rate_entry,
                                          NULL) == SQLITE_OK;
    return s->has_ranking || db_fail(s, "search", e);
}

void ranking_begin(struct ranking *r, const struct search_words *words,
                   struct search_texts *const *sources, size_t count,
                   struct arena *a)
{
    *r = (struct ranking){
        .words = words, .sources = sources, .source_count = count};
    r->ratings = arena_array(a, count + 1, sizeof *r->ratings);
    for (size_t i = 0; i < count; i++) {
        r->ratings[i] =
            arena_array(a, sources[i]->count + 1, sizeof **r->ratings);
        r->count += (double)sources[i]->count;
    }
    if (r->count < COUNT_MIN)
        r->count = COUNT_MIN;
    r->max = weight_of(r, 0);
    for (size_t i = 0; i < words->count; i++) {
        r->weight[i] = r->max;
        r->unknown |= UINT64_C(1) << i;
        if (!words->is_general[i])
            r->specific |= UINT64_C(1) << i;
    }
}

bool ranking_rate(struct ranking *r, struct state *s, struct arena *a,
                  struct err *e)
{
    sqlite3_stmt *q;
    int code;

    if (r->words->count == 0)
        return true;
    if (!db_open(s, e) || !add_function(s, e))
        return false;
    s->ranking = r;
    q = db_ask(s, RATE_ENTRIES, e, DB_TEXT(search_words_query(r->words, a)));
    if (!q)
        return false;
    while ((code = sqlite3_step(q)) == SQLITE_ROW)
        ;
    s->ranking = NULL;
    return db_end_rows(s, q, code, e);
}

void ranking_add_parts(struct ranking *r)
{
    for (size_t term = 0; term < r->words->count; term++) {
        struct needle needle = needle_of(r->words->terms[term]);

        if (needle.text.n < PART_MIN_BYTES ||
            r->have[term] > PART_MAX_SHARE * r->count)
            continue;
        for (size_t i = 0; i < r->source_count; i++) {
            size_t at = 0, entry;

            while ((entry = search_texts_next_name(r->sources[i], &needle,
                                                   &at)) != SIZE_MAX)
                if (!(r->ratings[i][entry].mask >> term & 1)) {
                    add_word(&r->ratings[i][entry], r, term,
                             PART_WEIGHT * r->weight[term]);
                    r->unknown &= ~(UINT64_C(1) << term);
                }
        }
    }
    for (size_t term = 0; term < r->words->count; term++) {
        r->total += r->weight[term];
        if (r->unknown >> term & 1) {
            r->unknown_weight += r->weight[term];
            r->unknown_count++;
        }
    }
}

/* Words that were not found count as one unknown word at most, because long
 * requests contain irrelevant words. Of keywords, those that no entry contains do
 * not count for an entry with a specific one, unless they are the majority. */
static double fit_of(const struct ranking *r, const struct rating *rating)
{
    double missed = r->total - (double)rating->met;

    if (r->words->are_keywords && (rating->mask & r->specific) &&
        2 * r->unknown_count <= r->words->count)
        missed -= r->unknown_weight;
    if (missed > r->max)
        missed = r->max;
    if (missed < 0)
        missed = 0;
    if (rating->met <= 0)
        return 0;
    return (double)rating->met / ((double)rating->met + missed) *
           (1 + FIT_NAME * (double)rating->name) / (1 + FIT_NAME);
}

/* Maps the least fit of a match to SEARCH_MIN_SCORE. */
static double spread(const struct ranking *r, double fit)
{
    double least = FIT_MIN + FIT_GROWTH * log(r->count / COUNT_MIN);

    return fit < least ? fit / least * SEARCH_MIN_SCORE
                       : SEARCH_MIN_SCORE + (fit - least) / (1 - least) *
                                                (1 - SEARCH_MIN_SCORE);
}

void ranking_end(const struct ranking *r, struct rating *rating,
                 unsigned literal)
{
    double fit = fit_of(r, rating), score = 0;

    if (rating->sum > 0)
        score =
            (double)(rating->sum + rating->common) *
            pow((double)(rating->met + rating->common) / (r->total + r->common),
                MET_POWER) *
            (1 + NAME_BONUS * (double)rating->name);
    if (literal) {
        double least = literal > 1 ? LITERAL_NAMED : LITERAL_FIT;

        score += (literal > 1 ? LITERAL_NAME : LITERAL_TEXT) * r->max;
        if (fit < least)
            fit = least;
    }
    rating->score = (float)score;
    rating->fit = (float)spread(r, fit);
}
