#include "base/proc.h"

#include "client.h"
#include "push_frame.h"

#define WAIT_MS 100

struct push {
    const struct team_push *in;
    struct channel channel;
    pid_t pid;
    size_t over;
    bool *is_over;             /* indexed by object number */
    const struct err **failed; /* indexed by object number: the error of
                                * `make`, or NULL */
    struct arena arena;
};

static void push_done(struct push *p)
{
    client_stop(p->pid);
    channel_done(&p->channel);
    arena_done(&p->arena);
}

/* Makes the object that mapm-fetch asks for. If that fails, an empty object is
 * sent, which mapm-fetch skips. */
static bool make(struct push *p, struct str body)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct fields in = fields_of(body);
    size_t i = field_u32(&in, PUSH_NAMES_MAX);
    struct team_upload u = {0};
    struct err why = {0};

    if (!fields_end(&in) || i >= p->in->count || p->is_over[i])
        return false;
    if (!p->in->make(p->in->ctx, i, &a, &u, &why)) {
        struct err *kept = arena_new(&p->arena, struct err);

        *kept = why;
        p->failed[i] = kept;
        u = (struct team_upload){0};
    }
    push_write_object(&p->channel.out, i, &u);
    return !p->channel.out.overflowed;
}

static bool take_done(struct push *p, struct str body)
{
    struct err room = {0};
    struct push_done d;

    if (!push_read_done(body, &d, &room) || d.number >= p->in->count ||
        p->is_over[d.number])
        return false;
    p->is_over[d.number] = true;
    p->over++;
    if (p->failed[d.number])
        d.why = p->failed[d.number];
    p->in->done(p->in->ctx, d.number, d.was_there, d.why);
    return true;
}

static bool answer_secret(struct push *p, struct str body)
{
    struct fields in = fields_of(body);
    struct str url = field_str(&in, TEAM_REMOTE_MAX_BYTES);

    if (!fields_end(&in) || !str_eq(url, p->in->to->url))
        return false;
    push_answer_secret(&p->channel.out, p->in->remotes, p->in->to);
    return true;
}

static bool take(struct push *p, const struct frame *f, struct err *e)
{
    bool ok;

    switch (f->type) {
    case FRAME_PUSH_WANT:
        ok = make(p, f->body);
        break;
    case FRAME_PUSH_DONE:
        ok = take_done(p, f->body);
        break;
    case FRAME_NEED_STORE_SECRET:
        ok = answer_secret(p, f->body);
        break;
    case FRAME_FATAL:
        return client_read_fatal(f->body, e);
    default:
        ok = false;
    }
    return ok || client_nonsense(e);
}

static bool exchange_frames(struct push *p, struct err *e)
{
    while (p->over < p->in->count) {
        struct frame frame;

        if (!channel_next(&p->channel, &frame, e))
            return client_nonsense(e);
        if (frame.type == 0 && p->channel.closed)
            return client_report_end(&p->pid, e);
        if (frame.type == 0 ? !client_wait(&p->channel, NULL, WAIT_MS, e)
                            : !take(p, &frame, e))
            return false;
    }
    return true;
}

bool fetch_push(const struct team_push *in, struct err *e)
{
    CLEANUP(push_done) struct push p = {.in = in, .channel = {.fd = -1}};

    if (in->count > PUSH_NAMES_MAX)
        return err_set(e, ERR_LIMIT, "more than %u objects", PUSH_NAMES_MAX);
    p.is_over = arena_array(&p.arena, in->count, sizeof *p.is_over);
    p.failed = arena_array(&p.arena, in->count, sizeof *p.failed);
    if (!client_start(&p.arena, &p.channel, &p.pid, e))
        return false;
    push_write(&p.channel.out,
               &(struct push_order){.remote = *in->to,
                                    .limits = in->limits ? *in->limits
                                                         : limits_default,
                                    .again = in->again,
                                    .names = in->names,
                                    .count = in->count});
    return exchange_frames(&p, e);
}
