#ifndef INSTALL_CLOSURE_RESOLVE_H
#define INSTALL_CLOSURE_RESOLVE_H

#include "closure.h"

/*
 * closure_resolve: where one node comes from.
 *
 *     closure_resolve() --> the lock and the store, this disk, the index,
 *         |                 or its plugin
 *         `--> closure_request() --> an event for closure_gather
 *
 * A function that fails says why in `e`: closure_gather decides whether only
 * this node has failed.
 */

MUST_CHECK bool closure_resolve(struct closure *c, struct node *n,
                                struct err *e);

/* --- nodes.c ---------------------------------------------------------------- */

/* Looks up nodes that are no longer elsewhere, with their dependencies. */
void closure_spread_wanted(struct closure *c);

/* --- closure_resolve.c: what an answer of the host changes ------------------ */

/* Resolves the node by its ref instead of the lock. */
MUST_CHECK bool closure_stop_sharing(struct closure *c, struct node *n,
                                     struct err *e);

/* Sets the node's source when a checkout has the package, and no link on the
 * way leads out of it; `any_ref`: whichever branch it is asked for by. */
bool closure_take_from_checkout(struct closure *c, struct node *n,
                                bool any_ref);
/* Reads the node from a replacement, like any `file:` source. */
MUST_CHECK bool closure_read_replaced(struct closure *c, struct node *n,
                                      struct err *e);

/* Returns whether this machine has proved that the locked commit contains
 * it. */
bool closure_is_proved(const struct closure *c, struct node *n);
/* Looks the node up in the store; `*found` is false if it or its proof is
 * missing. */
MUST_CHECK bool closure_find_in_store(struct closure *c, struct node *n,
                                      bool *found, struct err *e);
/* Looks up the packages that were assumed to be present. */
void closure_stop_assuming(struct closure *c);

/* --- closure_fetch.c -------------------------------------------------------- */

/* Requests the node; starts mapm-fetch if it is not running. */
MUST_CHECK bool closure_request(struct closure *c, struct node *n,
                                struct err *e);

/* The same for a package that the lock has by another name of its repository: by
 * that name; once a repository its host is asked what the former one leads to. */
MUST_CHECK bool closure_request_renamed(struct closure *c, struct node *n,
                                        struct err *e);
#define CLOSURE_NAME 0x40000000u /* in ids of events: number of c->names */
struct naming *closure_naming(const struct closure *c, const struct node *n);

/* Waits while another process downloads from the same repository; `*taken`
 * tells that its packages may be in the store now. */
MUST_CHECK bool closure_begin_download(struct closure *c, const struct node *n,
                                       bool *taken, struct err *e);
void closure_cancel_download(struct closure *c, const struct node *n);

#endif
