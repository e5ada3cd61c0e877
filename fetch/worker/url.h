#ifndef FETCH_WORKER_URL_H
#define FETCH_WORKER_URL_H

#include "base/str.h"

/* url: an address taken apart by libcurl, which will be the one to use it. */

struct url {
    struct str scheme;         /* lower case */
    struct str user, password; /* decoded; empty: none */
    struct str host;           /* lower case; IPv6 in brackets */
    struct str path;           /* with "/" in front, as written */
    unsigned port;             /* of the scheme when none is written */
};

/* False for an invalid URL. In `a`. */
bool url_parse(struct str text, struct arena *a, struct url *out);

/* Without user and password: what may be shown. In `a`. */
struct str url_format(const struct url *u, struct arena *a);

/* "host", or "host:port" when that is not the scheme's own. In `a`. */
struct str url_host_port(const struct url *u, struct arena *a);

#define SSH_SCHEME "ssh"

bool url_is_secure(const struct url *u); /* https */
bool url_is_ssh(const struct url *u);
bool url_is_loopback(const struct url *u);
bool url_same_place(const struct url *x,
                    const struct url *y); /* all but path */

#endif
