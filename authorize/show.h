#ifndef AUTHORIZE_SHOW_H
#define AUTHORIZE_SHOW_H

#include "mapm/authorize.h"

/* Finds the most recently trusted digest of that name other than the current
 * one. */
MUST_CHECK bool show_find_earlier(struct store *store,
                                  const struct trust_request *q, bool *found,
                                  struct state_trust *out, struct arena *a,
                                  struct err *e);

#endif
