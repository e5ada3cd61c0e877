#ifndef BASE_NEEDLE_H
#define BASE_NEEDLE_H

#include "base/str.h"

/* needle: fast search of a short text in a large one. */

/* A prepared search text, not empty; borrows it. */
struct needle {
    struct str text;
    size_t first, second; /* offsets of its two rarest bytes */
};
struct needle needle_of(struct str text);

/* Returns the first position of `what` in `text` at or after `from`,
 * or SIZE_MAX. */
size_t text_search(struct str text, const struct needle *what, size_t from);

#endif
