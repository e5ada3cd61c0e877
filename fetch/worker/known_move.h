#ifndef FETCH_WORKER_KNOWN_MOVE_H
#define FETCH_WORKER_KNOWN_MOVE_H

#include "mapm/git_host.h"

#include "url.h"

/* known_move: recognizes a redirect to another host that the table of git hosts
 * lists as the same service: o.visualstudio.com/p/_git/r is
 * dev.azure.com/o/p/_git/r. `to` must be what the table makes of `from`, with
 * the same scheme and port. Credentials are not sent to it. Source: HOSTS 9. */
bool known_move(const struct git_host *kind, const struct url *from,
                const struct url *to);

#endif
