#ifndef FETCH_WORKER_REGISTRY_H
#define FETCH_WORKER_REGISTRY_H

#include "../registry_credential.h"
#include "registry_auth.h"
#include "team_http.h"

/*
 * registry: requests to one registry of OCI distribution, with what it asks of
 * its users.
 *
 *     registry_start(request) … request->over(request)
 *
 * The first request goes alone: its answer tells whether a token is needed,
 * which then serves all. A 401 gets one new token, and after that is an error.
 * Credentials are asked of mapm once, by the URL of the remote, so that no
 * other host's can be had. They go to the registry and to the token server
 * that it names, never along with a redirect. Manifests, uploads and token
 * servers are not redirected, blobs are (team_http.h).
 *
 * A registry that cannot be reached, is too slow, does not let this user in, or
 * answers a pull with 5xx or 429, is `dead`: all further requests fail at once.
 *
 * Source: S3; TEAM.md 1.3 to 1.5.
 */

struct registry;

struct registry_request {
    /* By the caller; valid until it is over. */
    const char *method;      /* "GET", "HEAD", "POST", "PUT" */
    struct str path;         /* "/manifests/x", below the repository; or … */
    struct str address;      /* … a whole address of this registry */
    struct str accept, type; /* headers; "" = none */
    struct str content;
    struct buf *body; /* of an answer of 200; its maximum is set */
    bool is_blob;     /* may be redirected */
    void (*over)(struct registry_request *q);
    void *ctx;

    /* The answer: a status, or `why`. */
    long status;
    unsigned retry_after_s;
    struct str location; /* in the request's arena */
    const struct err *why;

    /* Of registry.c. */
    struct registry *registry;
    struct registry_request *next;
    struct arena arena;
    struct team_http http;
    struct str headers[3];
    struct str challenge;
    struct url url;
    unsigned round, refusals;
    bool is_token;
};

struct registry {
    struct team_source *source;
    struct arena arena;
    bool pushes;
    struct url url;           /* of the host */
    const struct err *dead;   /* and why */
    struct str authorization; /* "Authorization: …"; "" */
    unsigned round;           /* of authorization */
    bool is_asked;            /* its first request is under way */
    bool is_open;             /* … has been answered */
    bool has_worked;          /* some request was let in */
    bool has_secret;          /* mapm was asked for one: */
    struct registry_secret secret;
    struct registry_challenge challenge;
    bool is_waiting; /* for a token: */
    struct registry_request token;
    struct buf token_body;
    struct registry_request *first, *last; /* that wait */
};

/* Of `r` source and pushes are set, the rest is zero. */
MUST_CHECK bool registry_init(struct registry *r, struct err *e);
void registry_done(struct registry *r);

/* `over` is called exactly once, perhaps from within. */
void registry_start(struct registry *r, struct registry_request *q);

/* Ends it, when it is under way; twice is harmless. */
void registry_request_done(struct registry_request *q);

#endif
