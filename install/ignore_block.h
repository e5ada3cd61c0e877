#ifndef INSTALL_IGNORE_BLOCK_H
#define INSTALL_IGNORE_BLOCK_H

#include "base/buf.h"
#include "base/err.h"

/* ignore_block: the lines that are mapm's in a file of patterns for git,
 * between one that begins them and IGNORE_LAST_LINE. */

#define IGNORE_LAST_LINE "# mapm: end"

/*
 * `lines` in the place of an older block, else at the end; other lines stay.
 * Without lines the block goes. In `a`. Errors: ERR_FORMAT for a block without
 * its end, which would take the rest of the file.
 */
MUST_CHECK bool ignore_block_set(struct str text, struct str first_line,
                                 struct str lines, struct arena *a,
                                 struct str *out, struct err *e);

/* The file `name` of the folder `dir`, at most `max_bytes`; "" without one. */
MUST_CHECK bool ignore_file_read(int dir, const char *name, size_t max_bytes,
                                 struct arena *a, struct str *out,
                                 struct err *e);

#endif
