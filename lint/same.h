#ifndef LINT_SAME_H
#define LINT_SAME_H

#include "base/str.h"

/* Returns true if both folders, given as absolute paths, have the same files;
 * links are followed to files. Folders that cannot be read or exceed the limits
 * of a package differ. */
bool same_folders(struct str one, struct str two);

#endif
