#ifndef FETCH_WORKER_KNOWN_MOVE_H
#define FETCH_WORKER_KNOWN_MOVE_H

#include "mapm/git_host.h"

#include "url.h"

/*
 * known_move: a redirect to another host that the table of git hosts knows to
 * be the same: o.visualstudio.com/p/_git/r is dev.azure.com/o/p/_git/r. `to`
 * is what the table makes of `from`, over the same scheme and its own port.
 * Credentials do not go along. Source: HOSTS 9.
 */
bool known_move(const struct git_host *kind, const struct url *from,
                const struct url *to);

#endif
