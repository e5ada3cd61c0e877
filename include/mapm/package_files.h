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

/* The same of a file on the disk that is open: nothing is read for 0 bytes. */
enum manifest_file package_file_read(int fd, const struct stat *st,
                                     size_t max_bytes, struct arena *a,
                                     struct str *content);

#endif
