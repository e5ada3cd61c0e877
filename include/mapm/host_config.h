#ifndef MAPM_HOST_CONFIG_H
#define MAPM_HOST_CONFIG_H

#include "base/arena.h"
#include "base/str.h"
#include "mapm/git_host.h"

/*
 * host_config: the configuration of one git host in the user's config.yaml: an
 * item of `hosts:`, which is a name or a mapping. Hosts that are neither in the
 * table of git_host.h nor configured are never contacted. [H1, row 47]
 *
 *     hosts:
 *       - ghe.example.com                         kind github
 *       - {host: git.example.com, kind: gitlab, token: env:CORP_TOKEN}
 */

#define HOST_MAX_CHARS 253
#define HOST_MAX_PORTS 16 /* per host */

/* Where a token for the host comes from. */
enum host_token {
    HOST_TOKEN_USUAL,    /* variables of its kind, then git's own methods */
    HOST_TOKEN_VARIABLE, /* `variable` first, then HOST_TOKEN_USUAL */
    HOST_TOKEN_GIT,      /* only netrc and git's credential helpers */
    HOST_TOKEN_NONE,     /* never send a token */
};

struct host_config {
    struct str host; /* lower case */
    const struct git_host *kind;
    enum host_transport transport;
    unsigned port; /* port of the transport; 0 for its default */
    enum host_token token;
    struct str variable;
    unsigned ports[HOST_MAX_PORTS]; /* additional ports that origins may use */
    size_t port_count;
};

/* Returns whether `host` consists of at least two labels of a to z, 0 to 9 and
 * "-", separated by dots. */
bool host_name_is_valid(struct str host);

/* Parse values such as "transport: ssh" and "token: env:NAME", as written in
 * config.yaml and on the command line. Return false for other values. */
bool host_transport_parse(struct str text, enum host_transport *out);
bool host_token_parse(struct str text, enum host_token *token,
                      struct str *variable);
/* Returns "env:NAME", "git" or "none"; "" for HOST_TOKEN_USUAL.
 * Allocated in `a`. */
struct str host_token_text(const struct host_config *h, struct arena *a);
bool host_port_parse(struct str text, unsigned *out);

/* Finds a host, ignoring case; returns NULL if it is not configured. */
const struct host_config *
host_config_find(struct str host, const struct host_config *list, size_t count);

/* Returns an item of `hosts:` with this configuration, on one line.
 * Allocated in `a`. */
struct str host_config_item(const struct host_config *h, struct arena *a);

/* Returns the command that sets this configuration: "mapm host add H --kind
 * gitea --ports 3000", or for a known host "mapm host set H --ports 8443".
 * Allocated in `a`. */
struct str host_config_command(const struct host_config *h, bool is_known,
                               struct arena *a);

/* Adds the port or the transport that an origin on the host needs. */
void host_config_allow(struct host_config *h, enum host_transport transport,
                       unsigned port);

/* Returns the kind whose form the address "<host>/<path>" has; NULL if
 * it is ambiguous. */
const struct git_host *host_kind_by_shape(struct str host, struct str path);

/* Returns the kind of a name such as "gitlab", or NULL. */
const struct git_host *git_host_of_kind(struct str name);
/* Returns the name of a kind in config.yaml, such as "gitlab". */
struct str git_host_kind_name(const struct git_host *kind);
/* Returns the names of all kinds: "github, gitlab, …". Allocated in `a`. */
struct str git_host_kinds(const char *between, struct arena *a);
/* Gets the built-in host of a kind with this index; returns false
 * past the last. */
bool git_host_home(const struct git_host *kind, size_t index, struct str *host);

#endif
