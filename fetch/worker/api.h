#ifndef FETCH_WORKER_API_H
#define FETCH_WORKER_API_H

#include "link.h"

/*
 * api: one request to an API, and nothing else in this process's life. Of a GET
 * a redirect is an answer, too, that says where to.
 *
 *     body of POST --> settings, rights given up --> request --> REPLY
 *
 * An address of https, or of http to this very machine. Verification on, TLS
 * >= 1.2, one attempt, no redirect followed, no cookies, no netrc, no
 * compression. Proxies and certificates are those of the settings;
 * url.*.insteadOf is ignored: it is about repositories, and the URL of an API
 * is a setting of its own. Requests to this machine use no proxy: the key
 * would cross the network in clear.
 *
 * It may be silent for as long as the deadline allows (models think), so no
 * minimum speed counts.
 *
 * Errors: ERR_ORIGIN, ERR_HOST, ERR_TLS, ERR_LIMIT, ERR_FETCH (a redirect, too);
 * never with a header's text.
 *
 * Source: DESIGN.md 8; THREATS.md rows 13, 14, 20.
 */
MUST_CHECK bool api_serve(struct link *l, struct str body, struct err *e);

#endif
