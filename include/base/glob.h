#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include "base/str.h"

/*
 * glob: shell patterns: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` to quote the next
 * character. A `[` without `]` is an ordinary character.
 *
 * fnmatch() takes exponential time for some patterns. These functions take
 * at most the product of both lengths for each component of a path, and
 * allocate nothing.
 */

/* Returns whether `text` contains `*`, `?` or `[`. */
bool glob_is_pattern(struct str text);

/* `*`, `?` and `[…]` also match "/". */
bool glob_matches(struct str pattern, struct str text);

/* Wildcards match within one component of the path, so pattern and path must
 * have the same number of components. */
bool glob_matches_path(struct str pattern, struct str path);

/* Only `*` is special; it also matches "/". */
bool glob_star_matches(struct str pattern, struct str text);
bool glob_star_matches_nocase(struct str pattern, struct str text); /* ASCII */

#endif
