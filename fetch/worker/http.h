#ifndef FETCH_WORKER_HTTP_H
#define FETCH_WORKER_HTTP_H

#include "mapm/limits.h"

#include <poll.h>

#include "address.h"
#include "settings.h"

/*
 * http: requests, all at once, over as few connections as HTTP/2 allows.
 *
 *     http_start(call) …  http_wait()  http_next() --> a call that is over
 *
 * One attempt each: what to make of a status, a redirect or a failure is for
 * the caller to say. TLS >= 1.2, verification on, no cookies, no netrc, no
 * redirects followed, no compression asked for.
 *
 * Source: FETCH.md 8, 9; THREATS.md rows 13, 14.
 */

#define HTTP_STATUS_OK           200
#define HTTP_STATUS_UNAUTHORIZED 401
#define HEADERS_MAX_BYTES        (64u * 1024)
#define WAIT_MAX_FDS             64

struct http;
struct http_call;

/* A request that is not one of git's: to a team store. */
struct http_request {
    const char *method;        /* "GET", "HEAD", "POST", "PUT" */
    struct str address;        /* with its query */
    const struct str *headers; /* "name: value" */
    size_t header_count;
    /* 0: those of git. */
    unsigned connect_seconds, stall_seconds, stall_bytes_per_second;
    /* Called when http_next has handed it out; fails only when mapm has ended. */
    bool (*over)(struct http_call *call, struct err *e);
};

struct http_call {
    /* the request; valid until the call is over */
    const struct url *url; /* without query; of `request` for its place alone */
    const struct http_request *request; /* NULL: one of git's */
    struct str query; /* "service=git-upload-pack"; empty: a POST */
    struct str body;
    struct str user, password; /* empty: none */
    bool has_own_headers;      /* with the user's http.<url>.extraHeader */
    uint64_t max_seconds;      /* for the whole answer; 0: the session's */
    bool public_only;          /* the name may not lead to a private address */
    bool loopback_too;         /* … but to this machine */
    bool loopback_only;        /* to this machine, and no proxy is asked */
    /* Bytes of a body whose status is 200; false stops the transfer. */
    bool (*data)(void *ctx, struct str bytes);
    void *ctx;

    /* the response */
    int failure; /* CURLcode */
    char why[256];
    long status;
    struct str type, location; /* headers, in the call's arena */
    struct str challenge;   /* of a `request`: each WWW-Authenticate, a line */
    unsigned retry_after_s; /* 0: not said */
    bool is_rate_limited;   /* x-ratelimit-remaining: 0, or the like */
    uint64_t rate_reset_s;  /* until then, since 1970; 0: not said */
    uint64_t received;      /* body bytes */
    bool is_page_cut;       /* of a status that is not 200: unread */
    char private_address[ADDRESS_TEXT_BYTES]; /* that it led to; "" */
    uint64_t took_ms;

    struct arena arena;
    struct http *http;
    void *easy, *headers; /* libcurl's */
    size_t header_bytes;
};

struct http_counts {
    uint64_t requests, connections, received;
    uint64_t
        of_stores; /* of `received`: limited apart, as nobody relies on it */
};

/* Settings and limits must outlive it. curl_global_init has been called. Ends
 * with the process. */
struct http *http_open(const struct settings *s, const struct limits *limits);

/* Errors: ERR_TLS for certificates that cannot be read. */
MUST_CHECK bool http_start(struct http *h, struct http_call *call,
                           struct err *e);

/* Sets `type` while the body is still coming. */
void http_call_type(struct http_call *call);

/* A call that is over since, or NULL. */
struct http_call *http_next(struct http *h);

/* Waits for the network, for one of `others`, or so long. */
void http_wait(struct http *h, const struct pollfd *others, size_t count,
               unsigned max_ms);

struct http_counts http_counts(const struct http *h);

/* What goes another way counts, too. */
void http_count_request(struct http *h);
void http_count_connection(struct http *h);
/* False: more than transfer_max_bytes by now. */
bool http_count_received(struct http *h, size_t bytes);
/* ERR_LIMIT when transfer_max_bytes or transfer_max_seconds is exceeded. */
MUST_CHECK bool http_check_limits(const struct http *h, struct err *e);

/* Milliseconds left of transfer_max_seconds; 0: it is over. */
uint64_t http_time_left(const struct http *h);

/* The failure of `call`, below HTTP, in words. False. Errors: ERR_HOST,
 * ERR_TLS, ERR_LIMIT, ERR_FETCH. */
bool http_fail(const struct http_call *call, struct err *e);

/* Is it the kind that may go better next time? */
bool http_may_retry(const struct http_call *call);

/* It ended because nothing came for too long. */
bool http_was_slow(const struct http_call *call);

/* Ends one that still runs. */
void http_call_done(struct http_call *call);

/* --- for any handle of libcurl's, also api.c's ----------------------------- */

/* TLS, certificates and proxy for `u`, as the settings have them. What libcurl
 * borrows is in `a`. Errors: ERR_TLS for certificates that cannot be read. */
MUST_CHECK bool http_set_trust(void *easy, const struct settings *s,
                               const struct url *u, struct arena *a,
                               struct err *e);

/* A CURLcode in words; `why`: of its error buffer. False. */
bool http_say_failure(int failure, const char *why, const struct settings *s,
                      struct err *e);

#endif
