#ifndef FETCH_HOST_FRAME_H
#define FETCH_HOST_FRAME_H

#include "mapm/host_config.h"
#include "mapm/limits.h"

#include "frame.h"

/* host_frame: the hosts of config.yaml among the options of mapm-fetch. */

void frame_hosts(struct buf *b, const struct host_config *hosts, size_t count);

/* In `a`. A kind or a value that there is not sets `in->bad`. */
const struct host_config *field_hosts(struct fields *in, struct arena *a,
                                      size_t *count);

void frame_limits(struct buf *b, const struct limits *l);
/* Names and ceilings are the program's own. In `a`. False for one out of its
 * bounds. */
bool field_limits(struct fields *in, struct arena *a, struct limits *out);

#endif
