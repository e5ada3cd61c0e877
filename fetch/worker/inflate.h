#ifndef FETCH_WORKER_INFLATE_H
#define FETCH_WORKER_INFLATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* inflate: bytes of an archive that were compressed, bounded while they are
 * unpacked. Source: RFC 1951, RFC 1952; PLUGINS.md row 45. */

/* Of a .zip: all of `in` is one stream, of exactly `size` bytes. In `a`.
 * Errors: ERR_FORMAT. */
MUST_CHECK bool inflate_raw(struct str in, size_t size, struct arena *a,
                            struct str *out, struct err *e);

/* Of a .tar.gz: one member, with nothing behind it, and at most `max` bytes of
 * content. The caller releases `out`. Errors: ERR_FORMAT, ERR_LIMIT. */
MUST_CHECK bool inflate_gzip(struct str in, size_t max, struct buf *out,
                             struct err *e);

/* What `size` bytes of an archive may hold: ARCHIVE_MAX_RATIO. */
uint64_t inflate_max(size_t size);

#endif
