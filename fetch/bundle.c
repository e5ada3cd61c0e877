#include "mapm/limits.h"

#include <fcntl.h>
#include <unistd.h>

#include "client.h"

#define WAIT_MS 100

struct call {
    struct channel channel;
    pid_t pid;
};

static void call_done(struct call *c)
{
    client_stop(c->pid);
    channel_done(&c->channel);
}

static bool read_lock(struct str body, struct arena *a, struct str *out)
{
    struct fields in = fields_of(body);
    struct str text = field_str(&in, LOCK_MAX_BYTES);

    *out = arena_str(a, text);
    return fields_end(&in);
}

static bool talk(struct call *c, struct arena *a, struct str *out,
                 struct err *e)
{
    for (;;) {
        struct frame frame;

        if (!channel_next(&c->channel, &frame, e))
            return client_nonsense(e);
        if (frame.type == FRAME_BUNDLE_LOCK)
            return read_lock(frame.body, a, out) || client_nonsense(e);
        if (frame.type == FRAME_FATAL)
            return client_read_fatal(frame.body, e);
        if (frame.type != 0)
            return client_nonsense(e);
        if (c->channel.closed)
            return client_report_end(&c->pid, e);
        if (!client_wait(&c->channel, NULL, WAIT_MS, e))
            return false;
    }
}

bool fetch_bundle_lock(int fd, struct arena *a, struct str *out, struct err *e)
{
    CLEANUP(call_done) struct call c = {.channel = {.fd = -1}};
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
    return talk(&c, a, out, e);
}
