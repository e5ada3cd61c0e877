#ifndef LIBRARY_FOLDER_H
#define LIBRARY_FOLDER_H

#include "mapm/library.h"

#include "library_record.h"

/*
 * folder: the way into a root and into the folders of its skills. Whoever can
 * write there can put a link in the place of one, before it is looked at or
 * after: so each is opened here, where it leads is judged first, and then it is
 * opened with no link followed.
 *
 *     root --shelter_open()--> shelter --folder_open()--> folder of a skill
 *                                        inside the root, or in `within`
 */

/* Where the folders of a root may be. */
struct shelter {
    struct str real;   /* the root, without links; "" = it is not there */
    struct str within; /* without links; "" = nowhere else */
};

/* Opens the root. In `a`. Errors: ERR_NOT_FOUND, ERR_IO; ERR_REFUSED when it
 * is `held` and elsewhere. */
MUST_CHECK bool shelter_open(const struct library_root *root, struct arena *a,
                             struct shelter *out, int *fd, struct err *e);

/* What two looks have in common when links may lead to the same places. */
uint64_t shelter_links(const struct shelter *s);

/* Opens the folder `name` of the root; `*real` is where it is, in `a`.
 * Errors: ERR_REFUSED when a link leads elsewhere. */
MUST_CHECK bool folder_open(const struct shelter *s, struct str name,
                            struct arena *a, int *fd, struct str *real,
                            struct err *e);

MUST_CHECK bool folder_id_of(int fd, struct folder_id *out, struct err *e);

#endif
