#ifndef FETCH_WORKER_TEAM_HTTP_H
#define FETCH_WORKER_TEAM_HTTP_H

#include "http.h"
#include "team_source.h"

/*
 * team_http: one request to a remote of the team's store, with its limits on
 * addresses, time, size and redirects.
 *
 *     team_http_start() ... q->over(q)      q->failure, or q->status
 *
 * The body of a 200 response goes to `body`. A blob may be redirected three
 * times, over https, to public addresses or to the remote's own address;
 * headers and passwords are sent to the remote alone.
 *
 * Source: TEAM.md 1.3, 1.4, 1.6.
 */

#define TEAM_MAX_REDIRECTS 3

struct team_http {
    /* set by the caller, valid until the request is finished */
    struct team_get *get; /* NULL for a request without one (a token); then
                           * `source` */
    struct team_source *source;
    const char *method;      /* "GET" ... */
    struct str url;          /* absolute, may have a query */
    const struct str *lines; /* headers, "Name: value" */
    size_t line_count;
    struct str user, password; /* for Basic; "" if none */
    bool has_own_headers;      /* send the user's http.<url>.extraHeader */
    struct str content;        /* body of POST, PUT */
    struct buf *body;
    bool is_blob;      /* the request may be redirected */
    bool is_elsewhere; /* not the host of the remote (a realm): public, https */
    void (*over)(struct team_http *q);
    void *ctx;

    /* the result */
    const struct err *failure; /* no response, or a redirect that is not
                                * followed */
    long status;
    struct http_call call; /* its `challenge` and `location` are results */

    struct http_request request;
    unsigned redirects;
    bool is_cut; /* the body exceeds its maximum */
    struct url at;
    struct arena arena;
    struct err why;
};

/* Returns false if it cannot start; `over` is not called then. */
MUST_CHECK bool team_http_start(struct team_http *q, struct err *e);
/* Cancels the request if it is running; may be called twice. */
void team_http_done(struct team_http *q);

#endif
