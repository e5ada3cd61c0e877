#ifndef MAPM_WORKSPACE_COLLECT_H
#define MAPM_WORKSPACE_COLLECT_H

#include "base/context.h"
#include "mapm/store.h"

/*
 * workspace_collect: removes from the store what the lock of no workspace holds.
 * Waits for others that use the store, and notes that. A workspace that was
 * removed is forgotten. With `dry_run` nothing changes.
 *
 * Errors: a workspace or a lock that cannot be read stops it, as what it needs is
 * not known; ERR_LOCKED; the store's.
 */
MUST_CHECK bool workspace_collect(struct context *cx, struct store *store,
                                  bool dry_run, struct store_stats *removed,
                                  struct err *e);

#endif
