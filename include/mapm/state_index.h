#ifndef MAPM_STATE_INDEX_H
#define MAPM_STATE_INDEX_H

#include "base/hash.h"

/*
 * state_index: resolved names. A cache: losing it costs a fetch. Strings are
 * borrowed in, results live in `a`. An install puts its rows through the store
 * (store_put_package() …), which stages them until its objects are published.
 */

struct state;

/* The package at (repository, commit, path): its git id and digest. */
struct state_package {
    unsigned kind;     /* enum doc_kind */
    struct str object; /* 40 hex: tree or blob */
    struct hash digest;
    struct str summary; /* input of the resolver, the caller's own text */
};
bool state_find_package(struct state *s, struct str repository,
                        struct str commit, struct str path, struct arena *a,
                        struct state_package *out);
MUST_CHECK bool state_put_package(struct state *s, struct str repository,
                                  struct str commit, struct str path,
                                  const struct state_package *p, struct err *e);

/* git blob id -> SHA-256 and size. */
bool state_find_blob(struct state *s, struct str oid, struct hash *h,
                     uint64_t *size);
MUST_CHECK bool state_put_blob(struct state *s, struct str oid,
                               const struct hash *h, uint64_t size,
                               struct err *e);

/* (repository, the text after /tree/) -> commit and path, last seen: for
 * --offline. `rest` "" is the default branch; `*ref` names it. */
struct state_ref {
    struct str ref, commit, path;
};
bool state_find_ref(struct state *s, struct str repository, struct str rest,
                    struct arena *a, struct state_ref *out);
MUST_CHECK bool state_put_ref(struct state *s, struct str repository,
                              struct str rest, const struct state_ref *r,
                              struct err *e);

/* The object that holds the trees of a commit. */
bool state_find_trees(struct state *s, struct str repository, struct str commit,
                      struct hash *h);
MUST_CHECK bool state_put_trees(struct state *s, struct str repository,
                                struct str commit, const struct hash *h,
                                struct err *e);

/*
 * What a commit was shown to hold: the trees of `commit` led over `path` to
 * `object`, links out of it were followed in them, and its files have `digest`.
 * All of it has to fit, so a digest or an object alone is never a proof. Only
 * a walk of trees whose ids were computed may be put. gc forgets it with the
 * package. `repository` as origin_repository has it; `path` exactly. With an
 * empty `object` and a zero `digest`: the commit has nothing at `path`. With
 * the object as `commit`: the origin `path` led to the same content
 * (install/proof.c).
 */
struct state_proof {
    struct str repository, commit, path, object;
    struct hash digest;
};
bool state_has_proof(struct state *s, const struct state_proof *p);
MUST_CHECK bool state_put_proof(struct state *s, const struct state_proof *p,
                                struct err *e);

/* The only commit with proofs whose id begins with `prefix`, fewer digits. */
bool state_find_commit(struct state *s, struct str repository,
                       struct str prefix, struct arena *a, struct str *commit);

/* Whether a commit was proved to belong to the repository (FETCH 6). */
bool state_is_reachable(struct state *s, struct str repository,
                        struct str commit);
MUST_CHECK bool state_put_reachable(struct state *s, struct str repository,
                                    struct str commit, struct err *e);

/* What the git server at a place can do, noted in (`after_s`, `now_s`] since 1970. */
bool state_find_host(struct state *s, struct str place, int64_t after_s,
                     int64_t now_s, struct arena *a, struct str *caps);
MUST_CHECK bool state_put_host(struct state *s, struct str place,
                               struct str caps, int64_t now_s, struct err *e);

/* Deletes rows that name objects for which `has` is false. */
MUST_CHECK bool state_prune(struct state *s,
                            bool (*has)(void *ctx, const struct hash *h),
                            void *ctx, struct err *e);

/* Rows of packages and of workspaces. */
MUST_CHECK bool state_count(struct state *s, uint64_t *packages,
                            uint64_t *workspaces, struct err *e);

#endif
