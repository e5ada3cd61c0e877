#ifndef BASE_NEEDLE_H
#define BASE_NEEDLE_H

#include "base/str.h"

/* needle: a short text searched for in megabytes. */

/* The text to search for, not empty. Borrows the text. */
struct needle {
    struct str text;
    size_t first, second; /* its two places that decide most */
};
struct needle needle_of(struct str text);

/* Its first position in `text` at or after `from`; SIZE_MAX: none. */
size_t text_search(struct str text, const struct needle *what, size_t from);

#endif
