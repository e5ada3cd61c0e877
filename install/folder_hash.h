#ifndef INSTALL_FOLDER_HASH_H
#define INSTALL_FOLDER_HASH_H

#include "mapm/store.h"

/*
 * The hash that skills (npm) writes into its lock files: SHA-256 of path and
 * content of each file, in the order of JavaScript's localeCompare. False for a
 * path that is not ASCII, whose order depends on tables, and when a file cannot
 * be read. Sorts `files`. Source: skills 1.x; CLDR root collation.
 */
bool folder_hash(struct store *store, struct package_file *files, size_t count,
                 struct arena *scratch, struct hash *out);

#endif
