#ifndef FETCH_REGISTRY_CREDENTIAL_H
#define FETCH_REGISTRY_CREDENTIAL_H

#include "base/str.h"

/*
 * registry_credential: the credential for an OCI registry. mapm looks it up
 * when mapm-fetch reports that the registry requires one.
 *
 *     MAPM_STORE_TOKEN                          for a host that the user names
 *     $DOCKER_CONFIG/config.json, else ~/.docker/config.json
 *     $XDG_RUNTIME_DIR/containers/auth.json     in each file:
 *         credHelpers[host], credsStore         docker-credential-<name> get
 *         auths[host]                           base64 of user:secret
 *
 * A helper is a program in PATH but outside the working directory. It gets the
 * name of the registry on stdin and may run for REGISTRY_HELPER_MS. An identity
 * token belongs to a protocol that mapm does not implement; it is not sent, and
 * `note` says so, as it says that a helper gave no login. A file that cannot be
 * read or parsed counts as empty.
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
    bool may_have_token;   /* MAPM_STORE_TOKEN may be sent to this host */
};

enum registry_secret_kind {
    REGISTRY_NOTHING,
    REGISTRY_PASSWORD, /* user and secret: Basic, to the registry or its
                        * token server */
    REGISTRY_TOKEN,    /* secret only: Bearer, to the registry */
};

struct registry_secret {
    enum registry_secret_kind kind;
    struct str user, secret; /* printable ASCII for REGISTRY_TOKEN */
    struct str source;       /* origin of the secret for messages, as
                              * "MAPM_STORE_TOKEN"; or "" */
    struct str note;         /* a credential that was found but not sent, or a
                              * helper that gave none; or "" */
};

/* Finds the credential for a registry, allocated in `a`. */
void registry_credential_find(const struct registry_query *q, struct arena *a,
                              struct registry_secret *out);

/* Returns whether `host` is one of the names of Docker Hub. */
bool registry_is_hub(struct str host);

/* The entry of one file for a registry; a member is "" if the file lacks it. */
struct registry_entry {
    struct str helper; /* from credHelpers, else from credsStore */
    struct str user, secret;
    bool has_identity; /* the entry has an identity token only */
};

/* Parses config.json; the entry is allocated in `a`. Returns false if `text` is
 * not such a file. */
bool registry_config_parse(struct str text, const struct registry_query *q,
                           struct arena *a, struct registry_entry *out);

/* Parses the output of a helper. Returns false if it is invalid. */
bool registry_helper_parse(struct str text, struct arena *a,
                           struct registry_secret *out);

#endif
