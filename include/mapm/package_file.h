#ifndef MAPM_PACKAGE_FILE_H
#define MAPM_PACKAGE_FILE_H

#include "base/hash.h"
#include "base/str.h"

/* package_file: a file of a package, as in the listing in the store, in a
 * workspace, or in a skill on disk. */
struct package_file {
    bool executable;
    struct hash hash;
    struct str path; /* relative to the package, without ".."; MCP: file name */
};

#endif
