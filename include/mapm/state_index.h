#ifndef MAPM_STATE_INDEX_H
#define MAPM_STATE_INDEX_H

#include "base/hash.h"

/*
 * state_index: resolved names. It is a cache: losing it costs a fetch. Strings
 * are borrowed, results are allocated in `a`. An install writes its rows with
 * functions of the store (store_put_package(), …), which stages them until the
 * objects are published.
 */

struct state;

/* The package at (repository, commit, path), with its git id and digest. */
struct state_package {
    unsigned kind;     /* enum doc_kind */
    struct str object; /* tree or blob, 40 hex digits */
    struct hash digest;
    struct str summary; /* input of the resolver, a text of the caller */
};
bool state_find_package(struct state *s, struct str repository,
                        struct str commit, struct str path, struct arena *a,
                        struct state_package *out);
MUST_CHECK bool state_put_package(struct state *s, struct str repository,
                                  struct str commit, struct str path,
                                  const struct state_package *p, struct err *e);

/* Map a git blob id to SHA-256 and size. */
bool state_find_blob(struct state *s, struct str oid, struct hash *h,
                     uint64_t *size);
MUST_CHECK bool state_put_blob(struct state *s, struct str oid,
                               const struct hash *h, uint64_t size,
                               struct err *e);

/* Map (repository, the text after /tree/) to the last known commit and path,
 * for --offline. `rest` "" is the default branch; `ref` is its name. */
struct state_ref {
    struct str ref, commit, path;
};
bool state_find_ref(struct state *s, struct str repository, struct str rest,
                    struct arena *a, struct state_ref *out);
MUST_CHECK bool state_put_ref(struct state *s, struct str repository,
                              struct str rest, const struct state_ref *r,
                              struct err *e);

/* Map a commit to the object with its trees. */
bool state_find_trees(struct state *s, struct str repository, struct str commit,
                      struct hash *h);
MUST_CHECK bool state_put_trees(struct state *s, struct str repository,
                                struct str commit, const struct hash *h,
                                struct err *e);

/*
 * A verified content of a commit: the trees of `commit` contain `object` at
 * `path`, links out of it were resolved in them, and its files have `digest`. A
 * proof matches only if all members are equal, so a digest or an object alone
 * is never a proof. Only the result of a walk over trees with computed ids may
 * be stored. gc removes a proof with its package. `repository` is as returned
 * by origin_repository; `path` is exact. An empty `object` with a zero `digest`
 * means that the commit has nothing at `path`. The object in place of `commit`
 * means that the origin `path` had the same content (install/proof.c).
 */
struct state_proof {
    struct str repository, commit, path, object;
    struct hash digest;
};
bool state_has_proof(struct state *s, const struct state_proof *p);
MUST_CHECK bool state_put_proof(struct state *s, const struct state_proof *p,
                                struct err *e);

/* Finds the only commit with proofs whose id begins with `prefix`. */
bool state_find_commit(struct state *s, struct str repository,
                       struct str prefix, struct arena *a, struct str *commit);

/* Record and return that a commit was verified to belong to the
 * repository (FETCH 6). */
bool state_is_reachable(struct state *s, struct str repository,
                        struct str commit);
MUST_CHECK bool state_put_reachable(struct state *s, struct str repository,
                                    struct str commit, struct err *e);

/* Capabilities of the git server at `place`, recorded in (`after_s`, `now_s`],
 * seconds since 1970. */
bool state_find_host(struct state *s, struct str place, int64_t after_s,
                     int64_t now_s, struct arena *a, struct str *caps);
MUST_CHECK bool state_put_host(struct state *s, struct str place,
                               struct str caps, int64_t now_s, struct err *e);

/* Deletes rows with objects for which `has` returns false. */
MUST_CHECK bool state_prune(struct state *s,
                            bool (*has)(void *ctx, const struct hash *h),
                            void *ctx, struct err *e);

/* Counts the rows of packages and of workspaces. */
MUST_CHECK bool state_count(struct state *s, uint64_t *packages,
                            uint64_t *workspaces, struct err *e);

#endif
