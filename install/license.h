#ifndef INSTALL_LICENSE_H
#define INSTALL_LICENSE_H

#include "base/arena.h"

/* license: identifies the license of a package by its text. */

/* Returns whether the path is a license file: "LICENSE", "LICENSE.txt",
 * "COPYING.md" … */
bool license_is_file(struct str path);
/* Returns the license in a text, such as "MIT" or "Apache-2.0"; "proprietary"
 * if all rights are reserved; "" if unknown. */
struct str license_find(struct str text);
/* Returns whether a license field grants nothing, such as "Proprietary. …". */
bool license_is_proprietary(struct str field);

#endif
