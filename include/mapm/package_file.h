#ifndef MAPM_PACKAGE_FILE_H
#define MAPM_PACKAGE_FILE_H

#include "base/hash.h"
#include "base/str.h"

/* package_file: a file of a package, as its listing in the store names it, as
 * it is put into a workspace, and as a skill on disk has it. */
struct package_file {
    bool executable;
    struct hash hash;
    struct str path; /* clean, relative to the package; of an MCP: its name */
};

#endif
