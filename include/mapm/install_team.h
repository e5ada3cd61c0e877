#ifndef MAPM_INSTALL_TEAM_H
#define MAPM_INSTALL_TEAM_H

#include "mapm/layer.h"
#include "mapm/team_object.h"

/*
 * install_team: the packages of a lock as objects of a team store.
 *
 *     install_team_list()    the packages, and which of them may be shared
 *     install_team_write()   the object of a package, from the store
 *     install_team_share()   the proof of a package for a store, without the
 *                            trees that are objects of their own
 *     install_team_share_tree()   one of these
 *     install_team_prove()   the proof of packages of a commit for a bundle
 *     install_team_find()    the git objects of which a proof consists
 *
 * Packages with `file:` origins, those of the workspace itself, and those
 * accepted with --allow-hidden are not shared; `kept_back` has the reason.
 * Packages with the same content share one object. An entry with several
 * origins has one proof for each, which are separate items.
 *
 * Source: S2, S4; TEAM.md 1.
 */

/* An entry of the lock, with the names of its objects in a store. */
struct install_team_package {
    const struct lock_entry *entry;
    const struct layer *layer; /* layer of the lock, with is_market */
    const char *kept_back;     /* why it is not shared, or NULL */
    struct hash digest;
    struct str name; /* name of its object */
    /* Name of its proof; "" if the path of its origin is unknown on
     * this machine. */
    struct str proof;
    struct str asked; /* the same name, even if the path is unknown */
    bool is_also;     /* item for the proof of another origin of the entry */
    /* With is_also: item for the proof of the marketplace that lists the
     * plugin, including its text. */
    bool is_market;
    bool is_of_index;     /* skill of an index: its artifact is the proof */
    struct hash artifact; /* SHA-256 of the artifact, with is_of_index */
    struct str commit;    /* commit of this origin, or digest of the artifact */
    struct str repository; /* identity, see HOSTS.md 4 */
    struct str path;       /* path in the repository */
};

/* Lists the packages of `names`, or all if it is empty, in the order of the
 * lock. Allocated in the arena of `cx`. Errors: as layer_resolve_names. */
MUST_CHECK bool install_team_list(struct context *cx, const struct layer *l,
                                  struct store *store, struct str_list names,
                                  struct install_team_package **out,
                                  size_t *count, struct err *e);

/* A cache of the trees of the last commit, since most packages of a catalog
 * share one commit. A zeroed struct is empty. */
struct install_trees {
    struct store *store;
    struct arena arena;
    struct str key;
    struct team_trees trees;
};

void install_trees_done(struct install_trees *t);

/* Returns whether the store has the trees for a proof, even if the proof would
 * be too large to be shared. */
bool install_trees_prove(struct install_trees *t, struct str repository,
                         struct str commit, const struct team_proof_end *end);
/* Returns whether the store has the marketplace text about the
 * plugin for a proof. */
bool install_trees_have_market(struct install_trees *t, const struct layer *l,
                               const struct lock_entry *entry);

/* The parts of an object, allocated in `a`. */
struct install_team_object {
    struct str name;
    struct str layer, config, manifest;
};

/* Makes the object of a package, allocated in `a`. Errors: ERR_NOT_FOUND if the
 * store lacks a part. */
MUST_CHECK bool install_team_write(struct store *store,
                                   const struct install_team_package *p,
                                   struct arena *a,
                                   struct install_team_object *out,
                                   struct err *e);

/*
 * List the git objects of one proof for all packages of `of`, or make it; they
 * must belong to one repository and commit, and the first one names it. The proof
 * of a plugin's marketplace is made separately. Allocated in `a`, except for the
 * bytes of files, which are valid until another commit is requested.
 * `limits` is team_proof_limits or team_bundle_limits.
 * Errors: ERR_NOT_FOUND if the store lacks a part; ERR_LIMIT if it
 * is too large.
 */
MUST_CHECK bool install_team_find(struct install_trees *t,
                                  const struct install_team_package *const *of,
                                  size_t count,
                                  const struct team_limits *limits,
                                  struct arena *a, struct archive_file **files,
                                  size_t *file_count, struct err *e);
MUST_CHECK bool install_team_prove(struct install_trees *t,
                                   const struct install_team_package *const *of,
                                   size_t count, struct arena *a,
                                   struct install_team_object *out,
                                   struct err *e);
/* Make the proof of one package without the large trees whose names are keys
 * of `apart`, or the object of one of these (40 hex). Allocated in `a`. Errors: as
 * above. */
MUST_CHECK bool install_team_share(struct install_trees *t,
                                   const struct install_team_package *p,
                                   const struct map *apart, struct arena *a,
                                   struct install_team_object *out,
                                   struct err *e);
MUST_CHECK bool install_team_share_tree(struct install_trees *t,
                                        const struct install_team_package *p,
                                        struct str tree, struct arena *a,
                                        struct install_team_object *out,
                                        struct err *e);
/* Lists the large trees of a package's proof; none if there is no proof. Allocated
 * in `a`, except for their bytes. */
void install_team_trees(struct install_trees *t,
                        const struct install_team_package *p, struct arena *a,
                        struct archive_file **trees, size_t *count);

/* Returns the message about a proof that is not shared because of `why`, an
 * ERR_LIMIT of the functions above. Allocated in `a`. */
struct str install_team_from_host(const struct err *why, struct arena *a);

#endif
