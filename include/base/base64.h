#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/str.h"

/* base64: RFC 4648, 4: with "+", "/" and padding. */

struct str base64_format(struct str bytes, struct arena *a);

#endif
