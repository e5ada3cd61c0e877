#ifndef FETCH_WORKER_UNTAR_H
#define FETCH_WORKER_UNTAR_H

#include "../unpack.h"

/*
 * untar: the files of a tar archive. Headers of ustar and of the older form; the
 * path of the next entry, as GNU tar and pax write it if it is long; records of
 * pax that do not change what a file is. All else, links and devices first, is
 * refused. Source: POSIX pax; PLUGINS.md row 45.
 */

/* Contents borrow from `tar`. Errors: ERR_REFUSED, ERR_FORMAT, ERR_LIMIT. */
MUST_CHECK bool untar(struct str tar, struct unpack *out, struct err *e);

#endif
