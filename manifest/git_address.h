#ifndef MANIFEST_GIT_ADDRESS_H
#define MANIFEST_GIT_ADDRESS_H

#include "mapm/git_host.h"

/* Returns true if an address template of `g` names exactly this host. */
bool git_address_has_host(const struct git_host *g, struct str host);
/* Returns true if repositories at this host are stored and fetched under
 * another host name. */
bool git_address_moves(const struct git_host *g, struct str host);

#endif
