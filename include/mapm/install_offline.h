#ifndef MAPM_INSTALL_OFFLINE_H
#define MAPM_INSTALL_OFFLINE_H

#include "base/context.h"
#include "mapm/doc_kind.h"

/*
 * install_offline: the packages of mapm.lock for use without a network.
 *
 *     install_pull()    fills the store: `mapm store pull`
 *     install_bundle()  writes one file: `mapm bundle`, for `install --from`
 *     install_vendor()  writes files of the repository: `mapm vendor`, for
 *                       `install --vendored`
 *
 * All of them fetch missing packages into the store and do not change the
 * workspace. Packages with `file:` origins and those of the workspace
 * itself are not included; `kept` lists them. Results are allocated in
 * the arena of `cx`.
 *
 * Source: S4; TEAM.md 2.
 */

struct install_kept {
    enum doc_kind kind;
    struct str name;
    const char *why;
};

struct install_offline {
    struct str path; /* file or folder; "" for the store */
    size_t packages; /* number of packages there now */
    struct install_kept *kept;
    size_t kept_count;
    uint64_t requests, bytes; /* network requests and received bytes */
    uint64_t file_bytes;      /* size of the bundle, or of the files in the
                                 folder */
    /* Paths in a vendor folder: written, removed, and not created by mapm. */
    struct str_list written, removed, foreign;
};

/* Fetches missing packages. Errors: those of an install with --locked. */
MUST_CHECK bool install_pull(struct context *cx, struct install_offline *out,
                             struct err *e);

/* Replaces `file`. Errors: also ERR_NOT_FOUND and ERR_LIMIT for a package
 * without a proof; ERR_IO. */
MUST_CHECK bool install_bundle(struct context *cx, struct str file,
                               struct install_offline *out, struct err *e);

/* Replaces `folder`, except for files in it that mapm did not create; "" means
 * vendor/mapm of the workspace; a relative path starts at the current folder.
 * Errors: also ERR_REFUSED for a symbolic link in the path. */
MUST_CHECK bool install_vendor(struct context *cx, struct str folder,
                               struct install_offline *out, struct err *e);

#endif
