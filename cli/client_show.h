#ifndef CLI_CLIENT_SHOW_H
#define CLI_CLIENT_SHOW_H

#include "base/json.h"
#include "mapm/install_clients.h"

#include "command.h"

/* Writes the member "clients": all clients, or only those in use or on this
 * machine. */
void client_put_json(struct json_writer *w,
                     const struct install_client_view *views, size_t count,
                     bool all);

#endif
