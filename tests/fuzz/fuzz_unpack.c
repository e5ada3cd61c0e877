/* Archives of an index: whatever comes out has clean names, no two of which are
 * one, within the limits; the frame about it is read as it was written; and its
 * beginning alone is refused.
 * [W6, W7, row 45] Input: as it is sent, so its first bytes say which format. */
#include "base/path.h"
#include "base/text.h"

#include <stdlib.h>

#include "../../fetch/worker/unpack_serve.h"
#include "outcome.h"

#define SMALL_BYTES (1u << 20) /* so that a run is short */
#define SMALL_FILES 64
#define SHORT_BYTES 600 /* of the end, for the same reason */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_files(const struct unpack *u)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct map seen;
    struct err e = {0};
    uint64_t bytes = 0;

    map_init(&seen, &a);
    for (size_t i = 0; i < u->count; i++) {
        const struct archive_file *f = &u->files[i];

        if (!path_check(f->path, PACKAGE_PATH_MAX_BYTES, &e) ||
            !map_put(&seen, text_fold(f->path, &a), NULL))
            abort();
        bytes += f->bytes.n;
        outcome_str(f->executable ? "program" : "file", f->path);
        outcome_str("content", f->bytes);
    }
    if (u->count > SMALL_FILES || bytes > SMALL_BYTES || bytes != u->bytes)
        abort();
}

static void check_frame(const struct unpack *u, const struct limits *limits)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b;
    struct unpack again;

    buf_init(&b, 4 * SMALL_BYTES);
    unpack_write_files(&b, u);
    unpack_init(&again, limits, &a);
    if (!unpack_read_files(str_from_index(buf_str(&b), FRAME_HEAD + 1),
                           &again) ||
        again.count != u->count)
        abort();
    for (size_t i = 0; i < u->count; i++)
        if (!str_eq(again.files[i].path, u->files[i].path) ||
            !str_eq(again.files[i].bytes, u->files[i].bytes) ||
            again.files[i].executable != u->files[i].executable)
            abort();
}

static bool unpacks(struct str bytes, const struct limits *limits,
                    struct arena *a, struct unpack *u)
{
    struct err e = {0};

    unpack_init(u, limits, a);
    if (unpack_archive(bytes, well_known_format(bytes), u, &e))
        return true;
    outcome_err(&e);
    if (e.code != ERR_REFUSED && e.code != ERR_FORMAT && e.code != ERR_LIMIT)
        abort();
    return false;
}

/* What is cut anywhere is no archive: each of its ends is looked for. */
static void check_cut(struct str whole, const struct limits *limits)
{
    size_t first = whole.n > SHORT_BYTES ? whole.n - SHORT_BYTES : 0;

    for (size_t n = first; n < whole.n; n++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct unpack u;

        if (unpacks(str_slice(whole, 0, n), limits, &a, &u))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str bytes = str_make((const char *)data, size);
    struct limits limits = limits_default;
    struct unpack u;

    limits.package_max_bytes.value = SMALL_BYTES;
    limits.package_max_files.value = SMALL_FILES;
    if (!unpacks(bytes, &limits, &a, &u))
        return 0;
    check_files(&u);
    check_frame(&u, &limits);
    check_cut(bytes, &limits);
    return 0;
}
