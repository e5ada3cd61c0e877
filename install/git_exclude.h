#ifndef INSTALL_GIT_EXCLUDE_H
#define INSTALL_GIT_EXCLUDE_H

#include "install_session.h"

/*
 * git_exclude: files of clients that the user's config.yaml alone names are not
 * the team's: lines of `.git/info/exclude`, never of .gitignore [H7].
 *
 *     # mapm: clients of config.yaml
 *     /.codex/config.toml
 *     # mapm: end
 */

/* Returns whether the path belongs only to clients of config.yaml. */
bool git_exclude_is_mine(const struct layer *l, struct str path);

/* Updates or removes the block of each folder after the plan was applied.
 * Failures are warnings. */
void git_exclude_update(struct install_session *s);

#endif
