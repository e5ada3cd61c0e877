#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"
#include "base/str.h"

/* base64: RFC 4648, 4: with "+", "/" and padding. */

struct str base64_format(struct str bytes, struct arena *a);

/* Appends the bytes that `text` stands for, with its padding or without. False for
 * another character, or when `out` is full. */
bool base64_parse(struct str text, struct buf *out);

#endif
