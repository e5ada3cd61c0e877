#include "link.h"

#include "mapm/range.h"

#include <errno.h>
#include <poll.h>

#include "../host_frame.h"
#include "../post.h"
#include "../push_frame.h"
#include "../store_frame.h"

#define OUT_MAX_BYTES   (512u << 20)
#define BLOBS_PER_QUERY 2048

struct link_kept {
    struct link_kept *next;
    enum frame_type type;
    struct str body;
};

void link_init(struct link *l, int fd)
{
    *l = (struct link){0};
    channel_init(&l->channel, fd, OUT_MAX_BYTES);
    l->channel.takes_fds = true;
}

void link_done(struct link *l)
{
    channel_done(&l->channel);
    arena_done(&l->arena);
}

bool link_flush(struct link *l, struct err *e)
{
    return channel_flush(&l->channel, e);
}

bool link_nonsense(struct err *e)
{
    return err_set(e, ERR_FAILED, "invalid message from mapm");
}

/* Sends pending output and blocks until input arrives. */
static bool wait_more(struct link *l, struct err *e)
{
    struct pollfd p = {.fd = l->channel.fd, .events = POLLIN};

    if (l->channel.closed)
        return err_set(e, ERR_INTERRUPTED, "mapm has exited");
    if (!channel_flush(&l->channel, e))
        return false;
    if (channel_has_output(&l->channel))
        p.events |= POLLOUT;
    if (poll(&p, 1, -1) < 0 && errno != EINTR)
        return err_errno(e, "wait for mapm");
    return channel_fill(&l->channel, e);
}

/* Reads the next frame, waiting for it. */
static bool read_frame(struct link *l, struct frame *out, struct err *e)
{
    for (;;) {
        if (!channel_next(&l->channel, out, e))
            return false;
        if (out->type != 0)
            return true;
        if (!wait_more(l, e))
            return false;
    }
}

static void keep(struct link *l, const struct frame *frame)
{
    struct link_kept *k = arena_new(&l->arena, struct link_kept);

    k->type = frame->type;
    k->body = arena_str(&l->arena, frame->body);
    if (l->last)
        l->last->next = k;
    else
        l->first = k;
    l->last = k;
}

/* Waits for the response of this type; asks that arrive before it are
 * queued. */
static bool read_answer(struct link *l, enum frame_type type,
                        struct fields *out, struct err *e)
{
    struct frame frame;

    for (;;) {
        if (!read_frame(l, &frame, e))
            return false;
        if (frame.type == type) {
            *out = fields_of(frame.body);
            return true;
        }
        if (frame.type != FRAME_ASK && frame.type != FRAME_SEEN &&
            frame.type != FRAME_PUSH_OBJECT)
            return link_nonsense(e);
        keep(l, &frame);
    }
}

bool link_first(struct link *l, struct frame *out, struct err *e)
{
    return read_frame(l, out, e) &&
           (out->type == FRAME_OPTIONS || out->type == FRAME_POST ||
            out->type == FRAME_PUSH || out->type == FRAME_BUNDLE ||
            out->type == FRAME_UNPACK || link_nonsense(e));
}

bool link_read_options(struct str body, struct arena *a,
                       struct link_options *out, struct err *e)
{
    struct fields in = fields_of(body);
    bool ok;

    out->incoming = arena_str(a, field_str(&in, 4096));
    out->verbose = field_bool(&in);
    out->has_bundle = field_bool(&in);
    out->hosts = field_hosts(&in, a, &out->host_count);
    ok = field_limits(&in, a, &out->limits) &&
         field_stores(&in, a, &out->stores);
    return (ok && fields_end(&in)) || link_nonsense(e);
}

static struct str take_str(struct fields *in, struct arena *a)
{
    return arena_str(a, field_str(in, ORIGIN_MAX_BYTES));
}

