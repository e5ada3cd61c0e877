#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/str.h"

/*
 * path: names of files that came from outside, judged as text.
 * Source: THREATS.md rows 1 to 3.
 */

#define PATH_NAME_MAX_BYTES 255

/*
 * May a file or folder of a package have this name? One component. Refuses
 * what any file system or terminal could take for something else: ".", "..",
 * ".git" in every disguise, separators, devices, control and hidden
 * characters, bytes that are not UTF-8. ERR_REFUSED, with the name.
 */
MUST_CHECK bool path_check_name(struct str name, struct err *e);

/* Each component, and the whole at most `max_bytes`: relative, no "//". */
MUST_CHECK bool path_check(struct str path, size_t max_bytes, struct err *e);

/* Whether the name (one component) is ".git", in whatever disguise. */
bool path_is_git_folder(struct str name);

/* The part after the last "/"; the whole path without one. */
struct str path_last(struct str path);

/* The number of components: "a/b" has two, and "" one. */
size_t path_depth(struct str path);

/* Whether `target`, followed from `folder` (both relative, "" is the top),
 * never climbs above the top on its way. */
bool path_stays_below(struct str folder, struct str target);

#endif
