#ifndef FETCH_HOST_FRAME_H
#define FETCH_HOST_FRAME_H

#include "mapm/host_config.h"
#include "mapm/limits.h"

#include "frame.h"

/* host_frame: encodes the hosts of config.yaml and the limits in the options of
 * mapm-fetch. */

void frame_hosts(struct buf *b, const struct host_config *hosts, size_t count);

/* Allocated in `a`. An unknown kind or value sets `in->bad`. */
const struct host_config *field_hosts(struct fields *in, struct arena *a,
                                      size_t *count);

void frame_limits(struct buf *b, const struct limits *l);
/* Reads the values and their sources, allocated in `a`; names and ceilings are
 * this program's own. Returns false if a value is out of its bounds. */
bool field_limits(struct fields *in, struct arena *a, struct limits *out);

#endif
