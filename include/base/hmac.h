#ifndef BASE_HMAC_H
#define BASE_HMAC_H

#include "base/hash.h"

/* hmac: HMAC-SHA-256 (nettle), to verify that a text which was handed to
 * another party is unchanged.
 * Source: RFC 2104. */

struct hash hmac_of(struct str key, struct str text);

/* Compares in constant time. */
bool hmac_eq(const struct hash *a, const struct hash *b);

#endif
