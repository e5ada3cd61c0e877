#ifndef MAPM_HOST_CONFIG_H
#define MAPM_HOST_CONFIG_H

#include "base/arena.h"
#include "base/str.h"
#include "mapm/git_host.h"

/*
 * host_config: what the user's config.yaml says of one git host: an item of
 * `hosts:`, a name or a mapping. A host that is neither in the table of
 * git_host.h nor here is never contacted. [H1, row 47]
 *
 *     hosts:
 *       - ghe.example.com                         kind github
 *       - {host: git.example.com, kind: gitlab, token: env:CORP_TOKEN}
 */

#define HOST_MAX_CHARS 253
#define HOST_MAX_PORTS 16 /* of one host */

/* Where a token for the host comes from. */
enum host_token {
    HOST_TOKEN_USUAL,    /* variables of its kind, then git's own ways */
    HOST_TOKEN_VARIABLE, /* `variable` first, then the usual */
    HOST_TOKEN_GIT,      /* netrc and git's credential helpers alone */
    HOST_TOKEN_NONE,     /* nothing is ever sent */
};

struct host_config {
    struct str host; /* lower case */
    const struct git_host *kind;
    enum host_transport transport;
    unsigned port; /* of the transport; 0: its own */
    enum host_token token;
    struct str variable;
    unsigned ports[HOST_MAX_PORTS]; /* further ones that origins may name */
    size_t port_count;
};

/* Labels of a to z, 0 to 9 and "-" with dots between them, two at least. */
bool host_name_is_valid(struct str host);

/* "transport: ssh", "token: env:NAME" and the like, as written in config.yaml
 * and on the command line. False: not one of the values that `words` shows. */
bool host_transport_parse(struct str text, enum host_transport *out);
bool host_token_parse(struct str text, enum host_token *token,
                      struct str *variable);
/* "env:NAME", "git", "none"; "" for the usual. In `a`. */
struct str host_token_text(const struct host_config *h, struct arena *a);
bool host_port_parse(struct str text, unsigned *out);

/* Letter case does not matter; NULL: it is not configured. */
const struct host_config *
host_config_find(struct str host, const struct host_config *list, size_t count);

/* An item of `hosts:` that says this, on one line. In `a`. */
struct str host_config_item(const struct host_config *h, struct arena *a);

/* The command that says this: "mapm host add H --kind gitea --ports 3000", or of a
 * host that is known "mapm host set H --ports 8443". In `a`. */
struct str host_config_command(const struct host_config *h, bool is_known,
                               struct arena *a);

/* Adds what an origin on the host needs: its port, ssh. */
void host_config_allow(struct host_config *h, enum host_transport transport,
                       unsigned port);

/* The kind that the address "<host>/<path>" has the form of; NULL: it may be of
 * several. */
const struct git_host *host_kind_by_shape(struct str host, struct str path);

/* "gitlab"; NULL: there is no such kind. */
const struct git_host *git_host_of_kind(struct str name);
/* "gitlab": in config.yaml. */
struct str git_host_kind_name(const struct git_host *kind);
/* "github, gitlab, …". In `a`. */
struct str git_host_kinds(const char *between, struct arena *a);
/* Of the built-in hosts of a kind the one with this index. */
bool git_host_home(const struct git_host *kind, size_t index, struct str *host);

#endif
