#ifndef FETCH_WORKER_UNPACK_SERVE_H
#define FETCH_WORKER_UNPACK_SERVE_H

#include "../unpack.h"
#include "link.h"

/* The files of an archive. Contents in the arena of `out`, or borrowed. Errors:
 * those of unzip and untar. */
MUST_CHECK bool unpack_archive(struct str archive, enum artifact_format format,
                               struct unpack *out, struct err *e);

/* unpack: an archive, for mapm, which reads none by itself. It is the only task
 * of its process. `body`: of UNPACK. */
MUST_CHECK bool unpack_serve(struct link *l, struct str body, struct err *e);

#endif
