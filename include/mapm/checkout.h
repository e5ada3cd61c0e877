#ifndef MAPM_CHECKOUT_H
#define MAPM_CHECKOUT_H

#include "base/context.h"
#include "mapm/origin.h"

/*
 * checkout: what mapm reads of a git work tree's own files: which branch is
 * checked out, `remote.*.url`, and whether a file is tracked. No includes, no
 * other key, no program. Source: D9; THREATS row 15.
 */

struct checkout {
    struct str path;                /* of the work tree, absolute, real */
    struct str git_dir;             /* its own: HEAD, index */
    const struct str *repositories; /* of its remotes: origin_repository() */
    size_t repository_count;
    const struct str *branches; /* checked out, and the remotes' default */
    size_t branch_count;
};

/* The work tree that `folder` is in; `*found` false: none, or one whose files
 * do not count (authorize.h). In the arena of `cx`. Errors: ERR_IO. */
void checkout_find(struct context *cx, struct str folder, struct checkout *out,
                   bool *found);

/* Whether an origin names this checkout's remote at one of its branches, and
 * the path in it then. */
bool checkout_has(const struct checkout *c, const struct origin *o,
                  struct arena *a, struct str *path);
/* The same whatever the ref is, which ends behind its first segment. */
bool checkout_is_remote(const struct checkout *c, const struct origin *o,
                        struct arena *a, struct str *path);

/* Whether git tracks the file `name` in `folder`. A work tree without an index
 * that can be read tracks nothing. */
bool checkout_tracks(struct context *cx, struct str folder, const char *name);

/* The common git folder of the work tree that `folder` is in, and the path of
 * `folder` in it, with "/" behind it or "". False as in checkout_find. */
bool checkout_find_common(struct context *cx, struct str folder,
                          struct str *common, struct str *prefix);

/* --- of bytes ------------------------------------------------------------- */

/* `remote.*.url` as origin_of_remote has it, in order; what is no such URL is
 * left out. At most CHECKOUT_MAX_REMOTES. In `a`. */
const struct str *checkout_parse_remotes(struct str config, struct arena *a,
                                         size_t *count);
/* Whether an index (of version 2 to 4, of SHA-1 or SHA-256) has the path. */
bool checkout_index_has(struct str index, struct str path);

#endif
