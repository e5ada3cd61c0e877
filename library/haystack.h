#ifndef LIBRARY_HAYSTACK_H
#define LIBRARY_HAYSTACK_H

#include "base/needle.h"
#include "mapm/library.h"

/* haystack: the names and descriptions of a library in lower case, one after
 * the other, so that the search of Metis is one pass over memory. */

struct haystack {
    struct arena a;
    struct str text;
    struct hay {
        size_t name, description, end; /* offsets in `text` */
    } * skills;
};

void haystack_build(struct haystack *h, const struct library_skill *skills,
                    size_t count);
void haystack_done(struct haystack *h);

struct str haystack_description(const struct haystack *h, size_t i);

#endif
