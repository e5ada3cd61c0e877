#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/hash.h"

/* digest: a hash in the notation of documents, "sha256:" and 64 lower-case
 * digits. */

struct str digest_format(const struct hash *h, struct arena *a);
struct str digest_of(struct str bytes, struct arena *a);

/* Returns false, with `*out` unchanged, if `text` is not a digest. */
bool digest_parse(struct str text, struct hash *out);
bool digest_is_valid(struct str text);

#endif
