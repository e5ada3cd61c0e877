#include "unpack.h"

#include "client.h"

#define WAIT_MS 100

bool fetch_unpack(struct str archive, enum artifact_format format,
                  const struct limits *limits, struct arena *a,
                  struct archive_file **out, size_t *count, struct err *e)
{
    CLEANUP(client_call_done) struct client_call c = {.channel = {.fd = -1}};
    struct unpack got;
    struct frame frame;
    bool is_here = false;

    if (archive.n > ARTIFACT_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "an archive of more than %u MiB",
                       ARTIFACT_MAX_BYTES >> 20);
    if (!client_start(a, &c.channel, &c.pid, e))
        return false;
    unpack_write(&c.channel.out, archive, format, limits);
    while (!is_here) {
        if (!client_call_next(&c, FRAME_UNPACKED, &frame, &is_here, e) ||
            (!is_here && !client_wait(&c.channel, NULL, WAIT_MS, e)))
            return false;
    }
    unpack_init(&got, limits, a);
    if (!unpack_read_files(frame.body, &got))
        return client_nonsense(e);
    *out = got.files;
    *count = got.count;
    return true;
}
