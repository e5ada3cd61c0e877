#ifndef MAPM_INSTALL_OFFLINE_H
#define MAPM_INSTALL_OFFLINE_H

#include "base/context.h"
#include "mapm/doc_kind.h"

/*
 * install_offline: what mapm.lock holds, for a place without a network.
 *
 *     install_pull()    fills the store; `mapm store pull`
 *     install_bundle()  one file; `mapm bundle`, read by `install --from`
 *     install_vendor()  files of the repository; `mapm vendor`, read by
 *                       `install --vendored`
 *
 * All fetch what the store lacks and change no workspace. Packages of `file:`
 * and of the workspace itself stay where they are: `kept` names them. Results
 * live in the arena of `cx`.
 *
 * Source: S4; TEAM.md 2.
 */

struct install_kept {
    enum doc_kind kind;
    struct str name;
    const char *why;
};

struct install_offline {
    struct str path; /* of the file or folder; "" of the store */
    size_t packages; /* that are there now */
    struct install_kept *kept;
    size_t kept_count;
    uint64_t requests, bytes; /* of the network */
    uint64_t file_bytes;      /* of the bundle; of files of the folder */
    /* Of a vendor folder, below it: what was written, what went, what is there
     * and is nobody's. */
    struct str_list written, removed, foreign;
};

/* Errors: those of an install with --locked. */
MUST_CHECK bool install_pull(struct context *cx, struct install_offline *out,
                             struct err *e);

/* `file` is replaced as a whole. Errors: besides, ERR_NOT_FOUND and ERR_LIMIT for
 * a package without a proof; ERR_IO. */
MUST_CHECK bool install_bundle(struct context *cx, struct str file,
                               struct install_offline *out, struct err *e);

/* `folder`: "" is vendor/mapm of the workspace; else as from the current
 * folder. It is replaced as a whole, what is nobody's in it stays. Errors:
 * besides, ERR_REFUSED for a symbolic link on the way. */
MUST_CHECK bool install_vendor(struct context *cx, struct str folder,
                               struct install_offline *out, struct err *e);

#endif
