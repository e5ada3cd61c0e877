#ifndef MAPM_PACKAGE_FILES_H
#define MAPM_PACKAGE_FILES_H

#include "mapm/document.h"
#include "mapm/store.h"

/* package_files: access to the files of a package in the store by its
 * listing. */
struct package_files {
    struct store *store;
    const struct package_file *files;
    size_t count;
};

/* Returns the file at `path`, or NULL. */
const struct package_file *package_files_find(const struct package_files *p,
                                              struct str path);

/* Makes the reader for manifest_read. Borrows `p`. */
struct manifest_files package_files_reader(const struct package_files *p);

/* The same for an open file on disk; reads nothing if `max_bytes` is 0. */
enum manifest_file package_file_read(int fd, size_t max_bytes, struct arena *a,
                                     struct str *content);

#endif
