#ifndef FETCH_WORKER_REGISTRY_H
#define FETCH_WORKER_REGISTRY_H

#include "../registry_credential.h"
#include "registry_auth.h"
#include "team_http.h"

/*
 * registry: sends requests to one OCI registry and handles its authentication.
 *
 *     registry_start(request) … request->over(request)
 *
 * The first request is sent alone: its response tells whether a token is
 * needed, which all others then share. After a 401 one new token is requested;
 * another 401 is an error. mapm is asked for the credential once, by the URL of
 * the remote, so that credentials of other hosts cannot be obtained. The
 * credential is sent to the registry and to the token server that it names, but
 * not to the target of a redirect. Only blobs may be redirected; manifests,
 * uploads and token requests may not (team_http.h).
 *
 * A registry that cannot be reached, is too slow, rejects the user, or responds
 * to a pull with 5xx or 429 is marked `dead`: all further requests fail at
 * once.
 *
 * Source: S3; TEAM.md 1.3 to 1.5.
 */

struct registry;

struct registry_request {
    /* Set by the caller; valid until the request is finished. */
    const char *method;      /* "GET", "HEAD", "POST", "PUT" */
    struct str path;         /* "/manifests/x", below the repository; or */
    struct str address;      /* an absolute URL of this registry */
    struct str accept, type; /* headers; "" if none */
    struct str content;
    struct buf *body; /* receives the body of a 200 response; its maximum is
                       * set */
    bool is_blob;     /* the request may be redirected */
    void (*over)(struct registry_request *q);
    void *ctx;

    /* The response: a status, or `why`. */
    long status;
    unsigned retry_after_s;
    struct str location; /* Location header, in the request's arena */
    const struct err *why;

    /* Private to registry.c. */
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
    struct url url;           /* base URL of the registry */
    const struct err *dead;   /* the reason; NULL if it works */
    struct str authorization; /* "Authorization: …", or "" */
    unsigned round;           /* version of `authorization` */
    bool is_asked;            /* the first request is running */
    bool is_open;             /* the first request has been answered */
    bool has_worked;          /* some request was authorized */
    bool has_secret;          /* mapm was asked for the credential, which is: */
    struct registry_secret secret;
    struct registry_challenge challenge;
    bool is_waiting; /* requests wait for a token: */
    struct registry_request token;
    struct buf token_body;
    struct registry_request *first, *last; /* queued requests */
};

/* The caller sets source and pushes; the rest is zero. */
MUST_CHECK bool registry_init(struct registry *r, struct err *e);

/* Starts a request. `over` is called exactly once, possibly before this
 * returns. */
void registry_start(struct registry *r, struct registry_request *q);

/* Cancels the request if it is running; may be called twice. */
void registry_request_done(struct registry_request *q);

#endif
