#ifndef LINT_SAME_H
#define LINT_SAME_H

#include "base/str.h"

/* Whether two folders hold the same files, links to files as these. Absolute
 * paths. What cannot be read, or is more than a package may be, differs. */
bool same_folders(struct str one, struct str two);

#endif
