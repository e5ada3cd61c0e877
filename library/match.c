#include "base/text.h"
#include "mapm/limits.h"

#include <math.h>
#include <stdlib.h>

#include "catalog.h"

/*
 * How well a request fits a skill: which of its words are in the name and the
 * description, the rare ones counting more. Source: L11, X26.
 */

#define IN_NAME        1.0
#define IN_DESCRIPTION 0.8
#define OTHER_ENDING   0.75 /* "extract" and "extracting" */
#define STEM_MIN_BYTES 4
#define ENDING_MAX     3
#define WORD_MIN_CHARS 2

struct word {
    struct str text;
    double weight; /* 0: no skill has it, and it tells nothing */
};

/* How well it fits each skill, a row a word. */
struct fits {
    struct word words[MATCH_MAX_WORDS];
    size_t word_count, skill_count;
    float *fit; /* [word][skill] */
};

/* --- the words of a request --------------------------------------------------------------- */

static bool is_common(struct str word)
{
    static const char *const words[] = {
        "about", "all",   "also",   "an",     "and",   "any",   "are",  "as",
        "at",    "be",    "but",    "by",     "can",   "could", "do",   "does",
        "for",   "from",  "get",    "has",    "have",  "help",  "how",  "if",
        "in",    "into",  "is",     "it",     "its",   "let",   "like", "make",
        "me",    "my",    "need",   "no",     "not",   "of",    "on",   "or",
        "our",   "out",   "please", "should", "so",    "some",  "that", "the",
        "their", "them",  "then",   "there",  "these", "they",  "this", "to",
        "up",    "us",    "use",    "user",   "uses",  "using", "want", "was",
        "we",    "what",  "when",   "where",  "which", "who",   "why",  "will",
        "with",  "would", "you",    "your",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i]))
            return true;
    return false;
}

/* The next run of letters and digits from `*at` on; false at the end. */
static bool next_word(struct str text, size_t *at, struct str *out)
{
    size_t start = SIZE_MAX, from;

    for (from = *at; from < text.n; from = *at) {
        if (text_is_word(text_next(text, at))) {
            if (start == SIZE_MAX)
                start = from;
        } else if (start != SIZE_MAX) {
            break;
        }
    }
    if (start == SIZE_MAX)
        return false;
    *out = str_slice(text, start, from);
    return true;
}

static bool is_among(const struct word *words, size_t count, struct str word)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(words[i].text, word))
            return true;
    return false;
}

static void read_words(struct fits *f, struct str request, struct arena *a)
{
    struct str lower = text_lower(request, a), word;
    size_t at = 0;

    while (f->word_count < MATCH_MAX_WORDS && next_word(lower, &at, &word))
        if (text_count(word) >= WORD_MIN_CHARS && !is_common(word) &&
            !is_among(f->words, f->word_count, word))
            f->words[f->word_count++].text = word;
}

/* --- a word in a text ---------------------------------------------------------------------- */

/* Bytes of the word that goes on at `at`. */
static size_t rest_of_word(struct str text, size_t at)
{
    size_t from = at, next = at;

    while (from < text.n && text_is_word(text_next(text, &next)))
        from = next;
    return from - at;
}

/* "tables" finds "table", too. */
static struct str stem_of(struct str word)
{
    bool is_many = word.n > STEM_MIN_BYTES && word.p[word.n - 1] == 's';

    return str_slice(word, 0, word.n - is_many);
}

/* 1 for the word itself, less for one that ends otherwise, 0 for neither. */
static double fit_in(struct str text, struct str word,
                     const struct needle *stem)
{
    double best = 0;
    size_t at = 0, n = stem->text.n;

    while ((at = text_search(text, stem, at)) != SIZE_MAX) {
        size_t start = at, rest = rest_of_word(text, at + n);

        at += n;
        if (follows_word(text, start))
            continue;
        if (rest == word.n - n && str_starts(str_from_index(text, start), word))
            return 1;
        if (n >= STEM_MIN_BYTES && rest <= ENDING_MAX)
            best = OTHER_ENDING;
    }
    return best;
}

