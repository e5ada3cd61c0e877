#ifndef FETCH_WORKER_UNZIP_H
#define FETCH_WORKER_UNZIP_H

#include "../unpack.h"

/*
 * unzip: the files of a .zip. The central directory decides, each file's own
 * header has to agree with it, and together they are the whole archive: from its
 * first byte to the directory, in the order of that, without gaps or overlaps.
 * Stored or deflated; no encryption, no ZIP64, no other volume. Source: APPNOTE
 * 6.3; PLUGINS.md row 45.
 */

/* In the arena of `out`, or borrowed from `zip`. Errors: ERR_REFUSED,
 * ERR_FORMAT, ERR_LIMIT. */
MUST_CHECK bool unzip(struct str zip, struct unpack *out, struct err *e);

#endif
