#ifndef INSTALL_CLIENTS_USED_H
#define INSTALL_CLIENTS_USED_H

#include "mapm/layer.h"

/*
 * The clients that a layer is provisioned for by name: those of `clients:`. At
 * user level, where mapm.yaml of the library does not decide, every verified
 * client on this machine, and those that were given something before. In the
 * arena of `cx`.
 */
struct client_choice clients_used(const struct layer *l, struct context *cx);

#endif
