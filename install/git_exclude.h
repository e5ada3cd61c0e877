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

/* Whether the path is of such a client, and of none that the team has. */
bool git_exclude_is_mine(const struct layer *l, struct str path);

/* After the plan was applied: the block of each folder, or none. A failure is a
 * warning. */
void git_exclude_update(struct install_session *s);

#endif
