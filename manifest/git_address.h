#ifndef MANIFEST_GIT_ADDRESS_H
#define MANIFEST_GIT_ADDRESS_H

#include "mapm/git_host.h"

/* Whether an address of `g` is on this very host. */
bool git_address_has_host(const struct git_host *g, struct str host);
/* Whether what is there is stored, and fetched, as of another host. */
bool git_address_moves(const struct git_host *g, struct str host);

#endif
