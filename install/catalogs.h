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

/* A catalog that an argument adds or changes. */
struct asked_catalog {
    struct catalog catalog;
    const struct catalog *before; /* entry in mapm.yaml, maybe at another ref */
};

struct expansion {
    const struct catalog *catalog;
    struct node *node;
};

/* Sets s->roots and s->chosen from the manifests and the locks. */
void catalogs_open(struct install_session *s);

/* Requests the catalogs without locked packages. ERR_LOCKED with s->locked. */
MUST_CHECK bool catalogs_ask_new(struct install_session *s, struct err *e);
void catalogs_ask(struct install_session *s, const struct catalog *c);
/* Returns the catalogs of all manifests, allocated in the arena of the
 * session. */
const struct catalog **catalogs_list(const struct install_session *s,
                                     size_t *count);
/* Returns the catalog with this origin or short form of it, or NULL. */
const struct catalog *catalogs_find(const struct install_session *s,
                                    struct str word);

/* Returns the entries of the current layer that a catalog chose, allocated in
 * the arena of the session. */
const struct lock_entry **catalogs_entries(const struct install_session *s,
                                           const struct catalog *c,
                                           size_t *count);

/* Returns the number of packages that the requested catalogs offer, after
 * closure_gather(). */
size_t catalogs_offered(const struct install_session *s);
/* Adds the chosen packages to s->choices, which has room for all that are
 * offered. Errors: those of an unreadable catalog, and ERR_NOT_FOUND for one
 * that chooses nothing; with `is_update` neither is an error. */
MUST_CHECK bool catalogs_choose(struct install_session *s, bool is_update,
                                struct err *e);
/* Drops choices that a root lists at another ref. */
void catalogs_drop_superseded(struct install_session *s);
/* Records which of s->choices were chosen by catalogs, except those left
 * out. */
void catalogs_note(struct install_session *s);

/* Returns whether the argument chooses only what a catalog with locked packages
 * covers. */
bool catalogs_have_choice(const struct install_session *s, struct str word);
/* Returns the entries for mapm.yaml that --all and patterns produce from
 * s->catalogs; NULL for those of which only packages are named. */
const struct catalog **catalogs_of_arguments(struct install_session *s);
/* Writes the catalogs of the arguments from which packages are installed. */
MUST_CHECK bool catalogs_write(struct install_session *s, struct err *e);
/* Drops the roots of catalogs that an argument moves to another ref, or changes
 * so that they select these packages no longer. */
void catalogs_drop_replaced(struct install_session *s);

#endif
