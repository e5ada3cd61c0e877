#include "search_words.h"

#include "base/buf.h"
#include "base/embed.h"
#include "base/text.h"

EMBED(search_synonyms, "state/synonyms.txt");

#define WORD_MIN_CHARS 2
#define STEM_MIN_BYTES 4

/* Returns whether the word describes a request in general, not its subject. */
static bool is_common(struct str word)
{
    static const char *const words[] = {
        "about",  "after", "again",  "all",   "also",  "am",     "an",
        "and",    "any",   "are",    "as",    "at",    "be",     "been",
        "before", "being", "but",    "by",    "can",   "could",  "did",
        "do",     "does",  "doing",  "done",  "for",   "from",   "get",
        "give",   "going", "got",    "had",   "has",   "have",   "help",
        "her",    "here",  "him",    "his",   "how",   "if",     "in",
        "into",   "is",    "it",     "its",   "just",  "know",   "let",
        "like",   "look",  "make",   "many",  "may",   "me",     "might",
        "more",   "most",  "must",   "my",    "need",  "new",    "no",
        "not",    "now",   "of",     "on",    "once",  "one",    "only",
        "or",     "other", "our",    "out",   "over",  "own",    "please",
        "should", "show",  "so",     "some",  "such",  "take",   "tell",
        "than",   "thank", "thanks", "that",  "the",   "their",  "them",
        "then",   "there", "these",  "they",  "thing", "this",   "those",
        "to",     "too",   "up",     "us",    "use",   "used",   "user",
        "uses",   "using", "very",   "want",  "was",   "way",    "we",
        "were",   "what",  "when",   "where", "which", "while",  "who",
        "whom",   "whose", "why",    "will",  "with",  "within", "without",
        "would",  "yes",   "you",    "your",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_is(word, words[i]))
            return true;
    return false;
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
                       bool is_synonym)
{
    if (w->phrase_count < SEARCH_MAX_PHRASES)
        w->phrases[w->phrase_count++] =
            (struct search_phrase){text, term, is_synonym};
}

/* A line is "word: synonym synonym". */
static void add_synonyms(struct search_words *w)
{
    struct str rest = str_cstr(search_synonyms), line, word;

    while (rest.n && str_cut(&rest, '\n', &line)) {
        if (str_starts(line, STR("#")) || !str_cut(&line, ':', &word))
            continue;
        for (size_t i = 0; i < w->count; i++) {
            struct str others = str_trim(line), other;

            if (!is_same_word(w->terms[i], word))
                continue;
            while (others.n && str_cut(&others, ' ', &other))
                if (!has_term(w, other))
                    add_phrase(w, other, i, true);
        }
    }
}

void search_words_read(struct search_words *w, struct str request,
                       struct arena *a)
{
    struct str lower = text_lower(text_cut_bytes(request, QUERY_MAX_BYTES), a);
    struct str word;
    size_t at = 0;

    w->count = w->phrase_count = 0;
    while (w->count < MATCH_MAX_WORDS && next_word(lower, &at, &word)) {
        if (text_count(word) < WORD_MIN_CHARS || is_common(word) ||
            has_term(w, word))
            continue;
        add_phrase(w, word, w->count, false);
        w->terms[w->count++] = word;
    }
    add_synonyms(w);
}

struct str search_words_query(const struct search_words *w, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 2 * QUERY_MAX_BYTES);
    for (size_t i = 0; i < w->phrase_count; i++) {
        buf_text(&b, i ? " OR \"" : "\"");
        buf_append(&b, w->phrases[i].text);
        buf_char(&b, '"');
    }
    return arena_str(a, buf_str(&b));
}
