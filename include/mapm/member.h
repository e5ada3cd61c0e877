#ifndef MAPM_MEMBER_H
#define MAPM_MEMBER_H

#include "base/str.h"

/*
 * member: names of folders in a workspace that have a mapm.yaml of their own,
 * and patterns of them, as `members:` of its mapm.yaml has them [D10].
 */

/* The workspace's own folder, where a list names it among its members. */
#define MEMBER_ROOT "."

/* "apps/web": clean, and no part begins with ".": neither .git nor what mapm
 * and clients write is one. */
bool member_path_is_valid(struct str path);

/* The same, where "*" stands for any text of one part; "**" is none. */
bool member_pattern_is_valid(struct str pattern);
bool member_pattern_has_star(struct str pattern);

/* Both have the same number of parts. */
bool member_matches(struct str pattern, struct str path);

#endif
