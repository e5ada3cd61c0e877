#ifndef MAPM_INSTALL_GITIGNORE_H
#define MAPM_INSTALL_GITIGNORE_H

#include "base/context.h"

/*
 * install_gitignore: lines of .gitignore for what `mapm install` makes again.
 *
 *     # mapm: generated files
 *     /.agents/.mapm/
 *     /mapm.local.*
 *     /.agents/skills/pdf
 *     # mapm: end
 *
 * Only paths that mapm wrote on this machine are listed: skills of the
 * workspace's own never are, nor is what git tracks. Source: D20.
 */

struct install_gitignore {
    struct str workspace;
    struct str text; /* the new .gitignore; p NULL: nothing is missing */
    const struct str *missing; /* paths that are not ignored so far */
    size_t count;
};

/*
 * Asks git what it tracks and ignores; changes nothing. In the arena of `cx`.
 * Errors: ERR_NOT_FOUND without a workspace, a repository or git; ERR_FAILED
 * with what git says.
 */
MUST_CHECK bool install_find_gitignore(struct context *cx,
                                       struct install_gitignore *out,
                                       struct err *e);
/* Replaces .gitignore, unless nothing is missing. */
MUST_CHECK bool install_write_gitignore(struct context *cx,
                                        const struct install_gitignore *in,
                                        struct err *e);

/* Whether a person at this machine is to be told of it: the first time only
 * [D4]. From now on it was told. */
bool install_gitignore_is_news(struct context *cx);

/* Whether a .git is in the folder or above it: no process is started. */
bool install_has_repository(struct str folder, struct arena *a);

#endif
