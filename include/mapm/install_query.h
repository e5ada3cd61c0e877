#ifndef MAPM_INSTALL_QUERY_H
#define MAPM_INSTALL_QUERY_H

#include "base/context.h"
#include "mapm/layer.h"

/*
 * install_query: questions about what is installed. They change nothing.
 * Results live in the arena of `cx`.
 */

/* --- verify: workspace against lock against store ---------------------------- */

/* What a difference is a fault of. */
enum install_side {
    INSTALL_SIDE_WORKSPACE,
    INSTALL_SIDE_EXTRA,    /* a file of no package */
    INSTALL_SIDE_MANIFEST, /* the lock lacks what it or the workspace has */
    INSTALL_SIDE_LOCK,
    INSTALL_SIDE_PROOF, /* not known to be what the commit holds */
    INSTALL_SIDE_STORE,
    INSTALL_SIDE_REMOTE, /* no longer in the history of the ref */
    INSTALL_SIDE_COUNT,
};

struct install_difference {
    struct str path;
    const char *how; /* "changed" "missing" "not in the lock" … */
    enum install_side side;
};

struct install_verification {
    struct str workspace;
    size_t package_count;
    const struct install_difference *differences; /* none: as it should be */
    size_t count;
    const struct str *digest_only; /* places of file: packages */
    size_t digest_only_count;
    const struct str *own; /* origins of packages of the workspace itself */
    size_t own_count;
    const struct str *patched; /* places of packages with a patch */
    size_t patched_count;
};

/* Hashes every file. `ask_remote`: also asks each repository whether the locked
 * commits are in the history of their refs; ERR_OFFLINE. */
MUST_CHECK bool install_verify(struct context *cx, bool ask_remote,
                               struct install_verification *out, struct err *e);

/* --- outdated: what an update would change (D1) -------------------------------- */

/* A package whose content is another one where its ref leads now, or is not
 * there any more. */
struct install_moved {
    enum doc_kind kind;
    bool is_gone;
    bool is_beyond; /* the same in its range; there is a higher version */
    struct str name, origin;
    struct str tag, newest; /* of a range: as locked; the highest of all */
    struct str ref, locked, current; /* commits; "" for a file: package */
    struct str version, new_version; /* "" = none */
    struct str message;              /* why it is gone */
};

/* What a catalog of mapm.yaml offers, and mapm.lock does not hold [D11]: an
 * update adds it. */
struct install_available {
    enum doc_kind kind;
    struct str name, origin;
    struct str catalog; /* its origin */
};

struct install_outdated {
    const struct install_moved *moved;
    size_t count;
    const struct install_available *available;
    size_t available_count;
    size_t beyond_count;       /* of these: an update would not change them */
    const struct err *problem; /* repositories without an answer; NULL: none */
};

/* One request a repository, and at most two more where a ref has moved: for
 * trees, and for the documents that changed. ERR_OFFLINE when there is a ref to
 * ask for. */
MUST_CHECK bool install_outdated(struct context *cx,
                                 struct install_outdated *out, struct err *e);

/* --- what lies in a workspace ------------------------------------------------- */

struct document;

/* The manifest of a skill or agent in its folder, as far as it can be read. */
bool install_read_placed(const struct layer *l, enum doc_kind kind,
                         struct str place, struct arena *a,
                         struct document *out);

/* --- prerequisites ----------------------------------------------------------- */

/* What a skill says must be set up (M8). The lock does not repeat frontmatter,
 * so it is read from the provisioned copy. "" when it has none or cannot be
 * read. In `a`. */
struct str install_prereqs(const struct layer *l,
                           const struct lock_entry *entry, struct arena *a);

#endif
