#ifndef MAPM_CHECKOUT_H
#define MAPM_CHECKOUT_H

#include "base/context.h"
#include "mapm/origin.h"

/*
 * checkout: reads the metadata of a git work tree: the branch that is checked
 * out, `remote.*.url`, and whether a file is tracked. It reads no included
 * configuration and no other key, and runs no program.
 *
 * Source: D9; THREATS row 15.
 */

struct checkout {
    struct str path;                /* work tree, absolute, links resolved */
    struct str git_dir;             /* git folder with its HEAD and index */
    const struct str *repositories; /* repositories of its remotes, as
                                       origin_repository() */
    size_t repository_count;
    const struct str *branches; /* the current branch, and the default branches
                                   of the remotes */
    size_t branch_count;
};

/* Finds the work tree that contains `folder`. Sets `*found` to false if there
 * is none, or if its files fail the owner check (authorize.h). Allocated in
 * the arena of `cx`. */
void checkout_find(struct context *cx, struct str folder, struct checkout *out,
                   bool *found);

/* Returns whether an origin refers to a remote of this checkout at one of its
 * branches, and sets the path in the repository. */
bool checkout_has(const struct checkout *c, const struct origin *o,
                  struct arena *a, struct str *path);
/* The same for any ref, which is taken to be the first segment. */
bool checkout_is_remote(const struct checkout *c, const struct origin *o,
                        struct arena *a, struct str *path);

/* Returns whether git tracks the file `name` in `folder`; false if the
 * index cannot be read. */
bool checkout_tracks(struct context *cx, struct str folder, const char *name);

/* Gets the common git folder of the work tree that contains `folder`, and the
 * path of `folder` in the work tree with a trailing "/" ("" for its top).
 * Returns false as checkout_find. */
bool checkout_find_common(struct context *cx, struct str folder,
                          struct str *common, struct str *prefix);

/* --- of bytes ------------------------------------------------------------- */

/* Returns the URLs of `remote.*.url` in order, converted by origin_of_remote;
 * others are skipped. At most CHECKOUT_MAX_REMOTES. Allocated in `a`. */
const struct str *checkout_parse_remotes(struct str config, struct arena *a,
                                         size_t *count);
/* Returns whether a git index (version 2 to 4, SHA-1 or SHA-256)
 * contains the path. */
bool checkout_index_has(struct str index, struct str path);

#endif
