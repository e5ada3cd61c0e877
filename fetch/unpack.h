#ifndef FETCH_UNPACK_H
#define FETCH_UNPACK_H

#include "base/map.h"
#include "mapm/fetch.h"

#include "frame.h"

/*
 * unpack: the frames for unpacking one archive, and the validation of its
 * entries.
 *
 *     mapm --> UNPACK                  its only frame
 *         <-- UNPACKED, or FATAL       the only frame of mapm-fetch
 *
 * mapm-fetch adds the entries to a struct unpack, and mapm does the same with
 * the entries that it receives, so both sides validate every name.
 *
 * Source: W6, W7; PLUGINS.md row 45; THREATS.md rows 1 to 4.
 */

struct unpack {
    struct arena *a;
    const struct limits *limits;
    struct map names; /* case-folded path -> struct unpack_name * */
    struct archive_file *files;
    size_t count, capacity, folder_count;
    uint64_t bytes;
};

void unpack_init(struct unpack *u, const struct limits *limits,
                 struct arena *a);
/* Checks that a file of `size` bytes may be added, before it is unpacked.
 * Errors: ERR_LIMIT. */
MUST_CHECK bool unpack_check_room(const struct unpack *u, uint64_t size,
                                  struct err *e);
/* Adds a folder and its parents. Errors: ERR_REFUSED, ERR_LIMIT. */
MUST_CHECK bool unpack_add_folder(struct unpack *u, struct str path,
                                  struct err *e);
/* Adds a file; `content` is borrowed and must live as long as `u`. Errors:
 * ERR_REFUSED, ERR_LIMIT. */
MUST_CHECK bool unpack_add_file(struct unpack *u, struct str path,
                                bool executable, struct str content,
                                struct err *e);

void unpack_write(struct buf *b, struct str archive,
                  enum artifact_format format, const struct limits *limits);
/* Borrows `*archive` from `body` and allocates the rest in `a`. Returns false
 * if the frame is invalid. */
bool unpack_read(struct str body, struct arena *a, struct str *archive,
                 enum artifact_format *format, struct limits *limits);

void unpack_write_files(struct buf *b, const struct unpack *u);
/* Adds the files of the frame to `out`, which is initialized. Returns false if
 * the frame is invalid. */
bool unpack_read_files(struct str body, struct unpack *out);

#endif
