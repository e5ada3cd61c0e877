#ifndef MAPM_STATE_SEARCH_H
#define MAPM_STATE_SEARCH_H

#include "base/arena.h"
#include "base/str.h"

/*
 * state_search: names, descriptions and tags in one full-text index (FTS5) of
 * mapm.db, with one ranking.
 *
 *     state_put_source()   the entries of a library or of a catalog
 *     state_search()       those that serve a request, the best first
 *
 * A source is a cache: it can be put again at any time. Rank: an exact name
 * first; then bm25 over the stems of the words and their synonyms
 * (state/synonyms.txt), a hit in a name counting more than one in a tag or in a
 * description, times how much of the request and of the name was met; a text
 * that contains the request literally adds to it. Source: G1, G6, L11.
 */

struct state;

enum search_kind {
    SEARCH_LIBRARY, /* what can be seen from a place; SEARCH_MAX_LIBRARIES stay */
    SEARCH_CATALOG /* stays until it is dropped */
};

struct search_entry {
    struct str name, description;
    struct str tags; /* one a line */
    struct str data; /* the caller's own */
    bool hidden;     /* from models (L6) */
};

struct search_source {
    uint64_t id;
    struct str key, stamp; /* the caller's own */
    size_t count;          /* of entries */
};

/* A state in memory, with an index alone: for a session's snapshot, and where
 * there is no store. NULL with `e`. */
struct state *state_open_memory(struct err *e);

/* False, with `e` clear, when there is none. In `a`. */
bool state_find_source(struct state *s, enum search_kind kind, struct str key,
                       struct arena *a, struct search_source *out,
                       struct err *e);
/* By key. In `a`. */
MUST_CHECK bool state_list_sources(struct state *s, enum search_kind kind,
                                   struct arena *a, struct search_source **out,
                                   size_t *count, struct err *e);
/* Its entries from now on; those that are there already are not written again.
 * `*id` is its id. Errors: ERR_LIMIT past SEARCH_MAX_ENTRIES. */
MUST_CHECK bool state_put_source(struct state *s, enum search_kind kind,
                                 struct str key, struct str stamp,
                                 const struct search_entry *entries,
                                 size_t count, uint64_t *id, struct err *e);
/* Another stamp for the same entries. */
MUST_CHECK bool state_stamp_source(struct state *s, enum search_kind kind,
                                   struct str key, struct str stamp,
                                   struct err *e);
MUST_CHECK bool state_drop_source(struct state *s, enum search_kind kind,
                                  struct str key, struct err *e);

/* Results whose best score is less serve the request by chance. */
#define SEARCH_MIN_SCORE 0.1

struct search_request {
    const uint64_t *sources;
    size_t source_count;
    struct str text;
    size_t limit;
    bool model; /* without what is hidden from models */
};

struct search_hit {
    uint64_t source;
    struct str name, description, tags, data;
    double score;     /* 0 to 1, of the best how well it fits the request */
    bool is_exact;    /* the request is its name */
    bool is_literal;  /* it contains the request as it is (T16) */
    struct str words; /* of the request, that it has: "tables, pdf" */
};

/*
 * The best first, of equal ones by name. A request without a word that counts
 * finds literal hits alone. In `a`. Errors: of mapm.db.
 */
MUST_CHECK bool state_search(struct state *s, const struct search_request *r,
                             struct arena *a, struct search_hit **out,
                             size_t *count, struct err *e);

#endif
