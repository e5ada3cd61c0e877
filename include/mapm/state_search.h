#ifndef MAPM_STATE_SEARCH_H
#define MAPM_STATE_SEARCH_H

#include "base/arena.h"
#include "base/str.h"

/*
 * state_search: a full-text index (FTS5) of names, descriptions and tags in
 * mapm.db, with one ranking.
 *
 *     state_put_source()   stores the entries of a library or of a catalog
 *     state_search()       returns matching entries, best match first
 *
 * A source is a cache, which can be stored again at any time. Ranking: an exact
 * name comes first; then bm25 over the stems of the words and their synonyms
 * (state/synonyms.txt), with names weighted higher than tags and descriptions,
 * multiplied by how much of the request and of the name matched; words of general
 * English (state/general_words.txt) weigh little; a text that contains the request
 * literally gets a bonus.
 *
 * Source: G1, G6, L11.
 */

struct state;

enum search_kind {
    SEARCH_LIBRARY, /* skills visible from a folder; SEARCH_MAX_LIBRARIES are
                       kept */
    SEARCH_CATALOG  /* kept until it is dropped */
};

struct search_entry {
    struct str name, description;
    struct str tags; /* one per line */
    struct str data; /* data of the caller */
    bool hidden;     /* hidden from models (L6) */
};

struct search_source {
    uint64_t id;
    struct str key, stamp; /* strings of the caller */
    size_t count;          /* number of entries */
};

/* Creates a state in memory with only an index, for the snapshot of a session,
 * and without a store. Returns NULL with `e`. */
struct state *state_open_memory(struct err *e);

/* Finds a source. Returns false with `e` clear if there is none.
 * Allocated in `a`. */
bool state_find_source(struct state *s, enum search_kind kind, struct str key,
                       struct arena *a, struct search_source *out,
                       struct err *e);
/* Lists the sources, sorted by key. Allocated in `a`. */
MUST_CHECK bool state_list_sources(struct state *s, enum search_kind kind,
                                   struct arena *a, struct search_source **out,
                                   size_t *count, struct err *e);
/* Replaces the entries of a source; unchanged entries are not written again.
 * `*id` is the id of the source. Errors: ERR_LIMIT for SEARCH_MAX_ENTRIES. */
MUST_CHECK bool state_put_source(struct state *s, enum search_kind kind,
                                 struct str key, struct str stamp,
                                 const struct search_entry *entries,
                                 size_t count, uint64_t *id, struct err *e);
/* Changes the stamp and keeps the entries. */
MUST_CHECK bool state_stamp_source(struct state *s, enum search_kind kind,
                                   struct str key, struct str stamp,
                                   struct err *e);
MUST_CHECK bool state_drop_source(struct state *s, enum search_kind kind,
                                  struct str key, struct err *e);

/* Results with a lower best score match only by chance. */
#define SEARCH_MIN_SCORE 0.1

struct search_request {
    const uint64_t *sources;
    size_t source_count;
    struct str text;
    size_t limit;
    bool model; /* exclude entries hidden from models */
};

struct search_hit {
    uint64_t source;
    struct str name, description, tags, data;
    double score;       /* 0 to 1; for the first, how well it matches */
    bool is_exact;      /* the request equals its name */
    bool is_literal;    /* contains the request literally (T16) */
    struct str words;   /* matched words of the request: "tables, pdf" */
    struct str unknown; /* words that match no entry; "" if is_literal */
};

/* Searches; best match first, then by name. A request without significant words
 * finds only literal matches. Allocated in `a`. Errors: those of mapm.db. */
MUST_CHECK bool state_search(struct state *s, const struct search_request *r,
                             struct arena *a, struct search_hit **out,
                             size_t *count, struct err *e);

#endif
