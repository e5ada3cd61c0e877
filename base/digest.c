#include "base/digest.h"

#define PREFIX STR("sha256:")

struct str digest_format(const struct hash *h, struct arena *a)
{
    return str_join(PREFIX, hash_hex(h, a), a);
}

struct str digest_of(struct str bytes, struct arena *a)
{
    struct hash h = hash_of(bytes);

    return digest_format(&h, a);
}

bool digest_parse(struct str text, struct hash *out)
{
    return str_starts(text, PREFIX) &&
           hash_parse(str_from_index(text, PREFIX.n), out);
}

bool digest_is_valid(struct str text)
{
    struct hash ignored;

    return digest_parse(text, &ignored);
}
