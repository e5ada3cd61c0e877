#ifndef FETCH_WORKER_TEAM_HTTP_H
#define FETCH_WORKER_TEAM_HTTP_H

#include "http.h"
#include "team_source.h"

/*
 * team_http: one request to a remote of the team's store, with the limits of
 * such: addresses that may be connected to, time, bytes, redirects.
 *
 *     team_http_start() ... q->over(q)      q->failure, or q->status
 *
 * Bytes of an answer of 200 go to `body`. A blob is followed to where it is
 * redirected, three times, over https, to public addresses or where the remote
 * itself is; headers and passwords are sent to the remote alone.
 *
 * Source: TEAM.md 1.3, 1.4, 1.6.
 */

#define TEAM_MAX_REDIRECTS 3

struct team_http {
    /* by the caller, valid until it is over */
    struct team_get *get; /* may be NULL, as for a token: then `source` */
    struct team_source *source;
    const char *method;      /* "GET" ... */
    struct str url;          /* absolute, perhaps with a query */
    const struct str *lines; /* headers, "Name: value" */
    size_t line_count;
    struct str user, password; /* Basic; "": none */
    bool has_own_headers;      /* with the user's http.<url>.extraHeader */
    struct str content;        /* POST, PUT */
    struct buf *body;
    bool is_blob; /* may be redirected */
    bool
        is_elsewhere; /* not the host of the remote, as a realm: public, https */
    void (*over)(struct team_http *q);
    void *ctx;

    /* the result */
    const struct err *failure; /* no answer, or one that is not followed */
    long status;
    struct http_call call; /* its `challenge`, `location` */

    struct http_request request;
    unsigned redirects;
    bool is_cut; /* the body is larger than it may be */
    struct url at;
    struct arena arena;
    struct err why;
};

/* False: it cannot even start, and `over` was not called. */
MUST_CHECK bool team_http_start(struct team_http *q, struct err *e);
/* Ends it, if it runs; twice is harmless. */
void team_http_done(struct team_http *q);

#endif
