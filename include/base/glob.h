#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include "base/str.h"

/*
 * glob: patterns as a shell has them: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` before
 * a character that means itself. A `[` without its `]` means itself, too.
 *
 * fnmatch() takes exponential time for some patterns; this takes at most the
 * product of both lengths for each part of a path, and allocates nothing.
 */

/* Whether it has one of the characters `*`, `?` and `[`. */
bool glob_is_pattern(struct str text);

/* `*`, `?` and `[…]` match "/", too. */
bool glob_matches(struct str pattern, struct str text);

/* They match within one part of the path only, so that both have the same
 * number of parts. */
bool glob_matches_path(struct str pattern, struct str path);

/* No character but `*` is special, which matches "/", too. */
bool glob_star_matches(struct str pattern, struct str text);
bool glob_star_matches_nocase(struct str pattern, struct str text); /* ASCII */

#endif
