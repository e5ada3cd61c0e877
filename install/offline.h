#ifndef INSTALL_OFFLINE_H
#define INSTALL_OFFLINE_H

#include "mapm/install_offline.h"
#include "mapm/install_team.h"

#include "install_session.h"

/*
 * offline: packages of the lock as they are written for a place without a
 * network, and read there.
 */

#define VENDOR_FOLDER  "vendor/mapm"
#define VENDOR_LISTING "listing"
#define VENDOR_PROOFS  "proofs"
#define VENDOR_OBJECTS "objects"
#define VENDOR_RULES   ".gitattributes"

struct offline_job {
    struct install_session *s;
    struct install_offline *out;
    struct install_team_package *packages; /* packages to write */
    size_t count;
};

/* Makes sure that all locked packages are in the store, with the trees of their
 * proofs if `with_proofs`. Call offline_close() in any case. */
MUST_CHECK bool offline_open(struct context *cx, bool with_proofs,
                             struct offline_job *j, struct install_offline *out,
                             struct err *e);
void offline_close(struct offline_job *j);

/* "skill/acme__pdf": where it is in a vendor folder. Of two of one name, of
 * several members, each has its digest behind. In `a`. */
struct str offline_place(const struct lock *lock,
                         const struct lock_entry *entry, struct arena *a);
/* "proofs/mapm1p-…": the ids of its objects, one a line, of which each is once at
 * "objects/<id>", as git hashes it but for the first words. */
struct str offline_proof_place(struct str name, struct arena *a);
struct str offline_object_place(struct str id, struct arena *a);

/* Those of `all` that have a proof of another name than those before, by
 * commit; in the order of the lock within one. In `a`. */
const struct install_team_package **
offline_by_commit(const struct install_team_package *all, size_t count,
                  struct arena *a, size_t *n);
/* One proof can be of both. */
bool offline_are_together(const struct install_team_package *one,
                          const struct install_team_package *two);

/*
 * Each package that has one is proved to `give`: those of a commit together as
 * far as one proof can be large, since catalogs keep hundreds of them in one
 * folder, whose tree each needs. `o` in `a`. Errors: as install_team_prove, with
 * the package; those of `give`.
 */
struct offline_proofs {
    struct arena *a;
    bool (*give)(void *ctx, const struct install_team_package *const *of,
                 size_t count, const struct install_team_object *o,
                 struct err *e);
    void *ctx;
};

MUST_CHECK bool offline_prove(struct offline_job *j,
                              const struct offline_proofs *p, struct err *e);

/* Opens an unnamed temporary file. */
MUST_CHECK bool offline_scratch(int *fd, struct err *e);

/* What the store lacks of the lock, out of the vendor folder, as a bundle.
 * Errors: ERR_EDITED for a file that is not as it was written, ERR_NOT_FOUND for
 * one that is missing. The caller closes `*fd`. */
MUST_CHECK bool offline_read_vendor(struct install_session *s,
                                    struct str folder, int *fd, struct err *e);

#endif
