#ifndef FETCH_STORE_FRAME_H
#define FETCH_STORE_FRAME_H

#include "mapm/team_remote.h"

#include "frame.h"

/* store_frame: encodes the team's stores in the options of mapm-fetch. */

void frame_stores(struct buf *b, const struct team_remotes *stores);

/* Allocates in `a`. Returns false if there are too many stores or a URL is
 * invalid. */
bool field_stores(struct fields *in, struct arena *a, struct team_remotes *out);

#endif
