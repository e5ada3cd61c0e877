#ifndef LIBRARY_FOLDER_H
#define LIBRARY_FOLDER_H

#include "mapm/library.h"

#include "library_record.h"

/*
 * folder: opens a root and the folders of its skills. A user with write access
 * can replace a folder by a link at any time: so all are opened here, the
 * resolved path is checked first, and then opened without following links.
 *
 *     root --root_open()--> bounds --folder_open()--> folder of a skill
 *                                        inside the root, or in `allowed_link_root`
 */

/* Places in which the folders of a root may be. */
struct root_bounds {
    struct str real; /* resolved path of the root; "" if it does not exist */
    struct str allowed_link_root; /* resolved path; "" if links must stay in
                                   * the root */
};

/* Opens the root; the bounds are allocated in `a`. Errors: ERR_NOT_FOUND,
 * ERR_IO; ERR_REFUSED if the root is `confined` and leads elsewhere. */
MUST_CHECK bool root_open(const struct library_root *root, struct arena *a,
                          struct root_bounds *out, int *fd, struct err *e);

/* Returns a hash that is equal for two scans if links may lead to the same
 * places. */
uint64_t root_bounds_hash(const struct root_bounds *s);

/* Opens the folder `name` of the root; `*real` receives its resolved path,
 * allocated in `a`. Errors: ERR_REFUSED if a link leads elsewhere. */
MUST_CHECK bool folder_open(const struct root_bounds *s, struct str name,
                            struct arena *a, int *fd, struct str *real,
                            struct err *e);

MUST_CHECK bool folder_id_of(int fd, struct folder_id *out, struct err *e);

#endif
