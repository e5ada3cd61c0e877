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
/* Without those that are only on this machine: a person is asked about these. */
struct client_choice clients_used_so_far(const struct layer *l,
                                         struct context *cx);
bool clients_are_decided(const struct layer *l);
/* The same to look at what is there: without a client that is in use everywhere,
 * but was left out by the commands so far (--client). */
struct client_choice clients_given(const struct layer *l, struct context *cx);

/* A verified client on this machine, by more than what mapm made there. */
bool clients_are_there(const struct layer *l, const struct client *c,
                       struct str home);

/* Those that are named, with ", " between them. In `a`. */
struct str clients_join(const struct client_choice *c, struct arena *a);

/* At user level the absolute path of mapm: as PATH has it, else beside this
 * program. "" in a workspace. In `a`. */
struct str clients_program(const struct layer *l, struct arena *a);

#endif
