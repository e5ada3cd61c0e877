#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include "base/str.h"

/*
 * place: a new file or folder, created atomically and never over an existing
 * one. It is written under a temporary name and renamed when all of it is on
 * the disk.
 */

struct place_file {
    const char *name; /* of place_folder: may be "folder/name" */
    struct str text;
};

/* ERR_FAILED when `to` is there already; never replaces. Both below `dirfd`,
 * a single name each. Synced. */
MUST_CHECK bool place_rename(int dirfd, const char *from, const char *to,
                             struct err *e);

/* A file `name` in the folder `dirfd`. */
MUST_CHECK bool place_file(int dirfd, const char *name, struct str text,
                           struct err *e);

/* A folder `name` with `files` in the folder `dirfd`. */
MUST_CHECK bool place_folder(int dirfd, const char *name,
                             const struct place_file *files, size_t count,
                             struct err *e);

#endif
