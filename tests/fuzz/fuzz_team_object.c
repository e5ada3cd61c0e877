/* Objects of a team store: what is read is written again as the same archive,
 * within the limits; a proof of a store is one of a bundle, too. The input is the
 * archive, or, behind a byte of 1, the object itself. [row 30, S1, S4]. */

#include "mapm/team_object.h"

#include <stdlib.h>
#include <zlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str squeeze(struct str tar, struct arena *a)
{
    gz_header head = {.os = 255};
    z_stream z = {0};
    size_t room = tar.n + 1024;
    char *out = arena_alloc(a, room);

    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    deflateSetHeader(&z, &head);
    z.next_in = (unsigned char *)(uintptr_t)tar.p;
    z.avail_in = (unsigned)tar.n;
    z.next_out = (unsigned char *)out;
    z.avail_out = (unsigned)room;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    deflateEnd(&z);
    return str_make(out, room - z.avail_out);
}

static void check_again(struct archive_file *files, size_t count,
                        const struct hash *tar)
{
    struct buf out;
    struct hash again;
    struct err e;

    buf_init(&out, TEAM_OBJECT_MAX_BYTES);
    if (!team_object_write(files, count, &out, &again, &e) ||
        !hash_eq(tar, &again))
        abort();
    buf_done(&out);
}

static bool check_read(struct str bytes, const struct team_limits *limits,
                       struct arena *a)
{
    struct archive_file *files;
    size_t count;
    struct hash tar;
    struct err e;
    uint64_t sum = 0;

    if (!team_object_read(bytes, limits, a, &files, &count, &tar, &e)) {
        outcome_err(&e);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        sum += files[i].bytes.n;
        outcome_str(files[i].executable ? "program" : "file", files[i].path);
    }
    if (sum > limits->max_bytes || count > limits->max_files)
        abort();
    check_again(files, count, &tar);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct str bytes = str_make((const char *)data + 1, size - 1);

    if (size < 1)
        return 0;
    if (data[0] != 1)
        bytes = squeeze(bytes, &a);
    if (!check_read(bytes, &team_bundle_limits, &a) &&
        check_read(bytes, &team_proof_limits, &a))
        abort();
    arena_done(&a);
    return 0;
}
