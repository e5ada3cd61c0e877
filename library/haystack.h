#ifndef LIBRARY_HAYSTACK_H
#define LIBRARY_HAYSTACK_H

#include "mapm/library.h"

/*
 * haystack: names and descriptions of a library in lower case, one after the
 * other, so that looking for some words is one walk over memory. The tags of a
 * skill stand behind its description, as a part of it.
 */

struct haystack {
    struct arena a;
    char *text;
    size_t n, count;
    struct hay {
        size_t name, description, end; /* in `text` */
    } * skills;
};

void haystack_build(struct haystack *h, const struct library_skill *skills,
                    size_t count, bool with_tags);
void haystack_done(struct haystack *h);

struct str haystack_name(const struct haystack *h, size_t i);
struct str haystack_description(const struct haystack *h, size_t i);

/* The text to search for, not empty. Borrows the text. */
struct needle {
    struct str text;
    size_t first, second;
};
struct needle needle_of(struct str text);

/* Its first position in `text` at or after `from`; SIZE_MAX: none. */
size_t text_search(struct str text, const struct needle *what, size_t from);

#endif
