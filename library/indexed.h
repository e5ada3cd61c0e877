#ifndef LIBRARY_INDEXED_H
#define LIBRARY_INDEXED_H

#include "mapm/state_search.h"

#include "catalog.h"

/*
 * indexed: the skills of a library as a source of the search (state_search.h):
 * in mapm.db, where other commands find it, or in memory, for a session (T27)
 * and where there is no store.
 */

/* Hits for `text` among the skills of the library, whose index is brought up to
 * date first. In `a`; NULL and a note where that fails. */
struct search_hit *indexed_search(const struct library *l, struct str text,
                                  size_t limit, bool model, struct arena *a,
                                  size_t *count);
void indexed_close(struct catalog *c);

/* It serves the request, or contains it. */
bool library_is_hit(const struct search_hit *hit);

#endif
