#ifndef INSTALL_FETCH_CACHE_H
#define INSTALL_FETCH_CACHE_H

#include "mapm/fetch.h"
#include "mapm/store.h"

/* fetch_cache: access of fetch to the store. The store is borrowed. */
struct fetch_store fetch_cache(struct store *store);

/* Likewise, for the capabilities of hosts only. */
struct fetch_store fetch_cache_hosts(struct store *store);

#endif
