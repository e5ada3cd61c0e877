#ifndef MAPM_INSTALL_PUSH_H
#define MAPM_INSTALL_PUSH_H

#include "base/context.h"
#include "mapm/doc_kind.h"

/*
 * install_push: what the lock holds to a store of the team, out of the store of
 * this machine; and whether a remote has it as the lock says.
 *
 *     mapm store push      to a registry, or as files of a folder
 *     mapm store verify    reads from a remote, and keeps nothing
 *
 * Source: S2; TEAM.md 1.7.
 */

struct install_push_request {
    struct str_list names; /* of packages; none: all of the lock */
    struct str remote;     /* its URL; "": the first registry of this run */
    struct str to;         /* a folder instead; "" */
    bool again;            /* what is there already, too */
};

enum install_shared_state {
    INSTALL_SHARED,    /* pushed now */
    INSTALL_WAS_THERE, /* nothing was sent; verified: it is as the lock says */
    INSTALL_NOT_SHARED,
    INSTALL_KEPT_BACK, /* not meant to be shared */
};

/* An object: of a package, or of its proof. */
struct install_shared {
    enum doc_kind kind; /* of the package */
    struct str package; /* FQN */
    struct str object;  /* its name at the remote; "" of one that has none */
    bool is_proof;
    enum install_shared_state state;
    size_t bytes;       /* that were sent, or written */
    struct str message; /* why not; one line */
};

struct install_push_result {
    struct str to; /* URL, or folder */
    struct install_shared *items;
    size_t count;
    size_t by_state[INSTALL_KEPT_BACK + 1];
};

/*
 * In the arena of `cx`. Faults of single objects are in the result.
 * Errors: ERR_USAGE without a remote; ERR_REFUSED when the registry does not let
 * this user push: its message names the scope; ERR_OFFLINE.
 */
MUST_CHECK bool install_push(struct context *cx,
                             const struct install_push_request *request,
                             struct install_push_result *out, struct err *e);

/*
 * Asks a remote for all that the lock holds and its proofs, verifies it as an
 * install does, and keeps nothing: of each package one item, WAS_THERE when it is
 * as the lock says. The git host is not asked.
 * Errors: ERR_FORMAT for the URL, ERR_OFFLINE.
 */
MUST_CHECK bool install_check_remote(struct context *cx, struct str url,
                                     struct install_push_result *out,
                                     struct err *e);

#endif
