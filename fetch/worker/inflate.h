#ifndef FETCH_WORKER_INFLATE_H
#define FETCH_WORKER_INFLATE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* inflate: decompresses content of archives with a bound on the output. Source:
 * RFC 1951, RFC 1952; PLUGINS.md row 45. */

/* Inflates an entry of a .zip: `in` is one stream of exactly `size` bytes when
 * inflated. Allocates in `a`. Errors: ERR_FORMAT. */
MUST_CHECK bool inflate_raw(struct str in, size_t size, struct arena *a,
                            struct str *out, struct err *e);

/* Inflates a .tar.gz: one gzip member without trailing data, which may inflate
 * to at most `max` bytes and at most inflate_max(in.n). The caller frees `out`.
 * Errors: ERR_FORMAT, ERR_LIMIT, ERR_REFUSED for trailing data. */
MUST_CHECK bool inflate_gzip(struct str in, size_t max, struct buf *out,
                             struct err *e);

/* Returns the limit on the content of an archive of `size` bytes, from
 * ARCHIVE_MAX_RATIO. */
uint64_t inflate_max(size_t size);

#endif
