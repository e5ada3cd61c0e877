#ifndef INSTALL_LICENSE_H
#define INSTALL_LICENSE_H

#include "base/arena.h"

/* license: what a package says of its terms, by its text. */

/* "LICENSE", "LICENSE.txt", "COPYING.md" … */
bool license_is_file(struct str path);
/* The license that a file holds, as "MIT" or "Apache-2.0"; "proprietary" for
 * one that reserves all rights; "" for another. */
struct str license_find(struct str text);
/* A field of a document that grants nothing: "Proprietary. …". */
bool license_is_proprietary(struct str field);

#endif
