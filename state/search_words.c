#include "search_words.h"

#include "base/buf.h"
#include "base/embed.h"
#include "base/text.h"

EMBED(search_synonyms, "state/synonyms.txt");

#define WORD_MIN_CHARS 2
#define STEM_MIN_BYTES 4
/* Words of PREFIX_WORD_MIN bytes and more are also searched by their beginning,
 * without the last PREFIX_CUT bytes. */
#define PREFIX_WORD_MIN 7
#define PREFIX_CUT      3
#define PREFIX_MIN      5

/* Returns whether the word describes a request in general, not its subject. */
static bool is_common(struct str word)
{
    static const char *const words[] = {
        "about",      "actually",  "after",     "again",    "all",
        "already",    "also",      "always",    "am",       "an",
        "and",        "any",       "anybody",   "anyone",   "anything",
        "are",        "as",        "at",        "be",       "because",
        "been",       "before",    "being",     "both",     "but",
        "by",         "can",       "could",     "did",      "do",
        "does",       "doing",     "done",      "during",   "each",
        "else",       "even",      "ever",      "every",    "everyone",
        "everything", "few",       "for",       "from",     "get",
        "gets",       "getting",   "give",      "goes",     "going",
        "got",        "had",       "has",       "have",     "hello",
        "help",       "her",       "here",      "hey",      "hi",
        "him",        "his",       "how",       "however",  "if",
        "in",         "instead",   "into",      "is",       "it",
        "its",        "just",      "know",      "least",    "let",
        "lets",       "letting",   "like",      "look",     "lot",
        "make",       "many",      "may",       "maybe",    "me",
        "might",      "more",      "most",      "much",     "must",
        "my",         "need",      "never",     "new",      "no",
        "nobody",     "not",       "nothing",   "now",      "of",
        "often",      "ok",        "okay",      "on",       "once",
        "one",        "only",      "or",        "other",    "our",
        "out",        "over",      "own",       "per",      "please",
        "possible",   "quite",     "rather",    "really",   "say",
        "says",       "seem",      "seems",     "shall",    "should",
        "show",       "since",     "so",        "some",     "somebody",
        "someone",    "something", "sometimes", "soon",     "still",
        "such",       "sure",      "take",      "tell",     "than",
        "thank",      "thanks",    "that",      "the",      "their",
        "them",       "then",      "there",     "these",    "they",
        "thing",      "think",     "this",      "those",    "though",
        "to",         "today",     "together",  "tomorrow", "too",
        "until",      "up",        "us",        "use",      "used",
        "user",       "uses",      "using",     "very",     "want",
        "was",        "way",       "we",        "went",     "were",
        "what",       "when",      "where",     "which",    "while",
        "who",        "whom",      "whose",     "why",      "will",
        "with",       "within",    "without",   "would",    "wrong",
        "yes",        "yesterday", "yet",       "you",      "your",
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
                    add_phrase(w, other, i, SEARCH_SYNONYM);
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
        add_phrase(w, word, w->count, SEARCH_WORD);
        w->terms[w->count++] = word;
    }
    add_synonyms(w);
    add_prefixes(w);
}

struct str search_words_query(const struct search_words *w, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 3 * QUERY_MAX_BYTES);
    for (size_t i = 0; i < w->phrase_count; i++) {
        buf_text(&b, i ? " OR \"" : "\"");
        buf_append(&b, w->phrases[i].text);
        buf_text(&b, w->phrases[i].kind == SEARCH_PREFIX ? "\" *" : "\"");
    }
    return arena_str(a, buf_str(&b));
}
