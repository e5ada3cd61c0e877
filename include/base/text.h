#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/buf.h"

/* text: Unicode functions, independent of locale (libutf8proc).
 * Source: THREATS.md 1.4, rows 1, 3, 7; REQUIREMENTS.md X5, 6.1, 6.6. */

bool text_is_utf8(struct str s); /* strict: no surrogates or overlong forms */

/* Decodes the code point at `*at` and advances `*at`; returns -1 for an invalid
 * byte, advancing by 1. */
int32_t text_next(struct str s, size_t *at);

size_t text_count(struct str utf8); /* number of code points; an invalid byte
                                       counts as one */

/* Returns the first `max_points` code points. */
struct str text_cut(struct str utf8, size_t max_points);
/* Returns the longest beginning of at most `max_bytes` that ends with a
 * whole character. */
struct str text_cut_bytes(struct str utf8, size_t max_bytes);

void text_put(struct buf *out, int32_t code_point); /* appends it as UTF-8 */

/* Kinds of hidden characters, the most serious first. ZERO_WIDTH is only a
 * warning (THREATS.md 1.4). The tags of a flag emoji name a region in 3 to 7
 * letters or digits; longer ones are hidden text. */
enum text_hidden {
    TEXT_HIDDEN_NONE,
    TEXT_HIDDEN_TAG,       /* U+E0000..E0FFF except selectors and tags of
                               flags */
    TEXT_HIDDEN_BIDI,      /* U+202A..E, U+2066..9, U+200E/F, U+061C */
    TEXT_HIDDEN_VARIATION, /* selectors beyond U+FE0E and U+FE0F */
    /* U+200B, U+200C, U+2060, U+FEFF and similar ones; U+200D outside of
     * emoji. */
    TEXT_HIDDEN_ZERO_WIDTH,
};

/* Returns the most serious kind of hidden character in `s`, and the first
 * character of that kind with its offset. Both pointers may be NULL; their
 * targets are unchanged if there is none. */
enum text_hidden text_find_hidden(struct str s, size_t *offset,
                                  int32_t *code_point);
const char *text_hidden_name(enum text_hidden h); /* "bidirectional control" */

/* Returns whether the code point can be a hidden character in some context,
 * including the joiner of emoji and the tags of flags. */
bool text_is_hidden(int32_t code_point);

bool text_has_control(struct str s); /* C0, DEL, C1; LF and TAB too */
/* Returns whether `s` is UTF-8 without control and hidden characters, as each
 * text in mapm.lock has to be. */
bool text_is_visible(struct str s);
/* Returns whether a shell takes `s` literally without quotes: letters, digits
 * and "/._-+@:" only. */
bool text_is_shell_word(struct str s);

/*
 * Appends `s` in a form that is safe on a terminal: control characters except
 * TAB (and LF if `lines`), hidden characters of text_find_hidden, U+2028,
 * U+2029 and invalid bytes are written as \xNN or \u{N}. All text from
 * untrusted sources must pass through this function before it is shown.
 */
void text_visible(struct buf *out, struct str s, bool lines);
/* Appends a word as $'…', the form of bash and zsh for control characters; with
 * `ascii`, bytes of 0x80 and above are escaped as well. */
void text_put_escaped(struct buf *out, struct str word, bool ascii);
/* text_visible() on one line, allocated in `a`. */
struct str text_shown(struct str s, struct arena *a);

/* Returns a key that is equal for names that collide on some file system: NFC
 * and full case folding. Allocated in `a`. Text that is not UTF-8 is returned
 * unchanged, here and by text_nfkc. */
struct str text_fold(struct str s, struct arena *a);

/* Returns NFKC of `s`, trimmed, as skills-ref compares names (A1).
 * Allocated in `a`. */
struct str text_nfkc(struct str s, struct arena *a);

/* Replaces each run of white space by one blank and trims (X25).
 * Allocated in `a`. */
struct str text_one_line(struct str s, struct arena *a);

/* Python's str.strip(), str.lower() and repr() (with the quotes, 'x' or
 * "it's"), for formats that are defined by Python code (T16 to T18, T22).
 * Allocated in `a`. */
struct str text_strip(struct str s);
struct str text_lower(struct str s, struct arena *a);
struct str text_repr(struct str s, struct arena *a);

/* Returns whether a code point is part of a word: a letter, mark or digit. */
bool text_is_word(int32_t code_point);

/* Returns the number of terminal columns of printable `s`. */
size_t text_width(struct str s);

/* Returns the longest beginning of printable `s` that fits into `columns`. */
struct str text_fit(struct str s, size_t columns);

/* Returns the line terminator of the first line, "\r\n" or "\n"; "\n" if the
 * text has none. */
struct str text_line_end(struct str text);

/* Formats a size in powers of 1000: "1.4 MB", "980 B". Returns `out`. */
const char *text_bytes(uint64_t n, char out[16]);

/* Parses "12.5" with up to `digits` digits after the point into 12.5 times ten
 * to the power of `digits`; the part before the point is at most `max`. Returns
 * false for all other text. */
MUST_CHECK bool text_decimal(struct str text, unsigned digits, uint64_t max,
                             uint64_t *out);

#define TEXT_TIME_BYTES 40

/* Format a time as strftime() does, in UTC or in the local time zone. Return
 * `out`: "" for a time that cannot be represented. */
__attribute__((format(strftime, 2, 0))) const char *
text_utc(int64_t seconds, const char *format, char out[TEXT_TIME_BYTES]);
__attribute__((format(strftime, 2, 0))) const char *
text_local(int64_t seconds, const char *format, char out[TEXT_TIME_BYTES]);

/* Replaces CRLF and single CR by LF; returns `s` itself if it has none. */
struct str text_unix_lines(struct str s, struct arena *a);

/* Returns the Damerau-Levenshtein distance (transpositions of neighbours), at
 * most `limit` + 1: for "did you mean" hints. Texts longer than 128 characters
 * are either equal or at distance `limit` + 1. */
size_t text_distance(struct str x, struct str y, size_t limit);

/*
 * Collects the known names that are nearest to an unknown one: the nearest
 * first, names of equal distance in the order they were added, without
 * duplicates. Start with a zeroed struct.
 * Ownership: the names are borrowed from the caller of text_nearest_add.
 */
#define TEXT_NEAREST_MAX 3

struct text_nearest {
    struct str found[TEXT_NEAREST_MAX];
    size_t edits[TEXT_NEAREST_MAX];
    size_t count;
};

/* Adds `known` if its distance from `name` is at most `max_edits`. */
void text_nearest_add(struct text_nearest *n, struct str name, struct str known,
                      size_t max_edits);
/* The same for a path, by the smaller of the distances of the whole path and of
 * its last component. */
void text_nearest_add_path(struct text_nearest *n, struct str name,
                           struct str path, size_t max_edits);

#endif
