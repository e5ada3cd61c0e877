#ifndef LIBRARY_CATALOG_H
#define LIBRARY_CATALOG_H

#include "base/map.h"

#include <pthread.h>

#include "haystack.h"
#include "scan.h"

/*
 * catalog: what a library is between two looks. One arena holds it all; the
 * texts of its skills are borrowed from the bytes of its batches.
 */

struct catalog {
    struct arena a;
    struct record_batch *batches; /* one a root, in order of the options */
    struct library_skill *skills; /* the skills in effect, by name */
    struct place {
        uint32_t root, record;
    } * places; /* where each is from */
    size_t count;
    int64_t began;        /* when its roots were about to be read: seconds */
    size_t overridden;    /* skills that another of the same name beat */
    struct str *texts;    /* SKILL.md of each, once held; p NULL: too much */
    pthread_mutex_t lock; /* of what follows */
    struct haystack *haystack; /* at the first search; then it stays (metis) */
    struct state *memory;      /* at the first search; NULL: in mapm.db */
    struct state *index;       /* that or mapm.db; NULL: not yet */
    uint64_t source;           /* in it */
    struct map warned;         /* files with reported hidden characters */
};

struct library {
    struct arena a; /* of the options */
    struct library_options options;
    size_t *ranked; /* its roots, the strongest first */
    struct catalog *catalog;
    bool hold;
};

/* Which skills win (T13, X23), from the batches; `loud` says over which. */
MUST_CHECK bool catalog_merge(const struct library *l, struct catalog *c,
                              bool loud, struct err *e);

void catalog_fill(struct library_skill *s, const struct library_root *root,
                  const struct record *r, bool metis, struct arena *a);

/* T18: ERR_NOT_FOUND "no skill registered with name 'x'". */
MUST_CHECK bool catalog_find(const struct library *l, struct str name,
                             const struct library_skill **out, struct err *e);

/* The character before `at` is one of a word. */
bool follows_word(struct str text, size_t at);

const struct haystack *catalog_haystack(const struct library *l);

/* True once for each file of a skill, until the library has changed. */
bool catalog_warns_first(const struct library *l, struct str skill,
                         struct str path);

/* Its index in the catalog, and its record. */
size_t catalog_index(const struct library *l, const struct library_skill *s);
struct record catalog_record(const struct library *l,
                             const struct library_skill *s);

#endif
