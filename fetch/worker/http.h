#ifndef FETCH_WORKER_HTTP_H
#define FETCH_WORKER_HTTP_H

#include "base/address.h"
#include "mapm/limits.h"

#include <poll.h>

#include "settings.h"

/*
 * http: runs concurrent requests over as few connections as HTTP/2 allows.
 *
 *     http_start(call) …  http_wait()  http_next() --> a finished call
 *
 * Each request is tried once; the caller handles statuses, redirects and
 * failures. TLS >= 1.2 with verification; no cookies, no netrc, no redirects,
 * no compression.
 *
 * Source: FETCH.md 8, 9; THREATS.md rows 13, 14.
 */

#define HTTP_STATUS_OK           200
#define HTTP_STATUS_UNAUTHORIZED 401
#define HEADERS_MAX_BYTES        (64u * 1024)
#define WAIT_MAX_FDS             64

struct http;
struct http_call;

/* A request to a team store, as opposed to git's requests. */
struct http_request {
    const char *method;        /* "GET", "HEAD", "POST", "PUT" */
    struct str address;        /* URL, with its query */
    const struct str *headers; /* "name: value" */
    size_t header_count;
    /* 0 for the values of git requests */
    unsigned connect_seconds, stall_seconds, stall_bytes_per_second;
    /* Called after http_next has returned the call; fails only if mapm has
     * ended. */
    bool (*over)(struct http_call *call, struct err *e);
};

struct http_call {
    /* the request; valid until the call is finished */
    const struct url *url; /* without query; with `request`, gives only the
                            * server */
    const struct http_request *request; /* NULL for a git request */
    struct str query; /* "service=git-upload-pack"; empty for a POST */
    struct str body;
    struct str user, password; /* empty if none */
    bool has_own_headers;      /* send the user's http.<url>.extraHeader */
    uint64_t max_seconds;      /* for the complete response; 0 for the
                                * session's limit */
    bool public_only;          /* the name must not resolve to a private
                                * address */
    bool loopback_too;         /* with public_only: a loopback address is
                                * allowed, too */
    bool loopback_only;        /* the name must resolve to a loopback
                                * address; no proxy is used */
    /* Receives the body of a response with status 200; false stops the
     * transfer. */
    bool (*data)(void *ctx, struct str bytes);
    void *ctx;

    /* the response */
    int failure; /* CURLcode */
    char why[256];
    long status;
    struct str type, location; /* headers, in the call's arena */
    struct str challenge;      /* with `request`: WWW-Authenticate, one line
                             * each */
    unsigned retry_after_s;    /* 0 if not sent */
    bool is_rate_limited;      /* "x-ratelimit-remaining: 0", or the like */
    uint64_t rate_reset_s;     /* end of the rate limit, since 1970; 0 if not
                             * sent */
    uint64_t received;         /* bytes of the body */
    bool is_page_cut;          /* the body of a status other than 200 was not
                             * read */
    char private_address[ADDRESS_TEXT_BYTES]; /* the rejected address; "" if
                                               * none */
    uint64_t took_ms;

    struct arena arena;
    struct http *http;
    void *easy, *headers; /* handles of libcurl */
    size_t header_bytes;
};

struct http_counts {
    uint64_t requests, connections, received;
    uint64_t of_stores; /* part of `received` that came from team stores; it
                         * has a limit of its own */
};

/* `s` and `limits` must outlive it. curl_global_init must have been called.
 * There is no close: it lives as long as the process. */
struct http *http_open(const struct settings *s, const struct limits *limits);

/* Starts the call. Errors: ERR_TLS for unreadable certificates. */
MUST_CHECK bool http_start(struct http *h, struct http_call *call,
                           struct err *e);

/* Sets `type` while the body is still arriving. */
void http_call_type(struct http_call *call);

/* Returns a call that has finished, or NULL. */
struct http_call *http_next(struct http *h);

/* Waits for the network, for one of `others`, or for `max_ms`. */
void http_wait(struct http *h, const struct pollfd *others, size_t count,
               unsigned max_ms);

struct http_counts http_counts(const struct http *h);

/* Count the traffic of other transports (ssh). */
void http_count_request(struct http *h);
void http_count_connection(struct http *h);
/* Returns false once transfer_max_bytes is exceeded. */
bool http_count_received(struct http *h, size_t bytes);
/* Errors: ERR_LIMIT if transfer_max_bytes or transfer_max_seconds is
 * exceeded. */
MUST_CHECK bool http_check_limits(const struct http *h, struct err *e);

/* Returns the milliseconds left of transfer_max_seconds, or 0. */
uint64_t http_time_left(const struct http *h);

/* Sets `e` to the failure of `call` below HTTP. Returns false. Errors:
 * ERR_HOST, ERR_TLS, ERR_LIMIT, ERR_FETCH. */
bool http_fail(const struct http_call *call, struct err *e);

/* Returns whether a retry may succeed. */
bool http_may_retry(const struct http_call *call);

/* Returns whether it ended because no data arrived for too long. */
bool http_was_slow(const struct http_call *call);

/* Aborts the call if it is still running, and frees it. */
void http_call_done(struct http_call *call);

/* --- for every libcurl handle, including that of api.c -------------------- */

/* Applies TLS, certificates and proxy of the settings for `u`. Strings that
 * libcurl borrows are in `a`. Errors: ERR_TLS for unreadable certificates. */
MUST_CHECK bool http_set_trust(void *easy, const struct settings *s,
                               const struct url *u, struct arena *a,
                               struct err *e);

/* Sets `e` to the text of a CURLcode; `why` is the error buffer of libcurl.
 * Returns false. */
bool http_fail_curl(int failure, const char *why, const struct settings *s,
                    struct err *e);

#endif
