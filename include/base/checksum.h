#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include "base/str.h"

#include <nettle/sha1.h>

/* checksum: plain SHA-1 (nettle), for formats that prescribe it, such as the
 * trailer of a git pack. It gives no protection against an attacker: object ids
 * are computed elsewhere, with collision detection. */

#define CHECKSUM_BYTES 20

struct checksum {
    struct sha1_ctx ctx;
};

void checksum_init(struct checksum *c);
void checksum_add(struct checksum *c, struct str bytes);
void checksum_end(struct checksum *c, uint8_t out[CHECKSUM_BYTES]);

#endif
