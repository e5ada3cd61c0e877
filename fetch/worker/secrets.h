#ifndef FETCH_WORKER_SECRETS_H
#define FETCH_WORKER_SECRETS_H

#include "link.h"
#include "settings.h"

/*
 * secrets: which user and password an address gets, if any.
 *
 *     the address's own (user:password@), the variable of config.yaml,
 *     MAPM_TOKEN_<HOST>, the variables of its kind (git_host.h),
 *     http.<url>.extraHeader of the user's git configuration        at once
 *     netrc, gh's hosts.yml, the kind's program, the extraHeader
 *     of the checkout around the working directory, git's helpers   after 401
 *
 * Variables of a kind go to its own hosts and to those that the user's
 * configuration names as of that kind, and nowhere else. Nothing is sent over
 * plain http but to the loopback. Files are read before rights are given up;
 * programs are run by mapm. Never shown: an error names where a secret came from.
 *
 * Source: H4; FETCH.md 9; THREATS.md rows 10, 13.
 */

struct secret {
    struct str user, password; /* both empty: a header that is sent anyway */
    const char *source;        /* "the token from GH_TOKEN"; NULL: none */
};

enum secret_place {
    SECRET_NETRC,
    SECRET_GH_FILE,
    SECRET_PROGRAM,
    SECRET_CHECKOUT,
    SECRET_HELPER, /* the last one */
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

/* The credential to send without a challenge. `out->source` NULL: none. In
 * `a`. */
void secrets_first(const struct secrets *s, const struct url *u,
                   struct arena *a, struct secret *out);

/* False where config.yaml says that nothing is sent. */
bool secrets_allow_headers(const struct secrets *s, const struct url *u);

/* What a person may do for a host that refuses: "set GITLAB_TOKEN". In `a`. */
struct str secrets_way_in(const struct secrets *s, const struct url *u,
                          struct arena *a);

/*
 * The next one to try after a 401. `*tried` starts at 0 and remembers where
 * the search stands. `out->source` NULL: there is none. `*of_path`: the
 * checkout or git's helpers have one for each repository, so these two have to be
 * asked for each, from SECRET_CHECKOUT on. In `a`.
 */
MUST_CHECK bool secrets_next(const struct secrets *s, struct link *l,
                             const struct url *u, unsigned *tried,
                             struct arena *a, struct secret *out, bool *of_path,
                             struct err *e);

/* --- in netrc.c ----------------------------------------------------------- */

struct netrc_entry {
    struct str machine, login, password;
};

/* One `machine` after the other; false after the last. Start with all of the
 * file's text in `*rest`. A `default` entry names no host and is left out.
 * Values live in `a`. */
bool netrc_next(struct str *rest, struct arena *a, struct netrc_entry *out);

#endif
