#ifndef INSTALL_CATALOGS_H
#define INSTALL_CATALOGS_H

#include "exclude.h"
#include "selection.h"

/*
 * catalogs: the `catalogs:` of the manifests, whose packages are roots [D11].
 *
 *     mapm.lock    which packages they chose so far: roots like those listed
 *     catalogs_ask()      asks what they offer now
 *     catalogs_choose()   what of that fits their patterns, and is new
 *     catalogs_note()     those that can be installed are chosen from now on
 *
 * An install asks only those of which the lock has nothing, an update all. What
 * an argument chooses by pattern becomes a catalog of mapm.yaml, too.
 */

/* What an argument makes of a catalog. */
struct asked_catalog {
    struct catalog catalog;
    const struct catalog *before; /* in mapm.yaml, maybe at another ref */
};

struct expansion {
    const struct catalog *catalog;
    struct node *node;
};

/* s->roots and s->chosen, by the manifests and the locks. */
void catalogs_open(struct install_session *s);

/* Those of which no package is locked. ERR_LOCKED with s->locked. */
MUST_CHECK bool catalogs_ask_new(struct install_session *s, struct err *e);
void catalogs_ask(struct install_session *s, const struct catalog *c);
/* Of all manifests. In the arena of the session. */
const struct catalog **catalogs_list(const struct install_session *s,
                                     size_t *count);
/* The one that a word names: its origin, or a short form of it. NULL: none. */
const struct catalog *catalogs_find(const struct install_session *s,
                                    struct str word);

/* After closure_gather: those that were asked for. How many they offer. */
size_t catalogs_offered(const struct install_session *s);
/* Adds to s->choices, which has room for all that they offer. Errors: of a
 * catalog that could not be read; ERR_NOT_FOUND of one that chooses nothing.
 * `is_update`: neither is one. */
MUST_CHECK bool catalogs_choose(struct install_session *s, bool is_update,
                                struct err *e);
/* Those that stand for a root that is listed at another ref are no choices. */
void catalogs_drop_superseded(struct install_session *s);
/* Remembers which of s->choices catalogs chose, but for those left out. */
void catalogs_note(struct install_session *s);

/* An argument that chooses only what a catalog with locked packages is for. */
bool catalogs_have_choice(const struct install_session *s, struct str word);
/* What --all and patterns choose of s->catalogs, as these will stand in
 * mapm.yaml; NULL for each where they name packages alone. */
const struct catalog **catalogs_of_arguments(struct install_session *s);
/* Writes the catalogs of the arguments of which something is taken. */
MUST_CHECK bool catalogs_write(struct install_session *s, struct err *e);
/* Roots of catalogs that an argument moves to another ref. */
void catalogs_drop_replaced(struct install_session *s);

#endif
