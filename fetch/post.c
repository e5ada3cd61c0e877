#include "post.h"

#include "base/proc.h"

#include "client.h"

/* Timeout of poll: a signal that arrives just before poll is noticed after this
 * time. */
#define WAIT_MS 20

static bool exchange_frames(struct client_call *c, const struct fetch_post *in,
                            uint64_t time_ms, struct arena *a,
                            struct fetch_reply *out, struct err *e)
{
    for (;;) {
        struct frame frame;
        uint64_t now = proc_now_ms(), left;
        bool got;

        if (!client_call_next(c, FRAME_REPLY, &frame, &got, e))
            return false;
        if (got)
            return post_read_reply(frame.body, in->max_bytes, a, out) ||
                   client_nonsense(e);
        left = now < in->deadline_ms ? in->deadline_ms - now : 0;
        if (left == 0)
            return post_late(in->url, time_ms, e);
        if (!client_wait(&c->channel, NULL,
                         left < WAIT_MS ? (unsigned)left : WAIT_MS, e))
            return false;
        if (in->tick)
            in->tick(in->ctx);
    }
}

bool fetch_post(const struct fetch_post *in, struct arena *a,
                struct fetch_reply *out, struct err *e)
{
    CLEANUP(client_call_done) struct client_call c = {.channel = {.fd = -1}};
    uint64_t now = proc_now_ms(), left = 0;

    if (!post_check(in, e))
        return false;
    if (in->deadline_ms > now)
        left = in->deadline_ms - now;
    if (left > POST_MAX_MS)
        left = POST_MAX_MS;
    if (left == 0)
        return post_late(in->url, 0, e);
    if (!client_start(a, &c.channel, &c.pid, e))
        return false;
    post_write(&c.channel.out, in, left);
    return exchange_frames(&c, in, left, a, out, e);
}
