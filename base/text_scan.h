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

/* Returns the number of ASCII bytes at the start of `s`. */
size_t text_ascii(struct str s);

#endif
