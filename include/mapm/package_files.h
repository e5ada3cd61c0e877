#ifndef MAPM_PACKAGE_FILES_H
#define MAPM_PACKAGE_FILES_H

#include "mapm/document.h"
#include "mapm/store.h"

/* package_files: a package as the store has it, by its listing. */
struct package_files {
    struct store *store;
    const struct package_file *files;
    size_t count;
};

/* NULL when no file of that path is in it. */
const struct package_file *package_files_find(const struct package_files *p,
                                              struct str path);

/* What manifest_read asks for. Borrows `p`. */
struct manifest_files package_files_reader(const struct package_files *p);

#endif
