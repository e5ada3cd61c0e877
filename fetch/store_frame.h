#ifndef FETCH_STORE_FRAME_H
#define FETCH_STORE_FRAME_H

#include "mapm/team_remote.h"

#include "frame.h"

/* store_frame: the team's stores among the options of mapm-fetch. */

void frame_stores(struct buf *b, const struct team_remotes *stores);

/* In `a`. False for more of them, or a URL, than there may be. */
bool field_stores(struct fields *in, struct arena *a, struct team_remotes *out);

#endif
