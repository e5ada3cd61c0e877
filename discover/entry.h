#ifndef DISCOVER_ENTRY_H
#define DISCOVER_ENTRY_H

#include "mapm/document.h"
#include "mapm/fetch.h"
#include "mapm/plugin_market.h"
#include "mapm/state_search.h"

/* entry: what a catalog offers, as an entry of the search. Besides name,
 * description and tags, mapm.db stores in `data` what a result shows: fields in
 * a fixed order, separated by US. */

/* Returns the version of the document, or that in its `metadata`, where most
 * skills have it; an empty string if it has no version. */
struct str entry_version(const struct document *d);
/* Returns an estimate of the number of tokens. */
size_t entry_tokens(struct str text);

struct entry_data {
    struct str kind, version, origin, entry, why;
    size_t tokens;
};

struct offered {
    struct arena *a; /* owner of the texts */
    struct search_entry *items;
    size_t count, capacity, left_out;
};

/* Adds an entry; texts are copied and truncated if too long. Errors: ERR_LIMIT
 * above SEARCH_MAX_ENTRIES. */
MUST_CHECK bool offered_add(struct offered *list, struct str name,
                            struct str description, struct str tags,
                            const struct entry_data *data, struct err *e);
/* Adds the document of a package at `origin`; an invalid one is skipped. */
MUST_CHECK bool offered_add_document(struct offered *list, enum doc_kind kind,
                                     struct str folder, struct str text,
                                     const struct origin *origin,
                                     struct err *e);
/* Adds the plugins of a marketplace, which is located at `catalog`. */
MUST_CHECK bool offered_add_market(struct offered *list, struct str text,
                                   struct str file, struct str catalog,
                                   struct err *e);
/* Adds an index of .well-known/agent-skills, received from `url`; `catalog` is
 * the URL under which the user added it. */
MUST_CHECK bool offered_add_index(struct offered *list, struct str text,
                                  struct str url, struct str catalog,
                                  struct err *e);

/* Sorts the entries. A skill that a catalog has in several folders, with the
 * same document in all shown fields, becomes one entry. */
void offered_deduplicate(struct offered *list);

/* Parses `data`, borrowing from `text`; damaged data is read as "". */
void entry_data_read(struct str text, struct entry_data *out);

#endif
