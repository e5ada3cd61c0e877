#ifndef FETCH_SSH_ADDRESS_H
#define FETCH_SSH_ADDRESS_H

#include "base/err.h"
#include "base/str.h"

/*
 * ssh_address: parses the ssh URL of a repository.
 *
 *     ssh://[user@]host[:port]/path      [user@]host:path
 *
 * The parts become arguments of the user's ssh. A ProxyCommand may insert `%h`
 * and `%r` into a shell command. Therefore each part may hold only a few
 * harmless characters and may not begin with "-" (CVE-2017-1000117,
 * CVE-2023-51385).
 *
 * Source: H2; HOSTS 4, 8; git's connect.c.
 */

#define SSH_URL_MAX_BYTES  2048
#define SSH_HOST_MAX_BYTES 253
#define SSH_USER_MAX_BYTES 64

struct ssh_address {
    struct str user; /* "" to let the configuration of ssh decide */
    struct str host; /* an IPv6 address is without brackets */
    unsigned port;   /* 0 to let the configuration of ssh decide */
    struct str path; /* as sent to the server: "/o/r.git", "o/r.git", "~u/r" */
};

/* Returns whether `text` has one of the two forms, valid or not. */
bool ssh_address_is_meant(struct str text);

/* Parses `text`, borrowing from it and allocating in `a`. Errors: ERR_REFUSED,
 * naming the invalid part. */
MUST_CHECK bool ssh_address_parse(struct str text, struct arena *a,
                                  struct ssh_address *out, struct err *e);

/* Returns "git@host:2222", for messages and comparison, allocated in `a`. */
struct str ssh_address_place(const struct ssh_address *s, struct arena *a);

#endif
