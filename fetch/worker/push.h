#ifndef FETCH_WORKER_PUSH_H
#define FETCH_WORKER_PUSH_H

#include "session.h"

/*
 * push: objects to a registry, and nothing else in this process's life.
 *
 *     HEAD manifests/NAME   200: it is there; 404: mapm is asked for it
 *     POST blobs/uploads/   PUT <where that leads>    its layer; its config
 *     PUT manifests/NAME    shows it
 *
 * PUSH_MAX_UPLOADS objects are in memory at once, whatever their number.
 *
 * Source: S2; TEAM.md 1.3.
 */

#define PUSH_MAX_UPLOADS 4

/* `body`: of PUSH. */
MUST_CHECK bool push_serve(struct session *s, struct str body, struct err *e);

#endif
