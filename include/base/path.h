#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/str.h"

/* path: checks of file names and paths from untrusted sources, as text.
 * Source: THREATS.md rows 1 to 3. */

#define PATH_NAME_MAX_BYTES 255

/*
 * Checks whether a file or folder of a package may have this name (one
 * component). Rejects names that a file system or terminal could misinterpret:
 * ".", "..", every form of ".git", separators, device names, control and
 * hidden characters, and bytes that are not UTF-8. Fails with ERR_REFUSED,
 * quoting the name.
 */
MUST_CHECK bool path_check_name(struct str name, struct err *e);

/* Checks every component of a relative path of at most `max_bytes`,
 * without "//". */
MUST_CHECK bool path_check(struct str path, size_t max_bytes, struct err *e);

/* Returns whether the name (one component) is a form of ".git" on
 * any file system. */
bool path_is_git_folder(struct str name);

/* Returns the part after the last "/", or the whole path if it has none. */
struct str path_last(struct str path);

/* Returns the part before the last "/": "a/b" of "a/b/c", "/" of "/a", "" of
 * "a" and of "/": repeated, it always ends with "". */
struct str path_folder(struct str path);

/* Returns the number of components: 2 for "a/b", 1 for "". */
size_t path_depth(struct str path);

/* Returns whether the symbolic link target `target`, resolved in `folder` (both
 * relative, "" is the top), stays below the top at every step. */
bool path_stays_below(struct str folder, struct str target);

#endif
