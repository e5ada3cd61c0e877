#ifndef DISCOVER_ENTRY_H
#define DISCOVER_ENTRY_H

#include "mapm/document.h"
#include "mapm/fetch.h"
#include "mapm/plugin_market.h"
#include "mapm/state_search.h"

/* entry: what a catalog offers, as an entry of the search. Beside name,
 * description and tags mapm.db keeps what a result shows, in `data`: fields in
 * order, each behind an US. */

/* Its own, or, as most skills have it, that of `metadata`; "" = none. */
struct str entry_version(const struct document *d);
/* An estimate. */
size_t entry_tokens(struct str text);

struct entry_data {
    struct str kind, version, origin, entry, why;
    size_t tokens;
};

struct offered {
    struct arena *a; /* owns their texts */
    struct search_entry *items;
    size_t count, capacity, left_out;
};

/* ERR_LIMIT past SEARCH_MAX_ENTRIES. Copies, cuts what is too long. */
MUST_CHECK bool offered_add(struct offered *list, struct str name,
                            struct str description, struct str tags,
                            const struct entry_data *data, struct err *e);
/* The document of a package at `origin`; an invalid one is left out. */
MUST_CHECK bool offered_add_document(struct offered *list, enum doc_kind kind,
                                     struct str folder, struct str text,
                                     const struct origin *origin,
                                     struct err *e);
/* The plugins of a marketplace, which is at `catalog`. */
MUST_CHECK bool offered_add_market(struct offered *list, struct str text,
                                   struct str file, struct str catalog,
                                   struct err *e);
/* An index of .well-known/agent-skills, which came from `url`; `catalog`: the
 * URL that it is known by. */
MUST_CHECK bool offered_add_index(struct offered *list, struct str text,
                                  struct str url, struct str catalog,
                                  struct err *e);

/* Sorts them, whatever order they came in; a skill that a catalog has in several
 * folders, with the same document as far as it shows, is one. */
void offered_settle(struct offered *list);

/* Borrows from `text`; what is damaged reads as "". */
void entry_data_read(struct str text, struct entry_data *out);

#endif
