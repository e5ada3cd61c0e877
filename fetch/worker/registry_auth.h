#ifndef FETCH_WORKER_REGISTRY_AUTH_H
#define FETCH_WORKER_REGISTRY_AUTH_H

#include "base/buf.h"

#include "url.h"

/*
 * registry_auth: what a registry and its token server say of who may do what.
 *
 *     WWW-Authenticate: Bearer realm="…",service="…",scope="…"   or Basic
 *         --> GET realm?service=…&scope=…  --> {"token": …}
 *
 * All of it is hostile: bounded, and no text of it becomes part of a header
 * unless each of its characters may stand there.
 *
 * Source: TEAM.md 1.4; RFC 7235; distribution's specification of tokens.
 */

#define REGISTRY_CHALLENGE_MAX_BYTES (8u * 1024)
#define REGISTRY_ANSWER_MAX_BYTES    (64u * 1024) /* of a token server */
#define REGISTRY_TOKEN_MAX_BYTES     (32u * 1024)

enum registry_scheme {
    REGISTRY_NO_SCHEME, /* none that mapm knows */
    REGISTRY_BASIC,
    REGISTRY_BEARER,
};

struct registry_challenge {
    enum registry_scheme scheme;
    struct str realm, service, scope; /* BEARER; "" = not said */
};

/* Of several lines the first Bearer, else the first Basic. In `a`. */
void registry_challenge_parse(struct str lines, struct arena *a,
                              struct registry_challenge *out);

/* "token", else "access_token"; in `a`. False: there is none that could stand
 * in a header. */
bool registry_token_parse(struct str body, struct arena *a, struct str *token);

/* May credentials be sent there? https anywhere; http on the registry's own
 * host, when that is this machine. */
bool registry_realm_is_good(const struct url *realm,
                            const struct url *registry);

/* The scope to ask for: what the challenge names, with the right to push when
 * that is meant and it names this repository, or names nothing. In `a`. */
struct str registry_scope(struct str named, struct str repository, bool pushes,
                          struct arena *a);

/* `realm` with service and scope as its query. In `a`. */
struct str registry_token_address(struct str realm, struct str service,
                                  struct str scope, struct arena *a);

#endif
