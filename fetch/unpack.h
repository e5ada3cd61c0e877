#ifndef FETCH_UNPACK_H
#define FETCH_UNPACK_H

#include "base/map.h"
#include "mapm/fetch.h"

#include "frame.h"

/*
 * unpack: the frames about one archive, and what may be in it.
 *
 *     mapm --> UNPACK                  its only frame
 *         <-- UNPACKED, or FATAL       likewise
 *
 * mapm-fetch adds what it finds to a struct unpack; mapm does the same with what
 * it is told, so each name is judged on both sides.
 *
 * Source: W6, W7; PLUGINS.md row 45; THREATS.md rows 1 to 4.
 */

struct unpack {
    struct arena *a;
    const struct limits *limits;
    struct map names; /* folded path -> struct unpack_name * */
    struct fetch_unpacked *files;
    size_t count, capacity, folder_count;
    uint64_t bytes;
};

void unpack_init(struct unpack *u, const struct limits *limits,
                 struct arena *a);
/* Before its content is unpacked. Errors: ERR_LIMIT. */
MUST_CHECK bool unpack_check_room(const struct unpack *u, uint64_t size,
                                  struct err *e);
/* A folder, and those above it. Errors: ERR_REFUSED, ERR_LIMIT. */
MUST_CHECK bool unpack_add_folder(struct unpack *u, struct str path,
                                  struct err *e);
/* The path and the content live in the arena of `u`. The same errors. */
MUST_CHECK bool unpack_add_file(struct unpack *u, struct str path,
                                bool executable, struct str content,
                                struct err *e);

void unpack_write(struct buf *b, struct str archive,
                  enum artifact_format format, const struct limits *limits);
/* `*archive` is borrowed, the rest in `a`. False: it makes no sense. */
bool unpack_read(struct str body, struct arena *a, struct str *archive,
                 enum artifact_format *format, struct limits *limits);

void unpack_write_files(struct buf *b, const struct unpack *u);
/* All in the arena of `out`, which is initialized. False: it makes no sense. */
bool unpack_read_files(struct str body, struct unpack *out);

#endif
