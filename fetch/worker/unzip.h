#ifndef FETCH_WORKER_UNZIP_H
#define FETCH_WORKER_UNZIP_H

#include "../unpack.h"

/*
 * unzip: extracts the files of a .zip. The central directory is authoritative,
 * and each file's local header must agree with it. The files must cover the
 * archive from its first byte up to the directory, in the directory's order,
 * without gaps or overlaps. Entries are stored or deflated; encryption, ZIP64
 * and multiple volumes are rejected. Source: APPNOTE 6.3; PLUGINS.md row 45.
 */

/* File contents are in the arena of `out`, or borrowed from `zip`. Errors:
 * ERR_REFUSED, ERR_FORMAT, ERR_LIMIT. */
MUST_CHECK bool unzip(struct str zip, struct unpack *out, struct err *e);

#endif
