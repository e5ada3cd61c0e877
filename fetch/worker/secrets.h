#ifndef FETCH_WORKER_SECRETS_H
#define FETCH_WORKER_SECRETS_H

#include "link.h"
#include "settings.h"

/*
 * secrets: chooses the user and password for a URL, if any.
 *
 *     the URL's own (user:password@), the variable of config.yaml,
 *     MAPM_TOKEN_<HOST>, the variables of its kind (git_host.h),
 *     http.<url>.extraHeader of the user's git configuration     at first
 *     netrc, gh's hosts.yml, the kind's program, the extraHeader
 *     of the checkout around the working directory,
 *     git's helpers                                              after a 401
 *
 * Variables of a kind are sent only to the kind's own hosts and to hosts that
 * the user's configuration assigns to it. Nothing is sent over plain http,
 * except to a loopback address. Files are read before rights are dropped; mapm
 * runs the programs. Secrets are never printed: an error names only their
 * source.
 *
 * Source: H4; FETCH.md 9; THREATS.md rows 10, 13.
 */

struct secret {
    struct str user, password; /* both empty if a header is sent instead */
    const char *source;        /* "the token from GH_TOKEN"; NULL if there is
                                * none */
};

enum secret_place {
    SECRET_NETRC,
    SECRET_GH_FILE,
    SECRET_PROGRAM,
    SECRET_CHECKOUT,
    SECRET_HELPER, /* last place to search; must be last */
    SECRET_PLACE_COUNT
};

struct secrets {
    struct arena arena;
    const struct settings *settings;
    struct netrc_entry *netrc;
    size_t netrc_count, netrc_capacity;
    struct gh_entry *gh;
    size_t gh_count, gh_capacity;
};

void secrets_load(struct secrets *s, const struct settings *settings);
void secrets_done(struct secrets *s);

/* Returns the credential to send without a challenge, allocated in `a`;
 * `out->source` is NULL if there is none. */
void secrets_first(const struct secrets *s, const struct url *u,
                   struct arena *a, struct secret *out);

/* Returns false if config.yaml forbids sending credentials to the host. */
bool secrets_allow_headers(const struct secrets *s, const struct url *u);

/* Returns advice for the user if the host rejects access: "set GITLAB_TOKEN".
 * Allocated in `a`. */
struct str secrets_way_in(const struct secrets *s, const struct url *u,
                          struct arena *a);

/*
 * Returns the next credential to try after a 401, allocated in `a`;
 * `out->source` is NULL if there is none. `*tried` starts at 0 and stores the
 * position of the search. Sets `*of_path` if the checkout or git's helpers have
 * a credential for each repository: from SECRET_CHECKOUT on, search for each
 * repository then.
 */
MUST_CHECK bool secrets_next(const struct secrets *s, struct link *l,
                             const struct url *u, unsigned *tried,
                             struct arena *a, struct secret *out, bool *of_path,
                             struct err *e);

/* --- in netrc.c ----------------------------------------------------------- */

struct netrc_entry {
    struct str machine, login, password;
};

/* Reads one `machine` entry after the other; returns false after the last.
 * Start with the text of the file in `*rest`. A `default` entry names no host
 * and is skipped. Values live in `a`. */
bool netrc_next(struct str *rest, struct arena *a, struct netrc_entry *out);

#endif
