#ifndef BASE_TEXT_SCAN_H
#define BASE_TEXT_SCAN_H

#include "base/text.h"

/*
 * text_scan: one walk over a text that knows the invisible characters of an
 * emoji. Reports and escapes are both based on it, so they cannot differ.
 */

struct text_scan {
    struct str s;
    size_t at;       /* the next character */
    size_t flag_end; /* tags before it belong to a flag */
    bool after_emoji;
};

/* One character: where it began, its code point (-1: a bad byte), its kind.
 * False at the end. */
bool text_scan_next(struct text_scan *scan, size_t *start, int32_t *code_point,
                    enum text_hidden *kind);

/* Bytes at the start of `s` that are ASCII. */
size_t text_ascii(struct str s);

/* White space as Unicode and Python's str.strip have it. */
bool text_is_space(int32_t code_point);

#endif
