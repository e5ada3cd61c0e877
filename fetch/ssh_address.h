#ifndef FETCH_SSH_ADDRESS_H
#define FETCH_SSH_ADDRESS_H

#include "base/err.h"
#include "base/str.h"

/*
 * ssh_address: where a repository is reached by ssh.
 *
 *     ssh://[user@]host[:port]/path      [user@]host:path
 *
 * It becomes arguments of the user's ssh, of which `%h` and `%r` may be part of
 * a ProxyCommand and thus of a shell's line: so each part is of a few harmless
 * characters, and none begins with "-" (CVE-2017-1000117, CVE-2023-51385).
 *
 * Source: H2; HOSTS 4, 8; git's connect.c.
 */

#define SSH_URL_MAX_BYTES  2048
#define SSH_HOST_MAX_BYTES 253
#define SSH_USER_MAX_BYTES 64

struct ssh_address {
    struct str user; /* "": ssh's own configuration decides */
    struct str host; /* IPv6 without brackets */
    unsigned port;   /* 0: likewise */
    struct str path; /* as the server gets it: "/o/r.git", "o/r.git", "~u/r" */
};

/* Whether `text` has one of the two forms, valid or not. */
bool ssh_address_is_meant(struct str text);

/* Borrows from `text` and `a`. Errors: ERR_REFUSED, naming the part. */
MUST_CHECK bool ssh_address_parse(struct str text, struct arena *a,
                                  struct ssh_address *out, struct err *e);

/* "git@host:2222", for messages and comparison. In `a`. */
struct str ssh_address_place(const struct ssh_address *s, struct arena *a);

#endif
