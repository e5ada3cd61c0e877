#ifndef FETCH_WORKER_API_H
#define FETCH_WORKER_API_H

#include "link.h"

/*
 * api: performs one HTTP request to an API; it is the only task of its process.
 * For a GET, a redirect is also a response, which gives the new location.
 *
 *     body of POST --> settings, drop rights --> request --> REPLY
 *
 * The URL must be https, or http to this machine. The request verifies
 * certificates, uses TLS >= 1.2, is tried once, and uses no redirects, cookies,
 * netrc or compression. Proxies and certificates come from the settings.
 * url.*.insteadOf does not apply: it is meant for repositories, and the URL of
 * an API is a setting of its own. Requests to this machine use no proxy, since
 * the key would cross the network in clear text.
 *
 * There is no minimum speed: a model may send nothing for as long as the
 * deadline allows.
 *
 * Errors: ERR_ORIGIN, ERR_HOST, ERR_TLS, ERR_LIMIT, ERR_FETCH (also for a
 * redirect); they never quote a header.
 *
 * Source: DESIGN.md 8; THREATS.md rows 13, 14, 20.
 */
MUST_CHECK bool api_serve(struct link *l, struct str body, struct err *e);

#endif
