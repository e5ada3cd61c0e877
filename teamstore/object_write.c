#include "base/path.h"
#include "mapm/limits.h"
#include "mapm/team_object.h"

#include <zlib.h>

#include "tar.h"

struct deflater {
    z_stream z;
    struct hash_state hash; /* hash of the uncompressed bytes */
    struct buf *out;
    bool open;
};

static bool open_deflater(struct deflater *d, struct buf *out, struct err *e)
{
    /* No name, time or system, so that the bytes are reproducible. */
    static gz_header head = {.os = 255};

    *d = (struct deflater){.out = out};
    hash_init(&d->hash);
    if (deflateInit2(&d->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return err_set(e, ERR_FAILED, "zlib does not start");
    d->open = true;
    deflateSetHeader(&d->z, &head);
    return true;
}

static void close_deflater(struct deflater *d)
{
    if (d->open)
        deflateEnd(&d->z);
    d->open = false;
}

/* Compresses the input of the stream. */
static void drain(struct deflater *d, int flush)
{
    char piece[16384];

    do {
        d->z.next_out = (unsigned char *)piece;
        d->z.avail_out = sizeof piece;
        deflate(&d->z, flush);
        buf_append(d->out, str_make(piece, sizeof piece - d->z.avail_out));
    } while (d->z.avail_out == 0);
}

static void put(struct deflater *d, struct str bytes)
{
    hash_add(&d->hash, bytes);
    while (bytes.n) {
        struct str part = str_slice(bytes, 0, 1u << 30);

        d->z.next_in = (unsigned char *)(uintptr_t)part.p;
        d->z.avail_in = (unsigned)part.n;
        drain(d, Z_NO_FLUSH);
        bytes = str_from_index(bytes, part.n);
    }
}

static bool check_files(const struct archive_file *files, size_t count,
                        struct err *e)
{
    for (size_t i = 0; i < count; i++) {
        if (!path_check(files[i].path, PACKAGE_PATH_MAX_BYTES, e))
            return false;
        if (i && str_eq(files[i].path, files[i - 1].path))
            return err_set(e, ERR_REFUSED, "%.*s is there twice",
                           STR_ARG(files[i].path));
    }
    return true;
}

static void put_file(struct deflater *d, const struct archive_file *f,
                     struct buf *head)
{
    static const char zeros[TAR_BLOCK];

    buf_clear(head);
    tar_head(f->path, f->executable, f->bytes.n, head);
    put(d, buf_str(head));
    put(d, f->bytes);
    put(d, str_make(zeros, tar_padding(f->bytes.n)));
}

bool team_object_write(struct archive_file *files, size_t count,
                       struct buf *out, struct hash *tar, struct err *e)
{
    static const char end[TAR_END_BYTES];
    CLEANUP(close_deflater) struct deflater d = {.open = false};
    CLEANUP(buf_done) struct buf head;
    size_t before = out->n;
    struct hash whole;

    buf_init(&head, TAR_HEAD_MAX_BYTES);
    STR_SORT_BY(files, count, path);
    if (!check_files(files, count, e) || !open_deflater(&d, out, e))
        return false;
    for (size_t i = 0; i < count && !out->overflowed; i++)
        put_file(&d, &files[i], &head);
    put(&d, str_make(end, sizeof end));
    drain(&d, Z_FINISH);
    whole = hash_end(&d.hash);
    if (tar)
        *tar = whole;
    if (out->n - before > TEAM_OBJECT_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "an object is larger than %u MiB",
                       TEAM_OBJECT_MAX_BYTES >> 20);
    return buf_check(out, "an object of the team store", e);
}
