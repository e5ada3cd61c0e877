#ifndef MAPM_MEMBER_H
#define MAPM_MEMBER_H

#include "base/str.h"

/* member: members of a workspace, which are folders in it with their own
 * mapm.yaml, and the patterns for them in `members:` of mapm.yaml [D10]. */

/* The workspace's own folder in lists of members. */
#define MEMBER_ROOT "."

/* Returns whether `path` can be a member, "apps/web": relative, without ".."
 * and without components that begin with ".", such as .git and the folders of
 * mapm and clients. */
bool member_path_is_valid(struct str path);

/* The same for a pattern, where "*" matches any text in one component;
 * "**" is not allowed. */
bool member_pattern_is_valid(struct str pattern);
bool member_pattern_has_star(struct str pattern);

/* The pattern and the path must have the same number of components. */
bool member_matches(struct str pattern, struct str path);

#endif
