#ifndef BASE_HMAC_H
#define BASE_HMAC_H

#include "base/hash.h"

/*
 * hmac: HMAC-SHA-256 (nettle): proves that a text which went through other
 * hands is ours. Source: RFC 2104.
 */

struct hash hmac_of(struct str key, struct str text);

/* In a time that says nothing about where they differ. */
bool hmac_eq(const struct hash *a, const struct hash *b);

#endif