static bool read_ask(struct fields *in, struct arena *a, struct link_ask *out)
{
    out->seq = (uint32_t)field_u32(in, UINT32_MAX);
    out->what = (enum fetch_what)field_u8(in, FETCH_NAME);
    out->digest = take_str(in, a);
    if (out->what == FETCH_ARTIFACT)
        return fields_end(in);
    out->kinds =
        field_u8(in, DOC_AGENT | DOC_SKILL | DOC_MCP | DOC_PLUGIN | DOC_MARKET);
    out->assume_reachable = field_bool(in);
    out->stored = field_bool(in);
    out->proved = field_bool(in);
    out->at_once = field_bool(in);
    out->repository = take_str(in, a);
    out->name = take_str(in, a);
    out->url = take_str(in, a);
    out->kind = &git_hosts[field_u8(in, (unsigned)git_host_count - 1)];
    out->is_short = field_bool(in);
    out->rest = take_str(in, a);
    out->ref = take_str(in, a);
    out->path = take_str(in, a);
    out->commit = take_str(in, a);
    out->object = take_str(in, a);
    out->base = take_str(in, a);
    out->ranges =
        arena_str(a, field_str(in, RANGE_SET_MAX * (RANGE_MAX_BYTES + 1)));
    out->tag = take_str(in, a);
    return fields_end(in);
}

/* Returns a queued frame, or one from the socket; type 0 if there is none. */
static bool next_frame(struct link *l, struct frame *out, struct err *e)
{
    struct link_kept *k = l->first;

    if (k == NULL)
        return channel_next(&l->channel, out, e);
    l->first = k->next;
    if (l->first == NULL)
        l->last = NULL;
    *out = (struct frame){k->type, k->body};
    return true;
}

bool link_take(struct link *l, struct frame *out, struct err *e)
{
    return next_frame(l, out, e) &&
           (out->type || (channel_fill(&l->channel, e) &&
                          channel_next(&l->channel, out, e)));
}

bool link_next(struct link *l, struct arena *a, struct link_ask *out, bool *got,
               struct err *e)
{
    bool is_filled = false;
    struct frame frame;
    struct fields in;

    *got = false;
    for (;;) {
        if (!next_frame(l, &frame, e))
            return false;
        /* Each fill moves the remaining input: one per ask would be
         * quadratic. */
        if (frame.type == 0 && !is_filled) {
            is_filled = true;
            if (!channel_fill(&l->channel, e))
                return false;
            continue;
        }
        in = fields_of(frame.body);
        if (frame.type == 0) {
            l->is_closed = l->channel.closed;
            return true;
        }
        if (frame.type == FRAME_ASK) {
            l->is_drained = false;
            *got = true;
            return read_ask(&in, a, out) || link_nonsense(e);
        }
        if (frame.type != FRAME_SEEN)
            return link_nonsense(e);
        l->seen_count = field_u32(&in, UINT32_MAX);
        if (!fields_end(&in))
            return link_nonsense(e);
        l->is_drained = l->seen_count == l->event_count;
    }
}

void link_hello(struct link *l, const struct link_hello *hello)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_HELLO);

    frame_u32(b, hello->host_count);
    for (size_t i = 0; i < hello->host_count; i++)
        frame_str(b, hello->hosts[i]);
    frame_rewrites(b, &hello->rewrites);
    frame_str(b, hello->ssh_command);
    frame_str(b, hello->ssh_variant);
    frame_end(b, begun);
}

static void put_file(struct buf *b, const struct fetch_file *f)
{
    frame_u8(b, f->executable);
    frame_str(b, f->path);
    frame_str(b, f->oid);
    frame_raw(b, f->hash.b, sizeof f->hash.b);
    frame_u64(b, f->offset);
    frame_u8(b, f->stored);
    frame_u64(b, f->size);
    frame_u8(b, f->is_lfs);
    frame_u8(b, f->is_outside);
}

void link_event(struct link *l, uint32_t seq, const struct fetch_event *ev)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_EVENT);

    frame_u8(b, ev->kind);
    frame_u32(b, seq);
    frame_str(b, ev->ref);
    frame_str(b, ev->newest);
    frame_str(b, ev->moved);
    frame_str(b, ev->tag_commit);
    frame_str(b, ev->commit);
    frame_str(b, ev->path);
    frame_str(b, ev->object);
    frame_u8(b, ev->doc);
    frame_str(b, ev->manifest);
    frame_u32(b, ev->file_count);
    for (size_t i = 0; i < ev->file_count; i++)
        put_file(b, &ev->files[i]);
    frame_u32(b, ev->offer_count);
    for (size_t i = 0; i < ev->offer_count; i++) {
        frame_u8(b, ev->offers[i].kind);
        frame_str(b, ev->offers[i].path);
        frame_u8(b, ev->offers[i].is_elsewhere);
    }
    frame_u32(b, ev->note_count);
    for (size_t i = 0; i < ev->note_count; i++)
        frame_str(b, ev->notes[i]);
    frame_u8(b, ev->err != NULL);
    if (ev->err)
        frame_err(b, ev->err);
    frame_end(b, begun);
    l->event_count++;
    l->is_drained = false;
}

