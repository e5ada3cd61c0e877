#ifndef FETCH_WORKER_REGISTRY_AUTH_H
#define FETCH_WORKER_REGISTRY_AUTH_H

#include "base/buf.h"

#include "url.h"

/*
 * registry_auth: parses the challenge of a registry and the response of its
 * token server.
 *
 *     WWW-Authenticate: Bearer realm="…",service="…",scope="…"   or Basic
 *         --> GET realm?service=…&scope=…  --> {"token": …}
 *
 * All of it is hostile: sizes are bounded, and text goes into a header only if
 * every character is allowed there.
 *
 * Source: TEAM.md 1.4; RFC 7235; distribution's specification of tokens.
 */

#define REGISTRY_CHALLENGE_MAX_BYTES (8u * 1024)
/* Response of a token server. */
#define REGISTRY_ANSWER_MAX_BYTES (64u * 1024)
#define REGISTRY_TOKEN_MAX_BYTES  (32u * 1024)

enum registry_scheme {
    REGISTRY_NO_SCHEME, /* none that mapm supports */
    REGISTRY_BASIC,
    REGISTRY_BEARER,
};

struct registry_challenge {
    enum registry_scheme scheme;
    struct str realm, service, scope; /* REGISTRY_BEARER only; "" if missing */
};

/* Parses the lines; chooses the first Bearer challenge, else the first Basic.
 * Allocates in `a`. */
void registry_challenge_parse(struct str lines, struct arena *a,
                              struct registry_challenge *out);

/* Reads "token", else "access_token", allocated in `a`. Returns false if there
 * is none that is valid in a header. */
bool registry_token_parse(struct str body, struct arena *a, struct str *token);

/* Returns whether credentials may be sent to `realm`: any https URL, or http on
 * the registry's own host if that is this machine. */
bool registry_realm_is_good(const struct url *realm,
                            const struct url *registry);

/* Returns the scope to request: that of the challenge, with the right to push
 * if `pushes` is set and it names this repository or none. Allocated in `a`. */
struct str registry_scope(struct str named, struct str repository, bool pushes,
                          struct arena *a);

/* Returns `realm` with service and scope as its query, allocated in `a`. */
struct str registry_token_address(struct str realm, struct str service,
                                  struct str scope, struct arena *a);

#endif
