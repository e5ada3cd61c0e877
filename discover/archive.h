#ifndef DISCOVER_ARCHIVE_H
#define DISCOVER_ARCHIVE_H

#include "base/buf.h"

/*
 * archive: writes files as an uncompressed .zip. The same files give the same
 * bytes: no times, and only the modes 644 and 755.
 *
 *     archive_begin(), archive_add() in the order of paths, archive_end()
 *
 * Source: APPNOTE 6.3; W6: content at the root, no folder around it.
 */

struct archive {
    struct buf *out; /* buffer of the caller, who also checks for overflow */
    struct buf directory;
    size_t count;
};

void archive_begin(struct archive *z, struct buf *out);
void archive_add(struct archive *z, struct str path, bool executable,
                 struct str content);
void archive_end(struct archive *z); /* Frees the archive; may be called
                                      * twice. */

#endif
