#ifndef FETCH_WORKER_QUOTE_H
#define FETCH_WORKER_QUOTE_H

#include "base/str.h"

/* quote: makes an untrusted name printable and short for a message. */

struct quote {
    char text[200];
};

/* Returns `q->text`, valid as long as `q`; a long text is cut and ends in
 * "…". */
const char *quote(struct quote *q, struct str s);

#endif
