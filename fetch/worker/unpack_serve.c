#include "unpack_serve.h"

#include "inflate.h"
#include "rights.h"
#include "untar.h"
#include "unzip.h"

/* Headers and padding in addition to the content: three blocks per file. */
#define TAR_MAX_BYTES (ARCHIVE_MAX_BYTES + 2 * ARCHIVE_MAX_FILES * 1536ull)

static bool unpack_tar_gz(struct str archive, struct unpack *out, struct err *e)
{
    CLEANUP(buf_done) struct buf tar = {0};

    return inflate_gzip(archive, TAR_MAX_BYTES, &tar, e) &&
           untar(arena_str(out->a, buf_str(&tar)), out, e);
}

bool unpack_archive(struct str archive, enum artifact_format format,
                    struct unpack *out, struct err *e)
{
    switch (format) {
    case ARTIFACT_ZIP:
        return unzip(archive, out, e);
    case ARTIFACT_TAR_GZ:
        return unpack_tar_gz(archive, out, e);
    default:
        return err_set(e, ERR_FORMAT, "it is not an archive");
    }
}

/* Uses no network, so it needs no settings. */
bool unpack_serve(struct link *l, struct str body, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    static const struct settings none;
    enum artifact_format format;
    struct limits limits;
    struct unpack out;
    struct str archive;

    if (!unpack_read(body, &a, &archive, &format, &limits))
        return link_nonsense(e);
    unpack_init(&out, &limits, &a);
    if (!rights_give_up(&none, NULL, 0, e) ||
        !unpack_archive(archive, format, &out, e))
        return false;
    unpack_write_files(&l->channel.out, &out);
    return link_finish(l, e);
}
