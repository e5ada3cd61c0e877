#ifndef DISCOVER_PRESENT_H
#define DISCOVER_PRESENT_H

#include "base/map.h"
#include "mapm/layer.h"
#include "mapm/state_search.h"

/* present: what the workspace and the user's library have installed. */

struct present {
    struct context *cx;
    struct store *store;
    struct layer items[2];
    size_t count;
    struct map shown; /* "kind name" of results already listed */
};

/* Opens both layers. One that cannot be read is skipped, with a notice if
 * verbose. */
void present_open(struct context *cx, struct store *store, struct present *out);
void present_close(struct present *l);

/* Returns the lock entry installed from an origin, or NULL. `entry` is the name
 * in a marketplace. */
const struct lock_entry *present_find(const struct present *l,
                                      struct str origin, struct str entry,
                                      struct arena *a);
/* Returns the package that installed the folder of a skill in the library, or
 * NULL. */
const struct lock_entry *present_find_skill(const struct present *l,
                                            struct str root, struct str folder);
void present_note_shown(struct present *l, const struct lock_entry *entry);
bool present_is_shown(const struct present *l, const struct lock_entry *entry);

/* Adds agents, MCP servers and plugins as sources of the search, and updates
 * them when the lock has changed. Allocated in `a`. */
MUST_CHECK bool present_sources(struct present *l, struct state *s,
                                struct arena *a, struct search_source **out,
                                size_t *count, struct err *e);

/* Returns the tokens of the SKILL.md in this folder, or 0 if unknown. */
size_t present_tokens(struct str root, struct str folder, struct context *cx);

#endif
