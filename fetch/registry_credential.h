#ifndef FETCH_REGISTRY_CREDENTIAL_H
#define FETCH_REGISTRY_CREDENTIAL_H

#include "base/str.h"

/*
 * registry_credential: what a registry of OCI distribution may be told of its
 * user, found by mapm when mapm-fetch says that the registry asks for it.
 *
 *     MAPM_STORE_TOKEN                          for a host that the user names
 *     $DOCKER_CONFIG/config.json, else ~/.docker/config.json
 *     $XDG_RUNTIME_DIR/containers/auth.json     of each file:
 *         credHelpers[host], credsStore         docker-credential-<name> get
 *         auths[host]                           base64 of user:secret
 *
 * A helper is a program of PATH outside of the working directory; it gets the
 * name of the registry on stdin and REGISTRY_HELPER_MS. An identity token is
 * for a protocol that mapm does not speak: it is not sent, and `note` says so.
 * A file that cannot be read or parsed counts as empty.
 *
 * Source: S3; TEAM.md 1.4; docker-credential-helpers; containers-auth.json(5).
 */

#define REGISTRY_CONFIG_MAX_BYTES (1u << 20)
#define REGISTRY_USER_MAX_BYTES   1024u
#define REGISTRY_SECRET_MAX_BYTES (16u * 1024)
#define REGISTRY_HELPER_MS        10000

struct registry_query {
    struct str host;       /* "ghcr.io", "127.0.0.1:5000" */
    struct str repository; /* "acme/mapm" */
    bool may_have_token;   /* MAPM_STORE_TOKEN is for it */
};

enum registry_secret_kind {
    REGISTRY_NOTHING,
    REGISTRY_PASSWORD, /* user and secret: Basic, to it or its token server */
    REGISTRY_TOKEN,    /* secret alone: Bearer, to the registry */
};

struct registry_secret {
    enum registry_secret_kind kind;
    struct str user, secret; /* printable ASCII for a TOKEN */
    struct str source;       /* "MAPM_STORE_TOKEN": for a person; "" */
    struct str note;         /* what was found and not sent; "" */
};

/* All in `a`. */
void registry_credential_find(const struct registry_query *q, struct arena *a,
                              struct registry_secret *out);

/* What docker logs in to, whatever host it then asks. */
bool registry_is_hub(struct str host);

/* What one file says of a registry; each "" where it says nothing. */
struct registry_entry {
    struct str helper; /* of credHelpers, else credsStore */
    struct str user, secret;
    bool has_identity; /* an identity token alone */
};

/* False: no such file. In `a`. */
bool registry_config_parse(struct str text, const struct registry_query *q,
                           struct arena *a, struct registry_entry *out);

/* The answer of a helper. False: it is none. */
bool registry_helper_parse(struct str text, struct arena *a,
                           struct registry_secret *out);

#endif
