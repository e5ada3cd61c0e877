#ifndef FETCH_WORKER_UNPACK_SERVE_H
#define FETCH_WORKER_UNPACK_SERVE_H

#include "../unpack.h"
#include "link.h"

/* Unpacks an archive. File contents are in the arena of `out`, or borrowed from
 * `archive`. Errors: those of unzip and untar. */
MUST_CHECK bool unpack_archive(struct str archive, enum artifact_format format,
                               struct unpack *out, struct err *e);

/* unpack_serve: unpacks an archive for mapm, which parses none itself. It is
 * the only task of its process. `body` is that of the UNPACK frame. */
MUST_CHECK bool unpack_serve(struct link *l, struct str body, struct err *e);

#endif
