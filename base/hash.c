#include "base/hash.h"

#include <string.h>

void hash_init(struct hash_state *s)
{
    sha256_init(&s->ctx);
}

void hash_add(struct hash_state *s, struct str bytes)
{
    if (bytes.n)
        sha256_update(&s->ctx, bytes.n, (const uint8_t *)bytes.p);
}

struct hash hash_end(struct hash_state *s)
{
    struct hash h;

    sha256_digest(&s->ctx, sizeof h.b, h.b);
    return h;
}

struct hash hash_of(struct str bytes)
{
    struct hash_state s;

    hash_init(&s);
    hash_add(&s, bytes);
    return hash_end(&s);
}

bool hash_eq(const struct hash *a, const struct hash *b)
{
    return memcmp(a->b, b->b, sizeof a->b) == 0;
}

bool hash_is_zero(const struct hash *h)
{
    static const struct hash zero;

    return hash_eq(h, &zero);
}

void hash_format(const struct hash *h, char out[HASH_HEX_CHARS + 1])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < sizeof h->b; i++) {
        out[2 * i] = digits[h->b[i] >> 4];
        out[2 * i + 1] = digits[h->b[i] & 15];
    }
    out[HASH_HEX_CHARS] = '\0';
}

struct str hash_hex(const struct hash *h, struct arena *a)
{
    char hex[HASH_HEX_CHARS + 1];

    hash_format(h, hex);
    return arena_str(a, str_of(hex, HASH_HEX_CHARS));
}

/* 16 for what is no lower-case digit. A record holds thousands of hashes. */
static unsigned nibble(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

bool hash_parse(struct str hex, struct hash *out)
{
    struct hash h;
    unsigned bad = 0;

    if (hex.n != HASH_HEX_CHARS)
        return false;
    for (size_t i = 0; i < sizeof h.b; i++) {
        unsigned high = nibble(hex.p[2 * i]), low = nibble(hex.p[2 * i + 1]);

        bad |= high | low;
        h.b[i] = (uint8_t)(high << 4 | low);
    }
    if (bad & 16)
        return false;
    *out = h;
    return true;
}
