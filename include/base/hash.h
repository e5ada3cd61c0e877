#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/str.h"

#include <nettle/sha2.h>

/* hash: SHA-256 (nettle), as a value and as hexadecimal text. */

#define HASH_HEX_CHARS 64

struct hash {
    uint8_t b[32];
};

struct hash_state {
    struct sha256_ctx ctx;
};

void hash_init(struct hash_state *s);
void hash_add(struct hash_state *s, struct str bytes);
struct hash hash_end(struct hash_state *s);
struct hash hash_of(struct str bytes);

bool hash_eq(const struct hash *a, const struct hash *b);
bool hash_is_zero(const struct hash *h);

/* Writes 64 lower-case hexadecimal digits and a NUL. */
void hash_format(const struct hash *h, char out[HASH_HEX_CHARS + 1]);
struct str hash_hex(const struct hash *h, struct arena *a);

/* Parses exactly 64 lower-case digits; otherwise returns false and leaves
 * `*out` unchanged. */
bool hash_parse(struct str hex, struct hash *out);

#endif
