#ifndef MAPM_TEAM_REMOTE_H
#define MAPM_TEAM_REMOTE_H

#include "base/err.h"
#include "base/str.h"

/*
 * team_remote: parses the URL of a store that a team shares.
 *
 *     oci://host[:port]/repository    a registry of OCI distribution
 *     https://host[:port]/path        a folder of files on a web server
 *
 * Both are accessed over https; plain http is used only if the host is this
 * machine (http://localhost/..., oci://127.0.0.1:5000/...). Data from a remote
 * is verified against mapm.lock, so it need not be trusted.
 *
 * Source: S1; TEAM.md 0, 1.
 */

#define TEAM_REMOTES_MAX      16
#define TEAM_REMOTE_MAX_BYTES 2048

enum team_remote_kind { TEAM_FOLDER, TEAM_REGISTRY };

/* Source of the URL, which determines the allowed hosts and whether
 * secrets are sent. */
enum team_remote_source {
    TEAM_FROM_CONFIG,      /* config.yaml: any address */
    TEAM_FROM_ENVIRONMENT, /* MAPM_STORE: public addresses and loopback */
    TEAM_FROM_WORKSPACE,   /* mapm.yaml, accepted: only public addresses */
};

struct team_remote {
    enum team_remote_kind kind;
    enum team_remote_source source;
    struct str url; /* canonical, without trailing "/"; to show and compare */
    /* "ghcr.io", "127.0.0.1:5000", "[::1]:80": lower case, without the default
     * port of the scheme. */
    struct str host;
    /* Base URL of requests, "https://ghcr.io", for a FOLDER with its path;
     * without trailing "/". */
    struct str base;
    struct str repository; /* "acme/mapm"; "" for a FOLDER */
    bool is_plain;         /* http, only to loopback addresses */
};

/* Return whether the host may resolve to loopback or private addresses. */
bool team_remote_may_be_loopback(const struct team_remote *t);
bool team_remote_may_be_private(const struct team_remote *t);
/* Returns whether MAPM_STORE_TOKEN may be sent: not to a host from
 * mapm.yaml only. */
bool team_remote_may_have_token(const struct team_remote *t);

/* Parses a URL. Allocated in `a`. Errors: ERR_FORMAT, quoting the URL but never
 * a password in it. */
MUST_CHECK bool team_remote_parse(struct str text,
                                  enum team_remote_source source,
                                  struct arena *a, struct team_remote *out,
                                  struct err *e);

/* The remotes of one run, in the order of use. */
struct team_remotes {
    struct team_remote *items;
    size_t count;
    bool only; /* never contact the git host */
};

/* Adds remotes, each URL once: at its first position, with the rights of its
 * best source. Allocated in `a`. Errors: ERR_LIMIT for TEAM_REMOTES_MAX. */
MUST_CHECK bool team_remotes_add(struct team_remotes *list,
                                 const struct team_remote *more, size_t count,
                                 struct arena *a, struct err *e);

/* Parses MAPM_STORE: URLs separated by blanks. Allocated in `a`. */
MUST_CHECK bool team_remotes_parse(struct str text,
                                   enum team_remote_source source,
                                   struct arena *a, struct team_remotes *out,
                                   struct err *e);

#endif
