#ifndef INSTALL_IGNORE_BLOCK_H
#define INSTALL_IGNORE_BLOCK_H

#include "base/buf.h"
#include "base/err.h"

/* ignore_block: the block of mapm in a file of git patterns, from a first line
 * to IGNORE_LAST_LINE. */

#define IGNORE_LAST_LINE "# mapm: end"

/* Replaces the block by `lines`, or appends it; without lines the block is
 * removed. Other lines are kept. Allocated in `a`. Errors: ERR_FORMAT for a
 * block without end, which would include the rest of the file. */
MUST_CHECK bool ignore_block_set(struct str text, struct str first_line,
                                 struct str lines, struct arena *a,
                                 struct str *out, struct err *e);

#endif
