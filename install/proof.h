#ifndef INSTALL_PROOF_H
#define INSTALL_PROOF_H

#include "mapm/layer.h"
#include "mapm/store.h"

/*
 * proof: whether a commit holds what the lock says, as far as this machine was
 * shown it. The index has a row for each package whose commit was walked:
 * repository, commit, path, object, digest. Source: F1; FETCH.md 3.4.
 */

/* Returns false for file: packages, which have only a digest. */
bool proof_applies(const struct layer *l, const struct lock_entry *entry);

/*
 * The commit at which the lock says that `o`, an origin of the entry, has its
 * content: for the origin itself that of the entry; for one in `also` the one
 * that stands behind it, the one that it names, or that of the entry where both
 * may be of one ref. "" when the lock does not say it, or `o` names another.
 */
struct str proof_commit(const struct layer *l, const struct lock_entry *entry,
                        const struct origin *o, struct arena *a);

/* Returns whether the commit of the entry applies to `o`, whose path is known
 * now: only if both have the same ref. */
bool proof_shares_ref(const struct layer *l, const struct lock_entry *entry,
                      const struct origin *o, struct str path);

/* Returns the ref of `o`, given its path; "" if `o` does not end with the
 * path. */
struct str proof_ref(const struct origin *o, struct str path);

/* Returns whether a row proves the entry at its origin `o`, without network.
 * `*path`, the path in the repository, is borrowed from `o`. */
bool proof_find(const struct layer *l, struct store *store,
                const struct lock_entry *entry, const struct origin *o,
                struct str *path);

/* The path column of a proof for a path of `o`: allocated in `a`, or `path`
 * itself. `catalog_commit`: the commit of the marketplace whose entry made the
 * plugin; "" for everything else. */
struct str proof_path(const struct origin *o, struct str path,
                      struct str catalog_commit, struct arena *a);

/* Records the result of walking the commit of `o`, and that the commit contains
 * nothing at a longer path that `o` could mean (as FETCH_DONE reports). */
MUST_CHECK bool proof_put(struct store *store, const struct state_proof *p,
                          const struct origin *o, struct err *e);

struct node;

/* Records the package that was made of an artifact with this hash
 * ("sha256:…"), which `url` gave. */
MUST_CHECK bool proof_put_artifact(struct store *store, struct str artifact,
                                   struct str url, const struct hash *digest,
                                   struct err *e);

/* Whether the store has the artifact of this skill of an index as it was sent:
 * it proves the package to others. */
bool proof_has_artifact(struct store *store, const struct lock_entry *entry,
                        struct hash *artifact);

/* Records that `o`, a full URL, is another name of the package of a complete
 * node. */
MUST_CHECK bool proof_put_node(struct store *store, const struct node *n,
                               const struct origin *o, struct err *e);

/* Returns whether every entry of this lock text was checked against its proof
 * and document before, so that one query replaces all checks. If not, each
 * entry must be checked. store gc deletes the row. */
bool proof_knows_lock(struct store *store, struct str text);
MUST_CHECK bool proof_put_lock(struct store *store, struct str text,
                               struct err *e);

/* Records that the ref of `o` led to the content of an entry with another
 * origin, and that `commit` of `o` contains it. `a` is scratch memory. */
MUST_CHECK bool proof_put_also(struct store *store, const struct origin *o,
                               struct str commit, struct str object,
                               const struct hash *digest, struct arena *a,
                               struct err *e);
/* Returns whether that is recorded for this commit. */
bool proof_has_also(struct store *store, const struct lock_entry *entry,
                    const struct origin *o, struct str commit, struct arena *a);

/*
 * Whether what the entry says counts for `o`, which it names as its origin or
 * in `also`: the latter only where this machine was shown the same content at
 * just that origin, as the path alone does not say what another ref, another
 * folder or another commit holds. Otherwise `o` has to be looked at itself.
 * `*commit`: that of `o`, in `a` or borrowed; "" where the lock does not say it.
 */
bool proof_covers(const struct layer *l, struct store *store,
                  const struct lock_entry *entry, const struct origin *o,
                  struct arena *a, struct str *commit);

/* Checks that an origin that names a commit names the locked one.
 * ERR_LOCKED. */
MUST_CHECK bool proof_check_commit(const struct layer *l,
                                   const struct lock_entry *entry,
                                   struct err *e);

#endif
