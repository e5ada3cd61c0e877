#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include "base/str.h"

#include <sys/socket.h>

/*
 * address: classifies the IP addresses that a name resolved to, or that a URL
 * contains. A host that the user has not configured must not be this machine,
 * its network, or the metadata service of a cloud. [row 47] Source: IANA
 * special-purpose address registries (RFC 6890).
 */

/* Returns whether the address is neither loopback, link-local, private,
 * multicast nor reserved. An IPv4 address embedded in an IPv6 address is
 * checked instead. Returns false for other families. */
bool address_is_public(const struct sockaddr *address);

/* Returns whether it is a loopback address of this machine. */
bool address_is_loopback(const struct sockaddr *address);

/* Converts a host of a URL that is an address, not a name: an IPv6 address in
 * brackets, or an IPv4 address in any form that libcurl connects to
 * ("10.0.0.1", "10.1", "0x0a000001", "167772161"). Returns false for a name. */
bool address_parse(struct str host, struct sockaddr_storage *out);

/* Formats the address for messages: "10.0.0.1", "fe80::1". */
#define ADDRESS_TEXT_BYTES 64
void address_format(const struct sockaddr *address,
                    char out[ADDRESS_TEXT_BYTES]);

#endif
