#include "search_words.h"

#include "base/buf.h"
#include "base/embed.h"
#include "base/text.h"

EMBED(search_synonyms, "state/synonyms.txt");
EMBED(search_general, "state/general_words.txt");

#define WORD_MIN_CHARS 2
#define STEM_MIN_BYTES 4
/* Words of PREFIX_WORD_MIN bytes and more are also searched by their beginning,
 * without the last PREFIX_CUT bytes. */
#define PREFIX_WORD_MIN 7
#define PREFIX_CUT      3
#define PREFIX_MIN      5
/* Shorter pairs of neighbours are not searched as one word. */
#define JOINED_MIN_BYTES 5
#define KEYWORDS_MAX     3

enum rank { SPECIFIC, GENERAL, COMMON };

/* A line is the mark of a rank and words that begin with the same letter. */
static enum rank rank_of(struct str word)
{
    struct str rest = str_cstr(search_general), line, one;

    while (rest.n && str_cut(&rest, '\n', &line)) {
        enum rank rank = line.p[0] == '-' ? COMMON : GENERAL;

        if (line.n < 3 || line.p[0] == '#' || line.p[2] != word.p[0])
            continue;
        line = str_from_index(line, 2);
        while (line.n && str_cut(&line, ' ', &one))
            if (str_eq(one, word))
                return rank;
    }
    return SPECIFIC;
}

/* Reads the next run of letters and digits from `*at` on. Returns false at the
 * end. */
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

static bool is_ending(struct str rest)
{
    return rest.n == 0 || str_is(rest, "s") || str_is(rest, "es") ||
           str_is(rest, "d") || str_is(rest, "ed") || str_is(rest, "ing");
}

/* Returns whether two words have one stem in the index, as "review" and
 * "reviews". */
static bool is_same_word(struct str x, struct str y)
{
    size_t n = 0;

    while (n < x.n && n < y.n && x.p[n] == y.p[n])
        n++;
    if (n == 0)
        return false;
    return str_eq(x, y) ||
           (n >= STEM_MIN_BYTES && is_ending(str_from_index(x, n)) &&
            is_ending(str_from_index(y, n)));
}

static bool has_term(const struct search_words *w, struct str word)
{
    for (size_t i = 0; i < w->count; i++)
        if (is_same_word(w->terms[i], word))
            return true;
    return false;
}

static void add_phrase(struct search_words *w, struct str text, size_t term,
                       enum search_phrase_kind kind)
{
    if (w->phrase_count < SEARCH_MAX_PHRASES)
        w->phrases[w->phrase_count++] =
            (struct search_phrase){text, term, kind};
}

static bool has_only_letters(struct str word)
{
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] < 'a' || word.p[i] > 'z')
            return false;
    return true;
}

/* The stems of the index keep endings such as "-ion" and "-ise" apart. Words with
 * digits are names and numbers, which have no endings. */
static void add_prefixes(struct search_words *w)
{
    for (size_t i = 0; i < w->count; i++) {
        struct str word = w->terms[i];
        size_t n =
            word.n > PREFIX_CUT + PREFIX_MIN ? word.n - PREFIX_CUT : PREFIX_MIN;

        if (word.n >= PREFIX_WORD_MIN && has_only_letters(word))
            add_phrase(w, str_slice(word, 0, n), i, SEARCH_PREFIX);
    }
}

static void add_synonyms_of(struct search_words *w, struct str word,
                            struct str others)
{
    for (size_t i = 0; i < w->count; i++) {
        struct str rest = others, other;

        if (!is_same_word(w->terms[i], word))
            continue;
        while (rest.n && str_cut(&rest, ' ', &other))
            if (!has_term(w, other))
                add_phrase(w, other, i, SEARCH_SYNONYM);
    }
}

/* A line is "word word: synonym synonym". */
static void add_synonyms(struct search_words *w)
{
    struct str rest = str_cstr(search_synonyms), line, words, word;

    while (rest.n && str_cut(&rest, '\n', &line)) {
        if (line.p[0] == '#' || !str_cut(&line, ':', &words))
            continue;
        while (words.n && str_cut(&words, ' ', &word))
            add_synonyms_of(w, word, str_trim(line));
    }
}

/* Adds a word, and its `last` neighbour and it as one word. */
static void add_word(struct search_words *w, struct str word, bool is_general,
                     size_t last, struct arena *a)
{
    add_phrase(w, word, w->count, SEARCH_WORD);
    if (last != SIZE_MAX && w->terms[last].n + word.n >= JOINED_MIN_BYTES)
        add_phrase(w, str_join(w->terms[last], word, a), w->count,
                   SEARCH_JOINED);
    w->is_general[w->count] = is_general;
    w->terms[w->count++] = word;
}

static size_t find_common(const struct search_words *w, struct str word)
{
    size_t i = 0;

    while (i < w->common_count && !str_eq(w->common[i], word))
        i++;
    return i;
}

static void add_common(struct search_words *w, struct str word)
{
    if (w->common_count < MATCH_MAX_WORDS &&
        find_common(w, word) == w->common_count)
        w->common[w->common_count++] = word;
}

uint64_t search_words_find_common(const struct search_words *w, struct str text)
{
    uint64_t mask = 0;
    size_t at = 0, i;
    struct str word;

    while (w->common_count && next_word(text, &at, &word)) {
        i = find_common(w, word);
        if (i < w->common_count)
            mask |= UINT64_C(1) << i;
    }
    return mask;
}

void search_words_read(struct search_words *w, struct str request,
                       struct arena *a)
{
    struct str lower = text_lower(text_cut_bytes(request, QUERY_MAX_BYTES), a);
    size_t at = 0, read = 0, last = SIZE_MAX;
    struct str word;

    w->count = w->phrase_count = w->common_count = 0;
    for (; w->count < MATCH_MAX_WORDS && next_word(lower, &at, &word); read++) {
        enum rank rank = rank_of(word);

        if (rank == COMMON)
            add_common(w, word);
        if (text_count(word) < WORD_MIN_CHARS || rank == COMMON ||
            has_term(w, word)) {
            last = SIZE_MAX;
            continue;
        }
        add_word(w, word, rank == GENERAL, last, a);
        last = w->count - 1;
    }
    w->are_keywords = read == w->count && read <= KEYWORDS_MAX;
    add_synonyms(w);
    add_prefixes(w);
}

struct str search_words_query(const struct search_words *w, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 8 * QUERY_MAX_BYTES);
    for (size_t i = 0; i < w->phrase_count; i++) {
        buf_text(&b, i ? " OR \"" : "\"");
        buf_append(&b, w->phrases[i].text);
        buf_text(&b, w->phrases[i].kind == SEARCH_PREFIX ? "\" *" : "\"");
    }
    return arena_str(a, buf_str(&b));
}
