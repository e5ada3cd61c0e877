#ifndef MAPM_INSTALL_QUERY_H
#define MAPM_INSTALL_QUERY_H

#include "base/context.h"
#include "mapm/install.h"
#include "mapm/layer.h"

/* install_query: read-only queries about installed packages. Results are
 * allocated in the arena of `cx`. */

/* --- verify: workspace against lock against store ---------------------------- */

/* The side that a difference is attributed to. */
enum install_side {
    INSTALL_SIDE_WORKSPACE,
    INSTALL_SIDE_EXTRA,    /* a file that belongs to no package */
    INSTALL_SIDE_MANIFEST, /* the lock lacks an entry of the manifest or
                              workspace */
    INSTALL_SIDE_LOCK,
    INSTALL_SIDE_PROOF, /* not verified to be the content of the commit */
    INSTALL_SIDE_STORE,
    INSTALL_SIDE_REMOTE, /* the commit is no longer in the history of the ref */
    INSTALL_SIDE_COUNT,
};

struct install_difference {
    struct str path;
    const char *how; /* "changed", "missing", "not in the lock", … */
    enum install_side side;
};

struct install_verification {
    struct str workspace;
    size_t package_count;
    const struct install_difference *differences; /* empty if everything
                                                     matches */
    size_t count;
    const struct str *digest_only; /* places of packages with a file: origin */
    size_t digest_only_count;
    const struct str *own; /* origins of packages of the workspace itself */
    size_t own_count;
    const struct str *patched; /* places of packages with a patch */
    size_t patched_count;
};

/* Verifies every file by its hash. `ask_remote` also asks each repository
 * whether the locked commits are in the history of their refs, or fails
 * with ERR_OFFLINE. */
MUST_CHECK bool install_verify(struct context *cx, bool ask_remote,
                               struct install_verification *out, struct err *e);

/* --- outdated: what an update would change (D1) -------------------------------- */

/* A package whose ref now has different content, or no longer exists. */
struct install_moved {
    enum doc_kind kind;
    bool is_gone;
    bool is_beyond; /* unchanged in its range, but a higher version exists */
    struct str name, origin;
    struct str tag, newest; /* of a range: the locked and the highest tag */
    struct str ref, locked, current; /* commits; "" with a file: origin */
    struct str version, new_version; /* "" if none */
    struct str message;              /* why it no longer exists */
    struct install_place place_now;
};

/* A package of a catalog in mapm.yaml that mapm.lock does not have yet; an
 * update adds it [D11]. */
struct install_available {
    enum doc_kind kind;
    struct str name, origin;
    struct str catalog; /* origin of the catalog */
};

struct install_outdated {
    const struct install_moved *moved;
    size_t count;
    const struct install_available *available;
    size_t available_count;
    size_t beyond_count;       /* of `moved`: an update would not change them */
    const struct err *problem; /* repositories that could not be queried; or
                                  NULL */
};

/* Lists outdated packages: all, or those of `names`, which may have origins of
 * catalogs in mapm.yaml, too. Makes one request per repository, and at most two
 * more if a ref changed: for trees, and for changed entry files. Fails with
 * ERR_OFFLINE if a ref must be queried, or as layer_resolve_name. */
MUST_CHECK bool install_outdated(struct context *cx,
                                 const struct str_list *names,
                                 struct install_outdated *out, struct err *e);

/* --- what lies in a workspace ------------------------------------------------- */

struct document;

/* Reads the manifest of a provisioned skill or agent as far as it
 * can be parsed. */
bool install_read_placed(const struct layer *l, enum doc_kind kind,
                         struct str place, struct arena *a,
                         struct document *out);

/* --- prerequisites ----------------------------------------------------------- */

/* Returns the prerequisites that a skill declares (M8). They are read from the
 * provisioned copy, because the lock does not repeat frontmatter. Returns "" if
 * it has none or cannot be read. Allocated in `a`. */
struct str install_prereqs(const struct layer *l,
                           const struct lock_entry *entry, struct arena *a);

#endif
