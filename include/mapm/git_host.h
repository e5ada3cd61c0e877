#ifndef MAPM_GIT_HOST_H
#define MAPM_GIT_HOST_H

#include "base/arena.h"
#include "base/str.h"

/*
 * git_host: the kinds of git hosts, as a table: the addresses that people copy,
 * what git fetches, and which tokens are sent. A new kind is one row; no code
 * asks which kind it has.
 *
 *     https://<host>/<repository>/<tree>/<slot>[/path]   an origin, as stored
 *     https://<host>/<repository><suffix>                is fetched
 *
 * Rules for host, repository and ref are the same for all (manifest/origin.c).
 * Source: H1; HOSTS 2, 4, 7; M13, X13.
 */

#define GIT_HOST_MAX_NAMES     4
#define GIT_HOST_MAX_HOMES     3
#define GIT_HOST_MAX_ADDRESSES 8
#define GIT_HOST_MAX_PAGES     12
#define GIT_HOST_MAX_QUERIES   6
#define GIT_HOST_MAX_ARGS      6
#define GIT_HOST_MAX_TOKENS    4

/*
 * Where a repository's name stands in an address: "<host>/<path>", part by
 * part. "$1" is one part (in a host: one label), "*" any host, "**" any number
 * of parts, as few as fit. Of the rows of a kind the first that fits counts.
 */
struct git_host_address {
    const char *from;
    const char *to; /* what is stored instead; NULL: what was found */
    /* Shows the kind of a host that nobody has named. */
    bool tells;
    const char *page; /* stands between repository and ref, unwritten */
};

enum git_host_shows {
    GIT_PAGE_END, /* of the list */
    GIT_PAGE_FOLDER,
    GIT_PAGE_FILE,
    GIT_PAGE_REF,  /* all that follows is the ref */
    GIT_PAGE_PATH, /* all that follows is the path */
    GIT_PAGE_OTHER /* `name`, which is no package */
};

/* What a browser shows of a repository: "<repository>/<words>/<ref>/<path>". */
struct git_host_page {
    enum git_host_shows shows;
    const char *words;
    const char *ref;   /* in front of the ref: "refs/tags/" */
    const char *until; /* the part between ref and path; NULL: the refs of the
                          repository decide */
    const char *name;
    bool tells; /* as of an address */
};

enum git_host_says {
    GIT_QUERY_END,
    GIT_QUERY_PATH,
    GIT_QUERY_REF,     /* what precedes it in the value is `value` */
    GIT_QUERY_REF_KIND /* the ref of the path is one of `ref`, when it says
                          `value` */
};

/* "?<name>=<value>..." */
struct git_host_query {
    enum git_host_says says;
    const char *name, *value, *ref;
};

struct git_host_token {
    const char *variable;
    bool own_host;      /* for hosts that the user names, not for `homes` */
    const char *user;   /* instead of the row's; NULL: that */
    const char *begins; /* `user` is for a token that does so; NULL: for any */
    const char *host_variable; /* names the one host that it is for */
};

/*
 * A program of the kind's that has logged in: prints the token alone, or (with
 * `is_helper`) speaks as a credential helper of git does. "$host" among its
 * arguments is the host.
 */
struct git_host_program {
    const char *name; /* NULL: none */
    const char *args[GIT_HOST_MAX_ARGS];
    bool is_helper;
    const char *login; /* what a person runs to log in */
};

/* A GET without credentials that tells the kind of a host: a JSON object with
 * this member, whose text is `value` unless that is NULL, at this status. */
struct git_host_probe {
    const char *path, *member, *value;
    long status;
};

struct git_host {
    /* In config.yaml; and "<name>:<repository>" on the command line is one of
     * the first of `homes`. The first is the kind's own. */
    const char *names[GIT_HOST_MAX_NAMES];
    const char *title;                     /* for messages: "GitHub" */
    const char *homes[GIT_HOST_MAX_HOMES]; /* lower case; "*": one label */
    bool folds; /* letter case of repositories, on `homes` alone */
    /* further hosts of this kind, besides those of config.yaml */
    const char *hosts_variable;

    const char *tree;   /* of an origin as it is stored */
    unsigned parts;     /* of a repository; 0: any number */
    const char *suffix; /* of what is fetched */
    bool keeps_suffix;  /* where it is written: the server may need it */
    struct git_host_address addresses[GIT_HOST_MAX_ADDRESSES];
    struct git_host_page pages[GIT_HOST_MAX_PAGES];
    struct git_host_query queries[GIT_HOST_MAX_QUERIES];

    /* Over ssh: where host or repository are others than over https. */
    struct git_host_address ssh;
    const char *ssh_user; /* "": ssh's own configuration decides */
    unsigned ssh_port;    /* 0: ssh's own */

    const char *user;       /* goes with a token */
    bool token_is_user;     /* in its place, with no password */
    const char *token_hint; /* what a variable may hold, for a person */
    struct git_host_token tokens[GIT_HOST_MAX_TOKENS]; /* the first that is set
                                                          is sent */
    bool has_gh;                     /* the files of `gh` know tokens, too */
    struct git_host_program program; /* knows them as well */

    struct git_host_probe probe; /* path NULL: nothing tells */

    /* Assumed before the first request: saves asking the host. */
    int protocol; /* of git */
    bool shallow, filter;
};

/* The first row is that of short origins and of hosts named without a kind, the
 * last one of hosts of which nothing is known but git. */
extern const struct git_host git_hosts[];
extern const size_t git_host_count;

enum host_transport { HOST_OVER_HTTPS, HOST_OVER_SSH };

struct host_config;

/* The row that has `host` as one of its homes, or an address of theirs. Letter
 * case does not matter. */
const struct git_host *git_host_built_in(struct str host);
/* The same of homes that are asked: what is at another one, or at an address, is
 * at one of these. */
const struct git_host *git_host_of_home(struct str host);
bool git_host_is_home(const struct git_host *g, struct str host);

/* The same, else the kind that the user configured for it; else NULL. */
const struct git_host *git_host_find(struct str host,
                                     const struct host_config *known,
                                     size_t known_count);

/* --- addresses ---------------------------------------------------------------- */

/* One that was found: in the arena that was given. */
struct git_host_match {
    struct str host, repository; /* as they are stored */
    struct str rest; /* what follows, without "/" at its beginning */
    const struct git_host_page *page; /* NULL: none */
    bool is_telling; /* as `tells` of the address or the page */
    bool by_address;
};

/* What "<host>/<path>" names; `path` without "/" at its ends. Pages that are
 * none of the kind's are left in `rest`. False: no repository. */
bool git_host_match(const struct git_host *g, enum host_transport transport,
                    struct str host, struct str path, struct arena *a,
                    struct git_host_match *out);

/* What git fetches over ssh; `port`: 0 for the kind's own. In `a`. */
struct str git_host_ssh_url(const struct git_host *g, struct str host,
                            struct str repository, unsigned port,
                            struct arena *a);

/* The variable for a token for `host`; NULL: the kind has none. */
const char *git_host_variable(const struct git_host *g, struct str host);
/* Whether a token goes to `host`, which is one of `g`. */
bool git_host_takes(const struct git_host *g, const struct git_host_token *t,
                    struct str host);

#endif
