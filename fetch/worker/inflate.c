#include "inflate.h"

#include "mapm/limits.h"

#include <zlib.h>

#define RAW_BITS    (-MAX_WBITS)
#define GZIP_BITS   (16 + MAX_WBITS)
#define CHUNK_BYTES 65536

static void stream_done(z_stream *z)
{
    inflateEnd(z);
}

static bool stream_init(z_stream *z, struct str in, int bits, struct err *e)
{
    *z = (z_stream){0};
    z->next_in = (Bytef *)(uintptr_t)in.p;
    z->avail_in = (uInt)in.n; /* at most ARTIFACT_MAX_BYTES */
    return inflateInit2(z, bits) == Z_OK ||
           err_set(e, ERR_FAILED, "zlib cannot be used");
}

bool inflate_raw(struct str in, size_t size, struct arena *a, struct str *out,
                 struct err *e)
{
    char *bytes = arena_array(a, size + 1, 1);
    CLEANUP(stream_done) z_stream z = {0};
    int end;

    if (!stream_init(&z, in, RAW_BITS, e))
        return false;
    z.next_out = (Bytef *)bytes;
    z.avail_out = (uInt)size + 1; /* one byte more, to detect longer content */
    end = inflate(&z, Z_FINISH);
    *out = str_make(bytes, size);
    return (end == Z_STREAM_END && z.avail_in == 0 && z.total_out == size) ||
           err_set(e, ERR_FORMAT, "its data are not what its header says");
}

uint64_t inflate_max(size_t size)
{
    return (uint64_t)size * ARCHIVE_MAX_RATIO + ARCHIVE_FREE_BYTES;
}

static bool inflate_part(z_stream *z, size_t max, struct buf *out, int *end,
                         struct err *e)
{
    unsigned char chunk[CHUNK_BYTES];
    size_t n;

    z->next_out = chunk;
    z->avail_out = sizeof chunk;
    *end = inflate(z, Z_NO_FLUSH);
    n = sizeof chunk - z->avail_out;
    if ((*end != Z_OK && *end != Z_STREAM_END) || (*end == Z_OK && n == 0))
        return err_set(e, ERR_FORMAT, "it is damaged, or not gzip");
    if (n > max - out->n)
        return err_set(e, ERR_LIMIT, "the archive holds more than %zu bytes",
                       max);
    buf_append(out, str_make((const char *)chunk, n));
    return true;
}

bool inflate_gzip(struct str in, size_t max, struct buf *out, struct err *e)
{
    CLEANUP(stream_done) z_stream z = {0};
    uint64_t ratio = inflate_max(in.n);
    int end = Z_OK;

    if (max > ratio)
        max = (size_t)ratio;
    buf_init(out, max + 1);
    if (!stream_init(&z, in, GZIP_BITS, e))
        return false;
    while (end != Z_STREAM_END)
        if (!inflate_part(&z, max, out, &end, e))
            return false;
    return z.avail_in == 0 || err_set(e, ERR_REFUSED, "it has trailing data");
}