void link_progress(struct link *l, const struct fetch_progress *p)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_PROGRESS);

    frame_u64(b, p->requests);
    frame_u64(b, p->connections);
    frame_u64(b, p->bytes);
    frame_u64(b, p->objects);
    frame_end(b, begun);
}

void link_warn(struct link *l, struct str line)
{
    size_t begun = frame_begin(&l->channel.out, FRAME_WARN);

    frame_str(&l->channel.out, line);
    frame_end(&l->channel.out, begun);
}

/* Waits until all output is sent or mapm has ended. */
static void send_all(struct link *l)
{
    struct pollfd p = {.fd = l->channel.fd, .events = POLLOUT};
    struct err ignored = {0};

    while (channel_flush(&l->channel, &ignored) &&
           channel_has_output(&l->channel) && !l->channel.closed)
        if (poll(&p, 1, -1) < 0 && errno != EINTR)
            return;
}

bool link_finish(struct link *l, struct err *e)
{
    send_all(l);
    return !l->channel.closed || err_set(e, ERR_INTERRUPTED, "mapm has exited");
}

void link_fatal(struct link *l, const struct err *why)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_FATAL);

    frame_err(b, why);
    frame_end(b, begun);
    send_all(l);
}

void link_reply(struct link *l, const struct fetch_reply *in)
{
    post_write_reply(&l->channel.out, in);
    send_all(l);
}

static bool read_blobs(struct fields *in, struct link_blob *blobs, size_t count,
                       struct arena *a)
{
    if (field_u32(in, BLOBS_PER_QUERY) != count)
        return false;
    for (size_t i = 0; i < count && !in->bad; i++) {
        blobs[i].found = field_bool(in);
        if (!blobs[i].found)
            continue;
        blobs[i].hash = field_hash(in);
        blobs[i].size = field_u64(in);
        blobs[i].text = arena_str(a, field_str(in, ANCHOR_MAX_BYTES));
    }
    return fields_end(in);
}

static bool find_some(struct link *l, struct link_blob *blobs, size_t count,
                      struct arena *a, struct err *e)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_FIND_BLOBS);
    struct fields in;

    frame_u32(b, count);
    for (size_t i = 0; i < count; i++) {
        frame_raw(b, blobs[i].id.b, sizeof blobs[i].id.b);
        frame_u8(b, blobs[i].with_text);
    }
    frame_end(b, begun);
    return read_answer(l, FRAME_BLOBS, &in, e) &&
           (read_blobs(&in, blobs, count, a) || link_nonsense(e));
}

bool link_find_blobs(struct link *l, struct link_blob *blobs, size_t count,
                     struct arena *a, struct err *e)
{
    while (count > 0) {
        size_t n = count < BLOBS_PER_QUERY ? count : BLOBS_PER_QUERY;

        if (!find_some(l, blobs, n, a, e))
            return false;
        blobs += n;
        count -= n;
    }
    return true;
}

/* Begins a frame with "repository" and "commit"; the caller adds the rest. */
static size_t begin_commit(struct buf *b, enum frame_type type,
                           struct str repository, const struct oid *commit)
{
    char hex[OID_HEX_CHARS + 1];
    size_t begun = frame_begin(b, type);

    oid_format(commit, hex);
    frame_str(b, repository);
    frame_str(b, str_cstr(hex));
    return begun;
}

bool link_find_trees(struct link *l, struct str repository,
                     const struct oid *commit, struct arena *a,
                     struct str *bytes, struct err *e)
{
    struct buf *b = &l->channel.out;
    struct fields in;

    frame_end(b, begin_commit(b, FRAME_FIND_TREES, repository, commit));
    if (!read_answer(l, FRAME_TREES, &in, e))
        return false;
    *bytes = arena_str(a, field_str(&in, FRAME_MAX_BYTES));
    return fields_end(&in) || link_nonsense(e);
}

