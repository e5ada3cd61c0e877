#ifndef BASE_TEXT_SCAN_H
#define BASE_TEXT_SCAN_H

#include "base/text.h"

/* text_scan: iterates over a text with knowledge of emoji sequences.
 * Both the reporting and the escaping of hidden characters use it, so
 * they cannot differ. */

struct text_scan {
    struct str s;
    size_t at;       /* position of the next character */
    size_t flag_end; /* tags before it belong to a flag */
    bool after_emoji;
};

/* Gets the next character: its start, its code point (-1 for an invalid byte)
 * and its kind. Returns false at the end. */
bool text_scan_next(struct text_scan *scan, size_t *start, int32_t *code_point,
                    enum text_hidden *kind);

/* Returns the number of ASCII bytes at the start of `s`. */
size_t text_ascii(struct str s);

/* Returns whether a code point is white space for Unicode and
 * Python's str.strip. */
bool text_is_space(int32_t code_point);

#endif
