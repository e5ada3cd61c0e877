#include "base/hmac.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>

struct hash hmac_of(struct str key, struct str text)
{
    struct hmac_sha256_ctx ctx;
    struct hash out;

    hmac_sha256_set_key(&ctx, key.n, (const uint8_t *)key.p);
    hmac_sha256_update(&ctx, text.n, (const uint8_t *)text.p);
    hmac_sha256_digest(&ctx, sizeof out.b, out.b);
    return out;
}

bool hmac_eq(const struct hash *a, const struct hash *b)
{
    return memeql_sec(a->b, b->b, sizeof a->b);
}
