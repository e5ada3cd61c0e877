#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"
#include "base/str.h"

/* base64: encode and decode the alphabet of RFC 4648, 4, with "+", "/" and
 * padding. */

struct str base64_format(struct str bytes, struct arena *a);

/* Appends the decoded bytes of `text`, with or without padding. Returns false
 * on an invalid character, or if `out` is full. */
bool base64_parse(struct str text, struct buf *out);

#endif
