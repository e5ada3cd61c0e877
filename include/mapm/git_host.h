#ifndef MAPM_GIT_HOST_H
#define MAPM_GIT_HOST_H

#include "base/arena.h"
#include "base/str.h"

/*
 * git_host: the kinds of git hosts, as a table: how an origin on one is
 * written, what git fetches, and which tokens are sent.
 *
 *     https://<host>/<owner>/<repository>/<tree>/<ref>[/path]   an origin
 *     https://<host>/<owner>/<repository><suffix>               is fetched
 *
 * Rules for owner, repository and ref are the same for all (manifest/origin.c).
 * Source: M13, X13; docs/fetch.md 2, 9.
 */

#define GIT_HOST_MAX_PAGES  2
#define GIT_HOST_MAX_TOKENS 4

struct git_host_token {
    const char *variable;
    const char *source; /* "the token from GH_TOKEN": for messages */
    bool own_host;      /* for hosts that the user names, not for `host` */
};

struct git_host {
    const char *name; /* for messages: "GitHub" */
    const char *host; /* lower case */
    /* further hosts of this kind, besides those of config.yaml */
    const char *hosts_variable;

    const char *tree;                      /* one or several parts of a path */
    const char *pages[GIT_HOST_MAX_PAGES]; /* in its place: shows one file */
    const char *suffix;                    /* of what is fetched */

    const char *user;                                  /* goes with a token */
    struct git_host_token tokens[GIT_HOST_MAX_TOKENS]; /* the first that is set
                                                          is sent */
    bool has_gh; /* `gh` knows tokens, too */

    /* Assumed before the first request: saves asking the host. */
    int protocol; /* of git */
    bool shallow, filter;
};

/* The first row is that of short origins, and of hosts that the user names. */
extern const struct git_host git_hosts[];
extern const size_t git_host_count;

struct host_config;

/* The row of `host`: its own, or the one that the user configured for it, else
 * NULL. Letter case does not matter. */
const struct git_host *git_host_find(struct str host,
                                     const struct host_config *named,
                                     size_t named_count);

/* The row of a host that was accepted before: never NULL. */
const struct git_host *git_host_get(struct str host);

/* What git fetches. In `a`. */
struct str git_host_url(struct str host, struct str owner,
                        struct str repository, struct arena *a);

/* The variable for a token for `host`. */
const char *git_host_variable(const struct git_host *g, struct str host);
/* Whether a token goes to `host`, which is one of `g`. */
bool git_host_takes(const struct git_host *g, const struct git_host_token *t,
                    struct str host);

#endif
