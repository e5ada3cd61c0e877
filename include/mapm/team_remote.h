#ifndef MAPM_TEAM_REMOTE_H
#define MAPM_TEAM_REMOTE_H

#include "base/err.h"
#include "base/str.h"

/*
 * team_remote: a store that a team shares, as its URL names it.
 *
 *     oci://host[:port]/repository    a registry of OCI distribution
 *     https://host[:port]/path        a folder of files on a web server
 *
 * Both are asked over https; over plain http where the host is this machine
 * (http://localhost/..., oci://127.0.0.1:5000/...), and nowhere else. What a
 * remote sends is verified against mapm.lock, so it need not be trusted.
 *
 * Source: S1; TEAM.md 0, 1.
 */

#define TEAM_REMOTES_MAX      16
#define TEAM_REMOTE_MAX_BYTES 2048

enum team_remote_kind { TEAM_FOLDER, TEAM_REGISTRY };

/* Where the URL stands: what its host may be, and whether it gets secrets. */
enum team_remote_source {
    TEAM_FROM_CONFIG,      /* config.yaml: any address */
    TEAM_FROM_ENVIRONMENT, /* MAPM_STORE: public ones and loopback */
    TEAM_FROM_WORKSPACE,   /* mapm.yaml, accepted: public ones alone */
};

struct team_remote {
    enum team_remote_kind kind;
    enum team_remote_source source;
    struct str url; /* canonical, without "/" at its end: to show and compare */
    struct str host; /* "ghcr.io", "127.0.0.1:5000", "[::1]:80"; no port that
                      * is the scheme's own. Lower case */
    struct str base; /* of requests: "https://ghcr.io"; of a FOLDER with its
                      * path. No "/" at its end */
    struct str repository; /* "acme/mapm"; "" of a FOLDER */
    bool is_plain;         /* http, to an address of loopback alone */
};

/* Addresses that a name may lead to, besides public ones. */
bool team_remote_may_be_loopback(const struct team_remote *t);
bool team_remote_may_be_private(const struct team_remote *t);
/* MAPM_STORE_TOKEN is not for a host that mapm.yaml alone names. */
bool team_remote_may_have_token(const struct team_remote *t);

/* In `a`. Errors: ERR_FORMAT, with the URL but never a password in it. */
MUST_CHECK bool team_remote_parse(struct str text,
                                  enum team_remote_source source,
                                  struct arena *a, struct team_remote *out,
                                  struct err *e);

/* The remotes of one run, in the order in which they are asked. */
struct team_remotes {
    struct team_remote *items;
    size_t count;
    bool only; /* the git host is never asked */
};

/* Each URL once: the first place counts, with the rights of the best source.
 * False past TEAM_REMOTES_MAX, which is an error: ERR_LIMIT. In `a`. */
MUST_CHECK bool team_remotes_add(struct team_remotes *list,
                                 const struct team_remote *more, size_t count,
                                 struct arena *a, struct err *e);

/* MAPM_STORE: URLs with blanks between. In `a`. */
MUST_CHECK bool team_remotes_parse(struct str text,
                                   enum team_remote_source source,
                                   struct arena *a, struct team_remotes *out,
                                   struct err *e);

#endif
