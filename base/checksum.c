#include "base/checksum.h"

void checksum_init(struct checksum *c)
{
    sha1_init(&c->ctx);
}

void checksum_add(struct checksum *c, struct str bytes)
{
    sha1_update(&c->ctx, bytes.n, (const uint8_t *)bytes.p);
}

void checksum_end(struct checksum *c, uint8_t out[CHECKSUM_BYTES])
{
    sha1_digest(&c->ctx, CHECKSUM_BYTES, out);
}
