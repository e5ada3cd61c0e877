#ifndef FETCH_WORKER_TEAM_STORE_H
#define FETCH_WORKER_TEAM_STORE_H

#include "mapm/team_object.h"

#include "session.h"

/*
 * team_store: fetches locked packages from the team's stores, before their git
 * hosts are contacted.
 *
 *     ask (lock: digest, commit, object)
 *         --> mapm1-<digest>    files: unpacked, hashed, compared with the digest
 *         --> mapm1p-<...>      the commit and its trees: each id is recomputed
 *         --> the repository's objects and blobs, as if the host had sent them
 *
 * All names are requested at once: from the first remote, then those that it
 * lacks from the next one. The host is asked for the rest, once every ask of
 * its repository has finished this. A remote that fails is not used again in
 * this run. Data of a remote is never trusted.
 *
 * Source: S1, TEAM.md 1.
 */

/* Creates the sources for the remotes of this run. */
void team_store_open(struct session *s, const struct team_remotes *stores);

/* Uses a bundle alone, without any host; reads from `fd` from now on. Errors:
 * those of team_bundle_open. */
MUST_CHECK bool team_store_open_bundle(struct session *s, int fd,
                                       struct err *e);

/* Handles FETCH_ARTIFACT; artifacts come from stores only. Errors: if there are
 * no remotes. */
MUST_CHECK bool team_store_ask(struct session *s, const struct link_ask *in,
                               struct err *e);

/* Returns whether the ask must query the remotes first: ASK_STORE. */
bool team_store_is_wanted(const struct ask *a);
/* Returns true once all that the remotes have for the ask is in the repository,
 * false if it must wait. */
bool team_store_step(struct ask *a);
/* Returns whether the files are among it. */
bool team_store_has_files(const struct ask *a);

/* Returns whether an ask of the repository still waits for the remotes. */
bool team_store_holds(const struct repo *r);
/* With `only`, no host is contacted: asks that would need one fail, naming the
 * objects that no remote had. */
bool team_store_is_only(const struct session *s);
void team_store_refuse_host(struct repo *r);

/* Processes finished gets and starts new ones. Sets `*wait_ms` to 0 if one has
 * finished. */
MUST_CHECK bool team_store_advance(struct session *s, uint64_t *wait_ms,
                                   struct err *e);

/* --- team_verify.c -------------------------------------------------------- */

/* A file of an object, in the incoming folder. */
struct team_part {
    struct oid id;
    struct hash hash;
    uint64_t size, offset;
    bool is_lfs;
};

/*
 * Verifies that the listing of the .tar.gz has `digest`, and only then writes
 * its files. Allocates in `a`. Errors: ERR_DAMAGED with both digests; those of
 * team_object_read; ERR_IO.
 */
MUST_CHECK bool team_verify_object(struct session *s, struct str gz,
                                   const struct hash *digest, struct arena *a,
                                   struct team_part **out, size_t *count,
                                   struct err *e);
/* Verifies the single file of an artifact, whose own hash is `digest`, so it is
 * verified without unpacking it. Allocates in `a`. Errors: as
 * team_verify_object. */
MUST_CHECK bool team_verify_artifact(struct session *s, struct str gz,
                                     const struct hash *digest, struct arena *a,
                                     struct team_part **out, size_t *count,
                                     struct err *e);
/* A tree that a proof has the size of instead of its content. */
struct team_tree {
    struct oid id;
    size_t size;
};

/* A proof that is being read. */
struct team_proof {
    struct repo *repo;
    struct oid commit;
    const struct team_limits *limits;
    /* It is of a marketplace: its texts, which may be longer, are also returned as
     * files. */
    bool is_market;
    struct arena *a; /* for what is returned: */
    struct team_part *files;
    size_t count;
    struct team_tree *trees;
    size_t tree_count;
};

/* Adds the git objects of a proof to the repository. Errors: ERR_DAMAGED for an
 * object that does not match its name, or if the commit is missing; those of
 * team_object_read. */
MUST_CHECK bool team_verify_proof(struct team_proof *p, struct str gz,
                                  struct err *e);
/* Adds a tree that was left out. Errors: as team_verify_proof. */
MUST_CHECK bool team_verify_tree(struct repo *r, struct str gz,
                                 const struct oid *id, struct err *e);
/* Uses those trees of the commit that the repository has now. */
void team_trees_use(struct repo *r, struct snapshot *s);

#endif
