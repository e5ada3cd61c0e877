#ifndef TEAMSTORE_TAR_H
#define TEAMSTORE_TAR_H

#include "base/buf.h"
#include "mapm/team_object.h"

/* tar: the headers of an entry, in a single canonical form. */

#define TAR_BLOCK     512
#define TAR_END_BYTES (2 * (size_t)TAR_BLOCK)
/* Size of a pax header, its record, and the header of the file. */
#define TAR_HEAD_MAX_BYTES (4 * (size_t)TAR_BLOCK)

/* Appends everything before the file's bytes. */
void tar_head(struct str path, bool is_program, uint64_t size, struct buf *out);
/* Returns the number of zero bytes after `size` bytes. */
size_t tar_padding(uint64_t size);

enum tar_kind {
    TAR_FILE,
    TAR_PAX, /* a pax record, followed by the file */
    TAR_END,
    TAR_OTHER,
};

struct tar_entry {
    char path[256 + 1]; /* path of a TAR_FILE without a record */
    uint64_t size;
    bool is_program;
};

/* Parses a block as far as needed to format it again. */
enum tar_kind tar_parse(const char block[TAR_BLOCK], struct tar_entry *out);
/* Returns the path in a pax record; p is NULL for any other record. */
struct str tar_pax_path(struct str record);

#endif
