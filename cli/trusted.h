#ifndef CLI_TRUSTED_H
#define CLI_TRUSTED_H

#include "mapm/store.h"

#include "command.h"

/*
 * Whether a fetched metaskill may run (X27, row 21): `digest` "sha256:…" of the
 * lock. What is not trusted is shown and asked for on a terminal, and a yes
 * is remembered; --yes is none, since trust is said on purpose.
 * Errors: ERR_REFUSED, with mapm trust in the hint; what the store reports.
 */
MUST_CHECK bool trusted_check(struct invocation *inv, struct store *store,
                              struct str fqn, struct str digest, struct err *e);

#endif
