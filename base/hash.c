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
    return arena_str(a, str_make(hex, HASH_HEX_CHARS));
}

/* The value of a hexadecimal digit plus 16; 0 for every other byte, so one AND
 * over all digits of a hash shows whether each was valid. A table, because a
 * record of the store holds thousands of hashes. */
static const uint8_t nibbles[256] = {
    ['0'] = 16, ['1'] = 17, ['2'] = 18, ['3'] = 19, ['4'] = 20, ['5'] = 21,
    ['6'] = 22, ['7'] = 23, ['8'] = 24, ['9'] = 25, ['a'] = 26, ['b'] = 27,
    ['c'] = 28, ['d'] = 29, ['e'] = 30, ['f'] = 31,
};

bool hash_parse(struct str hex, struct hash *out)
{
    struct hash h;
    unsigned good = 16;

    if (hex.n != HASH_HEX_CHARS)
        return false;
    for (size_t i = 0; i < sizeof h.b; i++) {
        unsigned high = nibbles[(unsigned char)hex.p[2 * i]];
        unsigned low = nibbles[(unsigned char)hex.p[2 * i + 1]];

        good &= high & low;
        h.b[i] = (uint8_t)(high << 4 | (low & 15));
    }
    if (!good)
        return false;
    *out = h;
    return true;
}
