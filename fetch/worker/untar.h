#ifndef FETCH_WORKER_UNTAR_H
#define FETCH_WORKER_UNTAR_H

#include "../unpack.h"

/*
 * untar: extracts the files of a tar archive. It accepts headers of ustar and
 * of the older format, long paths as GNU tar and pax encode them, and pax
 * records that do not change the content of a file. Everything else, such as
 * links and devices, is rejected. Source: POSIX pax; PLUGINS.md row 45.
 */

/* File contents borrow from `tar`. Errors: ERR_REFUSED, ERR_FORMAT,
 * ERR_LIMIT. */
MUST_CHECK bool untar(struct str tar, struct unpack *out, struct err *e);

#endif
