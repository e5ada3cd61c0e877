#include "mapm/limits.h"

#include <fcntl.h>
#include <unistd.h>

#include "client.h"

#define WAIT_MS 100

static bool read_lock(struct str body, struct arena *a, struct str *out)
{
    struct fields in = fields_of(body);
    struct str text = field_str(&in, LOCK_MAX_BYTES);

    *out = arena_str(a, text);
    return fields_end(&in);
}

static bool exchange_frames(struct client_call *c, struct arena *a,
                            struct str *out, struct err *e)
{
    for (;;) {
        struct frame frame;
        bool got;

        if (!client_call_next(c, FRAME_BUNDLE_LOCK, &frame, &got, e))
            return false;
        if (got)
            return read_lock(frame.body, a, out) || client_nonsense(e);
        if (!client_wait(&c->channel, NULL, WAIT_MS, e))
            return false;
    }
}

bool fetch_bundle_lock(int fd, struct arena *a, struct str *out, struct err *e)
{
    CLEANUP(client_call_done) struct client_call c = {.channel = {.fd = -1}};
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    if (own < 0)
        return err_errno(e, "open the bundle");
    if (!client_start(a, &c.channel, &c.pid, e)) {
        close(own);
        return false;
    }
    if (!channel_give_fd(&c.channel, own))
        close(own);
    frame_end(&c.channel.out, frame_begin(&c.channel.out, FRAME_BUNDLE));
    return exchange_frames(&c, a, out, e);
}
