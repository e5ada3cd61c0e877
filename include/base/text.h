#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/buf.h"

/*
 * text: what Unicode asks of us, without locale (libutf8proc).
 * Source: THREATS.md 1.4, rows 1, 3, 7; REQUIREMENTS.md X5, 6.1, 6.6.
 */

bool text_is_utf8(struct str s); /* strict: no surrogates, no overlong */

/* Decodes one code point at `*at` and moves on; -1 for a bad byte (moves 1). */
int32_t text_next(struct str s, size_t *at);

size_t text_count(struct str utf8); /* code points; a bad byte counts one */

/* First `max_points` code points. */
struct str text_cut(struct str utf8, size_t max_points);
/* Its first whole characters, `max_bytes` of them at most. */
struct str text_cut_bytes(struct str utf8, size_t max_bytes);

void text_put(struct buf *out, int32_t code_point); /* as UTF-8 */

/* What a hidden character is, the most serious first. ZERO_WIDTH only warns
 * (THREATS.md 1.4). A flag's tags name a region in 3 to 7 letters or digits;
 * more is hidden text behind a flag. */
enum text_hidden {
    TEXT_HIDDEN_NONE,
    TEXT_HIDDEN_TAG,        /* U+E0000..E0FFF but selectors and flags' tags */
    TEXT_HIDDEN_BIDI,       /* U+202A..E, U+2066..9, U+200E/F, U+061C */
    TEXT_HIDDEN_VARIATION,  /* selectors beyond U+FE0E and U+FE0F */
    TEXT_HIDDEN_ZERO_WIDTH, /* U+200B, U+200C, U+2060, U+FEFF and their like;
                             * U+200D outside emoji */
};

/* The first character of the most serious kind in `s`, and its offset (either
 * may be NULL; both untouched without one). */
enum text_hidden text_find_hidden(struct str s, size_t *offset,
                                  int32_t *code_point);
const char *text_hidden_name(enum text_hidden h); /* "bidirectional control" */

/* Whether `s` has any of these kinds, in any context: the joiner inside of an
 * emoji and the tags of a flag count. */
bool text_is_hidden(int32_t code_point);

bool text_has_control(struct str s); /* C0, DEL, C1; LF and TAB too */
/* A shell takes it for itself, without quotes: letters, digits and "/._-+@". */
bool text_is_shell_word(struct str s);

/*
 * Adds `s` so that a terminal can only print it: control characters (but TAB,
 * and LF when `lines`), whatever text_find_hidden reports, U+2028, U+2029 and
 * bad bytes appear as \xNN or \u{N}. Every text from outside goes through
 * here before it is shown.
 */
void text_visible(struct buf *out, struct str s, bool lines);
/* On one line, in `a`. */
struct str text_shown(struct str s, struct arena *a);

/* The key under which two names collide on any file system: NFC, then full
 * case folding. In `a`. Text that is not UTF-8 comes back as it is, here and
 * from text_nfkc. */
struct str text_fold(struct str s, struct arena *a);

/* NFKC and trimmed, as skills-ref compares names (A1). In `a`. */
struct str text_nfkc(struct str s, struct arena *a);

/* Runs of white space as one blank, trimmed (X25). In `a`. */
struct str text_one_line(struct str s, struct arena *a);

/*
 * Text as Python has it, where a format was defined by what Python does (T16
 * to T18, T22): str.strip(), str.lower(), and repr(), in `a`, with the quotes:
 * 'x', and "it's".
 */
struct str text_strip(struct str s);
struct str text_lower(struct str s, struct arena *a);
struct str text_repr(struct str s, struct arena *a);

/* Letters, their marks, digits: what a word is made of. */
bool text_is_word(int32_t code_point);

/* Columns of a terminal that printable `s` takes. */
size_t text_width(struct str s);

/* The longest beginning of printable `s` that takes at most `columns`. */
struct str text_fit(struct str s, size_t columns);

/* "1.4 MB", "980 B": powers of 1000. Returns `out`. */
const char *text_bytes(uint64_t n, char out[16]);

/* CRLF and lone CR as LF; returns `s` itself when it has none. */
struct str text_unix_lines(struct str s, struct arena *a);

/* Damerau-Levenshtein distance (of neighbours), at most `limit` + 1: for "did
 * you mean". Texts longer than 128 characters are equal or far apart. */
size_t text_distance(struct str x, struct str y, size_t limit);

/*
 * The known names nearest to one that was not found: the nearest first, of
 * equally near ones the one added first, each text once. Start with zeros.
 * Ownership: the names are borrowed from the caller of text_nearest_add.
 */
#define TEXT_NEAREST_MAX 3

struct text_nearest {
    struct str found[TEXT_NEAREST_MAX];
    size_t edits[TEXT_NEAREST_MAX];
    size_t count;
};

/* Adds `known`, unless it differs from `name` in more than `max_edits`. */
void text_nearest_add(struct text_nearest *n, struct str name, struct str known,
                      size_t max_edits);
/* The same for a path: it is as near as its last name, if that is nearer. */
void text_nearest_add_path(struct text_nearest *n, struct str name,
                           struct str path, size_t max_edits);

#endif
