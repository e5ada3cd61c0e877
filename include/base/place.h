#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include "base/str.h"

/* place: creates a new file or folder atomically, without replacing an existing
 * one. It is written under a temporary name, synced and renamed. */

/* A file of a new folder. */
struct place_file {
    const char *name; /* may be "folder/name" for place_folder */
    struct str text;
};

/* Renames `from` to `to`, both single names below `dirfd`, and syncs the
 * folder. Fails with ERR_FAILED if `to` exists; never replaces it. */
MUST_CHECK bool place_rename(int dirfd, const char *from, const char *to,
                             struct err *e);

/* Creates the file `name` in the folder `dirfd`. */
MUST_CHECK bool place_file(int dirfd, const char *name, struct str text,
                           struct err *e);

/* Creates the folder `name` with `files` in the folder `dirfd`. */
MUST_CHECK bool place_folder(int dirfd, const char *name,
                             const struct place_file *files, size_t count,
                             struct err *e);

#endif
