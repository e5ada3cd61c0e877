#ifndef FETCH_WORKER_ADDRESS_H
#define FETCH_WORKER_ADDRESS_H

#include "base/str.h"

#include <sys/socket.h>

/*
 * address: where a name led to. A host that the user has not configured must
 * not turn out to be this machine, its network, or the metadata service of a
 * cloud: names can be made to resolve to anything. [row 47]
 * Source: IANA special-purpose address registries (RFC 6890).
 */

/* Neither loopback, link-local, private, multicast nor reserved; of an IPv6
 * address that carries an IPv4 one, that counts. False for other families. */
bool address_is_public(const struct sockaddr *address);

/* This machine, by an address that leads nowhere else. */
bool address_is_loopback(const struct sockaddr *address);

/* "10.0.0.1", "fe80::1": for messages. */
#define ADDRESS_TEXT_BYTES 64
void address_format(const struct sockaddr *address,
                    char out[ADDRESS_TEXT_BYTES]);

#endif