static double larger(double x, double y)
{
    return x > y ? x : y;
}

static void fit_word(const struct haystack *h, struct word *word, float *row)
{
    const struct needle stem = needle_of(stem_of(word->text));
    size_t have = 0;

    for (size_t i = 0; i < h->count; i++) {
        row[i] = (float)larger(
            IN_NAME * fit_in(haystack_name(h, i), word->text, &stem),
            IN_DESCRIPTION *
                fit_in(haystack_description(h, i), word->text, &stem));
        have += row[i] > 0;
    }
    word->weight = have ? log(1 + (double)h->count / (double)have) : 0;
}

/* --- the best ------------------------------------------------------------------------------- */

static bool is_better(const struct library_hit *x, const struct library_hit *y)
{
    if (x->is_explicit != y->is_explicit)
        return x->is_explicit;
    return x->score > y->score; /* of equal ones the first by name stays */
}

static void put_best(struct library_hit *hits, size_t *count, size_t limit,
                     struct library_hit hit)
{
    size_t at = limit - 1;

    if (*count < limit)
        at = (*count)++;
    else if (!is_better(&hit, &hits[at]))
        return;
    while (at > 0 && is_better(&hit, &hits[at - 1])) {
        hits[at] = hits[at - 1];
        at--;
    }
    hits[at] = hit;
}

static double score_of(const struct fits *f, size_t skill)
{
    double got = 0, all = 0;

    for (size_t w = 0; w < f->word_count; w++) {
        got += f->words[w].weight * (double)f->fit[w * f->skill_count + skill];
        all += f->words[w].weight;
    }
    return all > 0 ? got / all : 0;
}

static struct str trigger_of(const struct fits *f, size_t skill,
                             struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    for (size_t w = 0; w < f->word_count; w++) {
        if (f->fit[w * f->skill_count + skill] <= 0)
            continue;
        buf_text(&b, b.n ? ", " : "");
        buf_append(&b, f->words[w].text);
    }
    return arena_str(a, buf_str(&b));
}

static bool is_named(const struct library_skill *s,
                     const struct library_skill *slash,
                     const struct library_skill *const *mentions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (mentions[i] == s)
            return true;
    return s == slash;
}

struct library_hit *library_match(const struct library *l, struct str request,
                                  size_t limit, double min_score,
                                  struct arena *a, size_t *count)
{
    const struct haystack *h = catalog_haystack(l);
    const struct library_skill **mentions, *slash;
    struct library_hit *hits;
    struct fits f = {.skill_count = h->count};
    size_t mentioned, n = 0;

    *count = 0;
    request = text_cut(request, QUERY_MAX_BYTES);
    if (limit > h->count)
        limit = h->count;
    if (limit == 0)
        return NULL;
    hits = arena_array(a, limit, sizeof *hits);
    slash = library_slash(l, request, NULL);
    mentions = library_mentions(l, request, a, &mentioned);
    read_words(&f, request, a);
    f.fit = arena_array(a, f.word_count * h->count + 1, sizeof *f.fit);
    for (size_t w = 0; w < f.word_count; w++)
        fit_word(h, &f.words[w], f.fit + w * h->count);
    for (size_t i = 0; i < h->count; i++) {
        const struct library_skill *s = library_at(l, i);
        struct library_hit hit = {
            .skill = s,
            .is_explicit = is_named(s, slash, mentions, mentioned),
        };

        hit.score = hit.is_explicit ? 1 : score_of(&f, i);
        if (hit.is_explicit ||
            (hit.score > 0 && hit.score >= min_score && !s->disabled))
            put_best(hits, &n, limit, hit);
    }
    for (size_t i = 0; i < n; i++)
        hits[i].trigger =
            hits[i].is_explicit
                ? arena_printf(a, "%c%.*s", hits[i].skill == slash ? '/' : '$',
                               STR_ARG(hits[i].skill->name))
                : trigger_of(&f, catalog_index(l, hits[i].skill), a);
    *count = n;
    return hits;
}
