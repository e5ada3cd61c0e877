#ifndef MAPM_TRUSTED_H
#define MAPM_TRUSTED_H

#include "base/context.h"
#include "mapm/manifest.h"
#include "mapm/store.h"

/*
 * Whether a fetched metaskill, as the lock has it, may run (X27, row 21). What
 * is not trusted is shown and asked for on a terminal, and a yes is remembered;
 * --yes is none, since trust is said on purpose.
 * Errors: ERR_REFUSED, with mapm trust in the hint; what the store reports.
 */
MUST_CHECK bool trusted_check(struct context *cx, struct store *store,
                              const struct lock_entry *entry, struct err *e);

#endif
