#ifndef INSTALL_CLIENTS_USED_H
#define INSTALL_CLIENTS_USED_H

#include "mapm/layer.h"

/*
 * The clients that a layer is provisioned for by name: those of `clients:`. Where
 * that is not there, in a workspace those that were given something before: it is
 * not taken back because a later command did not name them. At user level, where
 * neither mapm.yaml of the library nor config.yaml names any, these and every
 * verified client on this machine. In the arena of `cx`.
 */
struct client_choice clients_used(const struct layer *l, struct context *cx);
/* Likewise, without clients that are only on this machine, about which the user
 * is asked. */
struct client_choice clients_used_so_far(const struct layer *l,
                                         struct context *cx);
bool clients_are_decided(const struct layer *l);
/* Likewise, for inspection: without clients that are always in use but were
 * excluded by earlier commands (--client). */
struct client_choice clients_given(const struct layer *l, struct context *cx);

/* Returns whether a verified client is on this machine, by evidence that mapm
 * did not create. */
bool clients_are_there(const struct layer *l, const struct client *c,
                       struct str home);

/* Returns the names of the clients, joined by ", ", allocated in `a`. */
struct str clients_join(const struct client_choice *c, struct arena *a);

/* Returns the absolute path of mapm at user level, from PATH or beside this
 * program, and "" in a workspace. Allocated in `a`. */
struct str clients_program(const struct layer *l, struct arena *a);

#endif