void link_put_trees(struct link *l, struct str repository,
                    const struct oid *commit, struct str bytes)
{
    struct buf *b = &l->channel.out;
    size_t begun = begin_commit(b, FRAME_PUT_TREES, repository, commit);

    frame_str(b, bytes);
    frame_end(b, begun);
}

bool link_is_reachable(struct link *l, struct str repository,
                       const struct oid *commit, bool *reachable, struct err *e)
{
    struct buf *b = &l->channel.out;
    struct fields in;

    frame_end(b, begin_commit(b, FRAME_IS_REACHABLE, repository, commit));
    if (!read_answer(l, FRAME_REACHABLE, &in, e))
        return false;
    *reachable = field_bool(&in);
    return fields_end(&in) || link_nonsense(e);
}

void link_put_reachable(struct link *l, struct str repository,
                        const struct oid *commit)
{
    struct buf *b = &l->channel.out;

    frame_end(b, begin_commit(b, FRAME_PUT_REACHABLE, repository, commit));
}

bool link_find_caps(struct link *l, struct str place, struct arena *a,
                    struct str *text, struct err *e)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_FIND_CAPS);
    struct fields in;

    frame_str(b, place);
    frame_end(b, begun);
    if (!read_answer(l, FRAME_CAPS, &in, e))
        return false;
    *text = arena_str(a, field_str(&in, FETCH_CAPS_MAX_BYTES));
    return fields_end(&in) || link_nonsense(e);
}

void link_put_caps(struct link *l, struct str place, struct str text)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_PUT_CAPS);

    frame_str(b, place);
    frame_str(b, text);
    frame_end(b, begun);
}

bool link_open_ssh(struct link *l, struct str repository, size_t id,
                   struct link_ssh *out, struct err *why, struct err *e)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_OPEN_SSH);
    struct fields in;
    bool ok;

    frame_u32(b, id);
    frame_str(b, repository);
    frame_end(b, begun);
    if (!read_answer(l, FRAME_SSH, &in, e))
        return false;
    *out = (struct link_ssh){.fd = -1};
    ok = field_bool(&in);
    if (ok) {
        out->seconds = (unsigned)field_u32(&in, UINT32_MAX);
        out->may_prompt = field_bool(&in);
        out->fd = channel_take_fd(&l->channel);
    } else {
        field_err(&in, why);
    }
    return (fields_end(&in) && ok == (out->fd >= 0)) || link_nonsense(e);
}

bool link_end_ssh(struct link *l, size_t id, enum ssh_end end, unsigned seconds,
                  bool *may_retry, struct err *why, struct err *e)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_END_SSH);
    struct fields in;

    frame_u32(b, id);
    frame_u8(b, end);
    frame_u32(b, seconds);
    frame_end(b, begun);
    if (!read_answer(l, FRAME_SSH_ENDED, &in, e))
        return false;
    *may_retry = field_bool(&in);
    if (end != SSH_DONE)
        field_err(&in, why);
    return fields_end(&in) || link_nonsense(e);
}

bool link_find_credential(struct link *l, enum credential_from from,
                          struct str protocol, struct str host, struct str path,
                          struct arena *a, struct link_credential *out,
                          struct err *e)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_NEED_CREDENTIAL);
    struct fields in;

    frame_u8(b, from);
    frame_str(b, protocol);
    frame_str(b, host);
    frame_str(b, path);
    frame_end(b, begun);
    if (!read_answer(l, FRAME_CREDENTIAL, &in, e))
        return false;
    out->found = field_bool(&in);
    out->of_path = field_bool(&in);
    out->user = arena_str(a, field_str(&in, 4096));
    out->password = arena_str(a, field_str(&in, 65536));
    return fields_end(&in) || link_nonsense(e);
}

bool link_find_registry_secret(struct link *l, struct str url, struct arena *a,
                               struct registry_secret *out, struct err *e)
{
    struct buf *b = &l->channel.out;
    size_t begun = frame_begin(b, FRAME_NEED_STORE_SECRET);
    struct fields in;

    frame_str(b, url);
    frame_end(b, begun);
    return read_answer(l, FRAME_STORE_SECRET, &in, e) &&
           (push_read_secret(&in, a, out) || link_nonsense(e));
}
