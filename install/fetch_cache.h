#ifndef INSTALL_FETCH_CACHE_H
#define INSTALL_FETCH_CACHE_H

#include "mapm/fetch.h"
#include "mapm/store.h"

/* fetch_cache: what fetch may take from the store, and keeps there. The store
 * is borrowed. */
struct fetch_store fetch_cache(struct store *store);

/* What hosts can do, alone. */
struct fetch_store fetch_cache_hosts(struct store *store);

#endif
