#ifndef LIBRARY_CATALOG_H
#define LIBRARY_CATALOG_H

#include "base/map.h"

#include <pthread.h>

#include "haystack.h"
#include "scan.h"

/* catalog: the state of a library between two scans. Everything is in one
 * arena; the texts of skills are borrowed from the bytes of the batches. */

struct catalog {
    struct arena a;
    struct record_batch *batches; /* one per root, in the order of the
                                   * options */
    struct library_skill *skills; /* the skills in effect, by name */
    struct place {
        uint32_t root, record;
    } * places; /* the record that each skill comes from */
    size_t count;
    int64_t began;        /* time before the roots were read, in seconds */
    size_t overridden;    /* number of skills hidden by another one of the
                           * same name */
    struct str *texts;    /* SKILL.md of each skill, once read; p is NULL if
                           * too large */
    pthread_mutex_t lock; /* protects the following members */
    struct haystack *haystack; /* built at the first search (metis) */
    struct state *memory;      /* index in memory, opened at the first
                                * search; NULL if in mapm.db */
    struct state *index;       /* `memory` or mapm.db; NULL before the first
                                * search */
    uint64_t source;           /* source in the index */
    struct map warned;         /* files whose hidden characters were reported */
};

struct library {
    struct arena a; /* of the options */
    struct library_options options;
    size_t *ranked; /* roots in order of precedence */
    struct catalog *catalog;
    bool hold;
};

/* Chooses the skills in effect (T13, X23) from the batches. With `loud`,
 * reports the skills that they hide. */
MUST_CHECK bool catalog_merge(const struct library *l, struct catalog *c,
                              bool loud, struct err *e);

void catalog_fill(struct library_skill *s, const struct library_root *root,
                  const struct record *r, bool metis, struct arena *a);

/* T18: ERR_NOT_FOUND "no skill registered with name 'x'". */
MUST_CHECK bool catalog_find(const struct library *l, struct str name,
                             const struct library_skill **out, struct err *e);

const struct haystack *catalog_haystack(const struct library *l);

/* Returns true once for each file of a skill, until the library changes. */
bool catalog_warns_first(const struct library *l, struct str skill,
                         struct str path);

/* Returns the index of the skill in the catalog. */
size_t catalog_index(const struct library *l, const struct library_skill *s);
struct record catalog_record(const struct library *l,
                             const struct library_skill *s);

#endif
