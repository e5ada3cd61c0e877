#ifndef FETCH_WORKER_BUNDLE_LOCK_H
#define FETCH_WORKER_BUNDLE_LOCK_H

#include "link.h"

/* bundle_lock: reads the mapm.lock of a bundle for mapm, which parses no
 * bundles itself. It is the only task of its process. */
MUST_CHECK bool bundle_lock_serve(struct link *l, struct err *e);

#endif
