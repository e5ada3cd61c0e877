#ifndef FETCH_WORKER_ADDRESS_H
#define FETCH_WORKER_ADDRESS_H

#include "base/str.h"

#include <sys/socket.h>

/*
 * address: classifies the IP addresses that a name resolved to. A host that the
 * user has not configured must not resolve to this machine, its network, or the
 * metadata service of a cloud. [row 47] Source: IANA special-purpose address
 * registries (RFC 6890).
 */

/* Returns whether the address is neither loopback, link-local, private,
 * multicast nor reserved. An IPv4 address embedded in an IPv6 address is
 * checked instead. Returns false for other families. */
bool address_is_public(const struct sockaddr *address);

/* Returns whether it is a loopback address of this machine. */
bool address_is_loopback(const struct sockaddr *address);

/* Formats the address for messages: "10.0.0.1", "fe80::1". */
#define ADDRESS_TEXT_BYTES 64
void address_format(const struct sockaddr *address,
                    char out[ADDRESS_TEXT_BYTES]);

#endif
