#ifndef MAPM_PATCHED_H
#define MAPM_PATCHED_H

#include "mapm/store.h"

/*
 * patched: applies a patch of the workspace to a package of the store.
 *
 *     digest, patch --> patched_apply()      files, digest of the result
 *     lock entry    --> patched_installed()  digest of the installed package
 *
 * The result is an ordinary package of the store. It is derived from the
 * fetched package and the text of the patch, so it can be recreated at any
 * time. Its entry file, sizes and names are checked by install
 * (install/patch.c).
 *
 * Source: D7.
 */

struct patched {
    struct hash digest;
    struct package_file *files; /* sorted by path */
    size_t count;
    size_t added, removed; /* numbers of lines in the patch */
};

/*
 * Applies a patch; `name` is its file, for messages. `keep` stores the changed
 * files and the listing; otherwise only the digests are computed.
 * Ownership: allocated in `a`.
 * Errors: those of patch_parse; ERR_PATCH, naming file, hunk and line, if the
 * patch does not apply; ERR_REFUSED for a name that a package must not have;
 * ERR_NOT_FOUND if the store lacks the package.
 */
MUST_CHECK bool patched_apply(struct store *s, const struct hash *digest,
                              struct str text, const char *name, bool keep,
                              struct arena *a, struct patched *out,
                              struct err *e);

/*
 * Gets the digest of the installed package of a lock entry with this `digest`
 * and `patch` ("" for none), both in the notation of mapm.lock. The store has
 * the text of every patch that was installed on this machine. Errors:
 * ERR_FORMAT; ERR_NOT_FOUND.
 */
MUST_CHECK bool patched_installed(struct store *s, struct str digest,
                                  struct str patch, struct hash *out,
                                  struct err *e);

/* Parses the hash in "sha256:…". */
bool patched_parse_hash(struct str text, struct hash *out);

#endif
