#ifndef FETCH_WORKER_TEAM_STORE_H
#define FETCH_WORKER_TEAM_STORE_H

#include "session.h"

/*
 * team_store: what the team's remotes have of locked packages, before their
 * hosts are asked.
 *
 *     ask (lock: digest, commit, object)
 *         --> mapm1-<digest>    files: unpacked, hashed, compared with the digest
 *         --> mapm1p-<...>      the commit and its trees: each id computed anew
 *         --> the repository's objects and blobs, as if its host had sent them
 *
 * All names are asked for at once: of the first remote, then of the next what
 * it did not have. What no remote has is for the host, which is not asked
 * before each ask of its repository knows. A remote that fails is given up for
 * the run; nothing of it is believed.
 *
 * Source: S1, TEAM.md 1.
 */

/* The remotes of the run; sources are made of them. */
void team_store_open(struct session *s, const struct team_remotes *stores);

/* Of a bundle alone, and no host. It is read from now on. Errors: those of
 * team_bundle_open. */
MUST_CHECK bool team_store_open_bundle(struct session *s, int fd,
                                       struct err *e);

/* An artifact, which no host is asked for: FETCH_ARTIFACT. Errors: that there
 * are no remotes. */
MUST_CHECK bool team_store_ask(struct session *s, const struct link_ask *in,
                               struct err *e);

/* Whether the ask is to wait for the remotes first: ASK_STORE. */
bool team_store_is_wanted(const struct ask *a);
/* True: all that the remotes have of it is in the repository. False: wait. */
bool team_store_step(struct ask *a);
/* … the files among it. */
bool team_store_has_files(const struct ask *a);

/* An ask of the repository still waits for the remotes. */
bool team_store_holds(const struct repo *r);
/* With `only` no host is asked: the asks that need one fail, naming what no
 * remote had. */
bool team_store_is_only(const struct session *s);
void team_store_refuse_host(struct repo *r);

/* Takes what is over, and starts gets. `*wait_ms` is 0 when something is over. */
MUST_CHECK bool team_store_advance(struct session *s, uint64_t *wait_ms,
                                   struct err *e);

/* --- team_verify.c ---------------------------------------------------------- */

/* A file of an object, as it is in the incoming folder. */
struct team_part {
    struct oid id;
    struct hash hash;
    uint64_t size, offset;
    bool is_lfs;
};

/*
 * The files of a .tar.gz, after their listing was found to be `digest`: nothing
 * is written before. In `a`.
 * Errors: ERR_DAMAGED with both digests; those of team_object_read; ERR_IO.
 */
MUST_CHECK bool team_verify_object(struct session *s, struct str gz,
                                   const struct hash *digest, struct arena *a,
                                   struct team_part **out, size_t *count,
                                   struct err *e);
/* Its one file, which is `digest` itself, so that nothing needs to be unpacked
 * to be believed. In `a`. Errors: as team_verify_object. */
MUST_CHECK bool team_verify_artifact(struct session *s, struct str gz,
                                     const struct hash *digest, struct arena *a,
                                     struct team_part **out, size_t *count,
                                     struct err *e);
/*
 * Objects of git, into the repository; the commit's trees are here then, as far
 * as they came. With `a` the proof is of a marketplace: its texts, which may be
 * longer, are files besides. Errors: ERR_DAMAGED for one that is not what its
 * name says, or when the commit is not among them.
 */
MUST_CHECK bool team_verify_proof(struct repo *r, struct str gz,
                                  const struct oid *commit, struct arena *a,
                                  struct team_part **out, size_t *count,
                                  struct err *e);

#endif
