#ifndef MAPM_GIT_HOST_H
#define MAPM_GIT_HOST_H

#include "base/arena.h"
#include "base/str.h"

/*
 * git_host: the table of the kinds of git hosts: the addresses that users copy
 * from a browser, the URLs that git fetches, and the tokens that are sent. A
 * new kind is one row; other code does not depend on specific kinds.
 *
 *     https://<host>/<repository>/<tree>/<slot>[/path]   an origin, as stored
 *     https://<host>/<repository><suffix>                the URL to fetch
 *
 * The rules for host, repository and ref are the same for all kinds
 * (manifest/origin.c).
 *
 * Source: H1; HOSTS 2, 4, 7; M13, X13.
 */

#define GIT_HOST_MAX_NAMES     4
#define GIT_HOST_MAX_HOMES     3
#define GIT_HOST_MAX_ADDRESSES 8
#define GIT_HOST_MAX_PAGES     16
#define GIT_HOST_MAX_QUERIES   6
#define GIT_HOST_MAX_ARGS      6
#define GIT_HOST_MAX_TOKENS    4

/*
 * Position of the repository name in an address "<host>/<path>", as a pattern
 * of components: "$1" is one component (in a host: one label), "*" any host,
 * "**" the smallest number of components that matches. The first matching row
 * of a kind applies.
 */
struct git_host_address {
    const char *from;
    const char *to; /* the stored form; NULL: as matched */
    /* Identifies the kind of a host that is not configured. */
    bool tells;
    const char *page; /* implied page between repository and ref */
};

enum git_host_shows {
    GIT_PAGE_END, /* end of the list */
    GIT_PAGE_FOLDER,
    GIT_PAGE_FILE,
    GIT_PAGE_REF,  /* everything that follows is the ref */
    GIT_PAGE_PATH, /* everything that follows is the path */
    GIT_PAGE_OTHER /* `name`, which is not a package */
};

/* A page of the web interface: "<repository>/<words>/<ref>/<path>". */
struct git_host_page {
    enum git_host_shows shows;
    const char *words;
    const char *ref; /* prefix of the ref: "refs/tags/" */
    /* Component between ref and path; NULL if the refs of the repository must
     * decide where the ref ends. */
    const char *until;
    const char *name;
    bool tells; /* as in git_host_address */
};

enum git_host_says {
    GIT_QUERY_END,
    GIT_QUERY_PATH,
    GIT_QUERY_REF, /* preceded by `value` in the parameter */
    /* If the parameter is `value`, the ref in the path is of the kind `ref`. */
    GIT_QUERY_REF_KIND
};

/* "?<name>=<value>..." */
struct git_host_query {
    enum git_host_says says;
    const char *name, *value, *ref;
};

struct git_host_token {
    const char *variable;
    bool own_host;      /* for configured hosts, not for `homes` */
    const char *user;   /* user name; NULL for that of the row */
    const char *begins; /* prefix of tokens that `user` is for; NULL for any */
    const char *host_variable; /* variable with the only host that it is for */
};

/* The command-line program of the kind, which stores the user's login. It
 * prints the token, or (with `is_helper`) implements git's credential helper
 * protocol. "$host" in its arguments is replaced by the host. */
struct git_host_program {
    const char *name; /* NULL if there is none */
    const char *args[GIT_HOST_MAX_ARGS];
    bool is_helper;
    const char *login; /* command that the user runs to log in */
};

/* A GET request without credentials that identifies the kind of a host: the
 * response has this status and is a JSON object with this member, whose text is
 * `value` unless that is NULL. */
struct git_host_probe {
    const char *path, *member, *value;
    long status;
};

struct git_host {
    /* Names in config.yaml. On the command line, "<name>:<repository>" means
     * the first of `homes`. The first name is the primary one. */
    const char *names[GIT_HOST_MAX_NAMES];
    const char *title;                     /* for messages: "GitHub" */
    const char *homes[GIT_HOST_MAX_HOMES]; /* built-in hosts, lower case; "*":
                                              one label */
    bool folds; /* repository names ignore case, on `homes` only */
    /* Variable with additional hosts of this kind, besides those of
     * config.yaml. */
    const char *hosts_variable;

    const char *tree;   /* of a stored origin */
    unsigned parts;     /* components of a repository name; 0: any number */
    const char *suffix; /* suffix of the URL to fetch */
    bool keeps_suffix;  /* keep a suffix in the address: the server may need
                           it */
    struct git_host_address addresses[GIT_HOST_MAX_ADDRESSES];
    struct git_host_page pages[GIT_HOST_MAX_PAGES]; /* the last one is empty */
    struct git_host_query queries[GIT_HOST_MAX_QUERIES];

    /* Over ssh: the address, if it differs from https. */
    struct git_host_address ssh;
    const char *ssh_user; /* "" for that of the ssh configuration */
    unsigned ssh_port;    /* 0 for the ssh default */

    const char *user;       /* user name sent with a token */
    bool token_is_user;     /* send the token as user name, without password */
    const char *token_hint; /* describes the possible values of a token
                               variable */
    struct git_host_token tokens[GIT_HOST_MAX_TOKENS]; /* in order of
                                                          priority */
    bool has_gh;                     /* tokens are also read from the files of
                                        `gh` */
    struct git_host_program program; /* another source of tokens */

    struct git_host_probe probe; /* path NULL: the kind cannot be detected */

    /* Assumed before the first request, to save a capability request. */
    int protocol; /* git protocol version */
    bool shallow, filter;
};

/* The first row is for short origins and for hosts that are named
 * without a kind; the last row is for hosts of which nothing is known
 * except that they serve git. */
extern const struct git_host git_hosts[];
extern const size_t git_host_count;

enum host_transport { HOST_OVER_HTTPS, HOST_OVER_SSH };

struct host_config;

/* Returns the row that has `host` as one of its homes or in one of its
 * addresses, ignoring case. */
const struct git_host *git_host_built_in(struct str host);
/* The same for hosts that are contacted: addresses and alternative homes are
 * mapped to these. */
const struct git_host *git_host_of_home(struct str host);
bool git_host_is_home(const struct git_host *g, struct str host);

/* Returns the built-in row, or the kind that the user configured, or NULL. */
const struct git_host *git_host_find(struct str host,
                                     const struct host_config *known,
                                     size_t known_count);

/* --- addresses ---------------------------------------------------------------- */

/* A repository that was found in an address, allocated in the arena
 * that was given. */
struct git_host_match {
    struct str host, repository;      /* as stored */
    struct str rest;                  /* remainder without a leading "/" */
    const struct git_host_page *page; /* NULL if there is none */
    bool is_telling;                  /* `tells` of the address or the page */
    bool by_address;
};

/* Finds the repository of "<host>/<path>", where `path` has no "/" at
 * either end. An unknown page is left in `rest`. Returns false if there
 * is no repository. */
bool git_host_match(const struct git_host *g, enum host_transport transport,
                    struct str host, struct str path, struct arena *a,
                    struct git_host_match *out);

/* Returns the URL to fetch over ssh; `port` 0 means that of the kind.
 * Allocated in `a`. */
struct str git_host_ssh_url(const struct git_host *g, struct str host,
                            struct str repository, unsigned port,
                            struct arena *a);

/* Returns the variable for a token of `host`, or NULL if the kind has none. */
const char *git_host_variable(const struct git_host *g, struct str host);
/* Returns whether a token may be sent to `host`, a host of the kind `g`. */
bool git_host_takes(const struct git_host *g, const struct git_host_token *t,
                    struct str host);

#endif
