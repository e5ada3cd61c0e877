#ifndef LIBRARY_INDEXED_H
#define LIBRARY_INDEXED_H

#include "mapm/state_search.h"

#include "catalog.h"

/* indexed: the skills of a library as a source of the search (state_search.h),
 * in mapm.db for all commands, or in memory for a session (T27) or if there is
 * no store. */

/* Updates the index of the library and returns the hits for `text`, allocated
 * in `a`. On failure, returns NULL and reports a note. */
struct search_hit *indexed_search(const struct library *l, struct str text,
                                  size_t limit, bool model, struct arena *a,
                                  size_t *count);
void indexed_close(struct catalog *c);

/* Returns whether the skill serves the request or contains it. */
bool library_is_hit(const struct search_hit *hit);

#endif
