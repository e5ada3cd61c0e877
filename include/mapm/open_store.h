#ifndef MAPM_OPEN_STORE_H
#define MAPM_OPEN_STORE_H

#include "base/context.h"
#include "mapm/layer.h"
#include "mapm/store.h"

/* open_store: the user's store, from the environment. The caller closes. */
MUST_CHECK bool open_store(struct context *cx, struct store **out,
                           struct err *e);

/* The workspace as it is installed, for reading, and the store. The caller
 * closes both; after a failure neither is open. */
MUST_CHECK bool open_installed(struct context *cx, struct layer *l,
                               struct store **store, struct err *e);

/* The same of all layers that the command is about; layer_close_all. */
MUST_CHECK bool open_installed_all(struct context *cx, struct layers *all,
                                   struct layer **list, size_t *count,
                                   struct store **store, struct err *e);

/* Warns when trust and history were damaged. NULL is harmless. */
void close_store(struct context *cx, struct store *s);

#endif
