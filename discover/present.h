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
    struct map shown; /* "kind name": a result already */
};

/* One that cannot be read is left out, and told when verbose. */
void present_open(struct context *cx, struct store *store, struct present *out);
void present_close(struct present *l);

/* What was installed from there; NULL: nothing. `entry`: of a marketplace. */
const struct lock_entry *present_find(const struct present *l,
                                      struct str origin, struct str entry,
                                      struct arena *a);
/* The package whose folder a skill of the library is; NULL: none. */
const struct lock_entry *present_find_skill(const struct present *l,
                                            struct str root, struct str folder);
void present_note_shown(struct present *l, const struct lock_entry *entry);
bool present_is_shown(const struct present *l, const struct lock_entry *entry);

/* Agents, MCP servers and plugins, as sources of the search, which are put again
 * when the lock has changed. In `a`. */
MUST_CHECK bool present_sources(struct present *l, struct state *s,
                                struct arena *a, struct search_source **out,
                                size_t *count, struct err *e);

/* Of the SKILL.md in this folder; 0: not known. */
size_t present_tokens(struct str root, struct str folder, struct context *cx);

#endif
