#ifndef FETCH_WORKER_URL_H
#define FETCH_WORKER_URL_H

#include "base/str.h"

/* url: parses URLs with libcurl, the library that later uses them. */

struct url {
    struct str scheme;         /* lower case */
    struct str user, password; /* decoded; empty if none */
    struct str host;           /* lower case; an IPv6 address in brackets */
    struct str path;           /* with the leading "/", as written */
    unsigned port;             /* the scheme's default if none is given */
};

/* Returns false for an invalid URL. Allocates in `a`. */
bool url_parse(struct str text, struct arena *a, struct url *out);

/* Returns the URL without user and password, for messages, allocated in `a`. */
struct str url_format(const struct url *u, struct arena *a);

/* Returns "host", or "host:port" if the port is not the scheme's default.
 * Allocated in `a`. */
struct str url_host_port(const struct url *u, struct arena *a);

#define SSH_SCHEME "ssh"

bool url_is_secure(const struct url *u); /* True for https. */
bool url_is_ssh(const struct url *u);
bool url_is_loopback(const struct url *u);
bool url_same_place(const struct url *x,
                    const struct url *y); /* same scheme, host and port */

#endif
