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

/* What is not elsewhere any more is looked up with all that it needs. */
void closure_spread_wanted(struct closure *c);

/* --- closure_resolve.c: what an answer of the host changes ------------------ */

/* The node is no longer what the lock says: what its ref names decides. */
MUST_CHECK bool closure_stop_sharing(struct closure *c, struct node *n,
                                     struct err *e);

/* Sets the node's source when a checkout has the package, and no link on the
 * way leads out of it; `any_ref`: whichever branch it is asked for by. */
bool closure_take_from_checkout(struct closure *c, struct node *n,
                                bool any_ref);
/* Reads it there, as of any `file:` source. */
MUST_CHECK bool closure_read_replaced(struct closure *c, struct node *n,
                                      struct err *e);

/* This machine knows that the locked commit has it. */
bool closure_is_proved(const struct closure *c, struct node *n);
/* `*found` false: the store lacks it, or the proof of where it is from. */
MUST_CHECK bool closure_find_in_store(struct closure *c, struct node *n,
                                      bool *found, struct err *e);
/* Goes through the queue again: packages that were assumed are looked up. */
void closure_stop_assuming(struct closure *c);

/* --- closure_fetch.c -------------------------------------------------------- */

/* Starts mapm-fetch, where it does not run. */
MUST_CHECK bool closure_request(struct closure *c, struct node *n,
                                struct err *e);

/* The same for a package that the lock has by another name of its repository: by
 * that name; once a repository its host is asked what the former one leads to. */
MUST_CHECK bool closure_request_renamed(struct closure *c, struct node *n,
                                        struct err *e);
#define CLOSURE_NAME 0x40000000u /* in ids of events: number of c->names */
struct naming *closure_naming(const struct closure *c, const struct node *n);

/* Waits while another process downloads of the same repository; `*taken`: what
 * it brought may be in the store now. */
MUST_CHECK bool closure_begin_download(struct closure *c, const struct node *n,
                                       bool *taken, struct err *e);
void closure_cancel_download(struct closure *c, const struct node *n);

#endif
