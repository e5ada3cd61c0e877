#ifndef MAPM_INSTALL_PUSH_H
#define MAPM_INSTALL_PUSH_H

#include "base/context.h"
#include "mapm/doc_kind.h"

/*
 * install_push: copies the packages of the lock from the local store to a team
 * store, or verifies that a team store has them.
 *
 *     mapm store push      to a registry, or as files of a folder
 *     mapm store verify    reads from a remote, and stores nothing
 *
 * Source: S2; TEAM.md 1.7.
 */

struct install_push_request {
    struct str_list names; /* names of packages; empty for all of the lock */
    struct str remote;     /* URL; "" for the first configured registry */
    struct str to;         /* a folder to write to instead; or "" */
    bool again;            /* also push objects that are there already */
};

enum install_shared_state {
    INSTALL_SHARED,    /* pushed */
    INSTALL_WAS_THERE, /* already there; verify: matches the lock */
    INSTALL_NOT_SHARED,
    INSTALL_KEPT_BACK, /* must not be shared; a proof that is too large to be */
};

/* An object of a package or of its proof. */
struct install_shared {
    enum doc_kind kind; /* kind of the package */
    struct str package; /* FQN */
    struct str object;  /* name at the remote; or "" */
    bool is_proof;
    struct str tree; /* 40 hex: a large tree of the proof, which it shares with
                        others; or "" */
    enum install_shared_state state;
    size_t bytes;       /* bytes sent or written */
    struct str message; /* reason for failure, one line */
};

struct install_push_result {
    struct str to; /* URL or folder */
    struct install_shared *items;
    size_t count;
    size_t by_state[INSTALL_KEPT_BACK + 1];
};

/*
 * Pushes packages. Errors of single objects are in the result. Allocated in
 * the arena of `cx`.
 * Errors: ERR_USAGE without a remote; ERR_REFUSED if the user has no permission
 * to push, with the required scope in the message; ERR_OFFLINE.
 */
MUST_CHECK bool install_push(struct context *cx,
                             const struct install_push_request *request,
                             struct install_push_result *out, struct err *e);

/*
 * Fetches all packages of the lock and their proofs from a remote and
 * verifies them as an install does, without storing them. The result has one
 * item per package, INSTALL_WAS_THERE if it matches the lock. The git host
 * is not contacted.
 * Errors: ERR_FORMAT for the URL, ERR_OFFLINE.
 */
MUST_CHECK bool install_check_remote(struct context *cx, struct str url,
                                     struct install_push_result *out,
                                     struct err *e);

#endif
