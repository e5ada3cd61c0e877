#ifndef MAPM_OPEN_STORE_H
#define MAPM_OPEN_STORE_H

#include "base/context.h"
#include "mapm/layer.h"
#include "mapm/store.h"

/* open_store: opens the user's store as configured by the environment. The
 * caller closes it. */
MUST_CHECK bool open_store(struct context *cx, struct store **out,
                           struct err *e);

/* Opens the workspace for reading, and the store. The caller closes both; on
 * failure neither is open. */
MUST_CHECK bool open_installed(struct context *cx, struct layer *l,
                               struct store **store, struct err *e);

/* The same for all layers that the command applies to; the caller calls
 * layer_close_all. */
MUST_CHECK bool open_installed_all(struct context *cx, struct layers *all,
                                   struct layer **list, size_t *count,
                                   struct store **store, struct err *e);

/* Closes the store, which may be NULL; warns if trust and history were
 * damaged. */
void close_store(struct context *cx, struct store *s);

#endif
