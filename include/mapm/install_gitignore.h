#ifndef MAPM_INSTALL_GITIGNORE_H
#define MAPM_INSTALL_GITIGNORE_H

#include "base/context.h"

/*
 * install_gitignore: lines of .gitignore for generated files, which `mapm
 * install` can create again.
 *
 *     # mapm: generated files
 *     /.agents/.mapm/
 *     /mapm.local.*
 *     /.agents/skills/pdf
 *     # mapm: end
 *
 * Only paths that mapm wrote on this machine are listed, so skills of the
 * workspace itself and files tracked by git never are.
 *
 * Source: D20.
 */

struct install_gitignore {
    struct str workspace;
    struct str text;           /* new text of .gitignore; p NULL if unchanged */
    const struct str *missing; /* generated paths that are not ignored yet */
    size_t count;
};

/* Compares with what git tracks and ignores; changes nothing. Allocated in
 * the arena of `cx`.
 * Errors: ERR_NOT_FOUND without a workspace, repository or git; ERR_FAILED
 * with git's message. */
MUST_CHECK bool install_find_gitignore(struct context *cx,
                                       struct install_gitignore *out,
                                       struct err *e);
/* Writes .gitignore, unless it is unchanged. */
MUST_CHECK bool install_write_gitignore(struct context *cx,
                                        const struct install_gitignore *in,
                                        struct err *e);

/* Notes to the host that something is missing. Only the first call on a machine
 * notes anything [D4]. */
void install_offer_gitignore(struct context *cx);

#endif
