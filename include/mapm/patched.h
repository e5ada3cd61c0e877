#ifndef MAPM_PATCHED_H
#define MAPM_PATCHED_H

#include "mapm/store.h"

/*
 * patched: a package of the store with a patch of the workspace applied.
 *
 *     digest, patch --> patched_apply()      files, digest of the result
 *     lock entry    --> patched_installed()  digest of what is installed
 *
 * The result is a package of the store like any other. It is made of the
 * fetched package and the text of the patch, so it can always be made again.
 * Its document, sizes and names are for install to check (install/patch.c).
 * Source: D7.
 */

struct patched {
    struct hash digest;
    struct package_file *files; /* sorted by path */
    size_t count;
    size_t added, removed; /* lines of the patch */
};

/*
 * `name` is the file of the patch, for messages. `keep`: the changed files and
 * the listing are put into the store; without it only the digests are found.
 * Ownership: in `a`. Errors: those of patch_parse; ERR_PATCH naming file,
 * hunk and line where it does not apply; ERR_REFUSED for a name that no package
 * can have; ERR_NOT_FOUND where the store lacks the package.
 */
MUST_CHECK bool patched_apply(struct store *s, const struct hash *digest,
                              struct str text, const char *name, bool keep,
                              struct arena *a, struct patched *out,
                              struct err *e);

/*
 * The digest of what is installed for an entry with this `digest` and `patch`
 * ("": none), both as mapm.lock has them. The text of a patch is in the store
 * since it was installed here. Errors: ERR_FORMAT; ERR_NOT_FOUND.
 */
MUST_CHECK bool patched_installed(struct store *s, struct str digest,
                                  struct str patch, struct hash *out,
                                  struct err *e);

/* The hash in "sha256:…". */
bool patched_parse_hash(struct str text, struct hash *out);

#endif
