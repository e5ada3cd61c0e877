#ifndef FETCH_WORKER_PUSH_H
#define FETCH_WORKER_PUSH_H

#include "session.h"

/*
 * push: uploads objects to a registry; it is the only task of its process.
 *
 *     HEAD manifests/NAME   200: it exists; 404: request the object from mapm
 *     POST blobs/uploads/   PUT <its Location>        the layer; the config
 *     PUT manifests/NAME    publishes it
 *
 * At most PUSH_MAX_UPLOADS objects are in memory at once.
 *
 * Source: S2; TEAM.md 1.3.
 */

#define PUSH_MAX_UPLOADS 4

/* `body` is that of the PUSH frame. */
MUST_CHECK bool push_serve(struct session *s, struct str body, struct err *e);

#endif
