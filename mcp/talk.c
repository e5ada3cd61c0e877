#include "base/proc.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>

#include "jobs.h"
#include "worker.h"

/* Frames between a job and its process, and the messages they cause. */

#define BEAT      0.001 /* and this fraction of the last value: */
#define BEAT_PART 1e-12
#define BEAT_UNREAD_MAX                                                        \
    (64u * 1024) /* unread output above which progress is not repeated */

void job_send(struct job *j, int kind, struct str body)
{
    struct frame_head head = {.n = (uint32_t)body.n, .kind = (uint32_t)kind};

    buf_append(&j->out, str_make((const char *)&head, sizeof head));
    buf_append(&j->out, body);
    if (j->out.overflowed)
        job_abort(j, "The answers to this work are too long");
    else
        job_write(j);
}

void job_send_failed(struct job *j, enum err_code code, const char *message)
{
    CLEANUP(buf_done) struct buf body = {0};
    int32_t number = (int32_t)code;

    buf_init(&body, MCP_LINE_MAX_BYTES);
    buf_append(&body, str_make((const char *)&number, sizeof number));
    buf_text(&body, message);
    job_send(j, FRAME_FAILED, buf_str(&body));
}

void job_write(struct job *j)
{
    while (j->fd >= 0 && j->out_at < j->out.n) {
        ssize_t n = send(j->fd, j->out.p + j->out_at, j->out.n - j->out_at,
                         MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return; /* full, or closed: the next read reports which */
        j->out_at += (size_t)n;
    }
    buf_done(&j->out);
    j->out_at = 0;
}

static void put_progress(struct mcp_call *c, struct frame_progress p,
                         struct str message)
{
    struct buf *out = &c->s->out;

    if (!c->token.n || (c->has_progress && p.done <= c->progress))
        return;
    c->progress = p.done;
    c->total = p.total;
    c->has_progress = true;
    c->beat_ms = proc_now_ms() + c->s->is->heartbeat_ms;
    buf_text(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                  "progress\",\"params\":{\"progressToken\":");
    buf_append(out, c->token);
    buf_printf(out, ",\"progress\":%.15g", p.done);
    if (p.total >= 0)
        buf_printf(out, ",\"total\":%.15g", p.total);
    if (message.n && c->revision >= REV_2025_03_26) {
        buf_text(out, ",\"message\":");
        put_string(out, message);
    }
    buf_text(out, "}}\n");
}

static void on_progress(struct job *j, struct str body)
{
    struct frame_progress p;

    if (body.n < sizeof p)
        return;
    memcpy(&p, body.p, sizeof p);
    if (!isfinite(p.done) || !isfinite(p.total))
        return;
    body = str_from_index(body, sizeof p);
    buf_clear(&j->said);
    buf_append(&j->said, text_cut(body, JOB_SAID_MAX_CHARS));
    for (struct mcp_call *c = j->calls; c; c = c->next_of_job) {
        if (!c->s->is->progress_delay_ms) {
            put_progress(c, p, body);
            continue;
        }
        c->latest_done = p.done;
        c->latest_total = p.total;
        if (!c->progress_at_ms)
            c->progress_at_ms = proc_now_ms() + c->s->is->progress_delay_ms;
    }
}

uint64_t call_progress_due_ms(const struct mcp_call *c)
{
    if (!c->job || !c->token.n)
        return UINT64_MAX;
    if (c->progress_at_ms)
        return c->progress_at_ms;
    return c->s->is->heartbeat_ms ? c->beat_ms : UINT64_MAX;
}

/* A task may be silent for long: it computes, is queued, or waits for the
 * client. The client's timeout for the call keeps running. */
static void repeat_progress(struct mcp_call *c)
{
    struct frame_progress p = {.done = BEAT, .total = -1};

    if (c->has_progress)
        p.done = c->progress + BEAT + fabs(c->progress) * BEAT_PART;
    if (c->has_progress && p.done <= c->total)
        p.total = c->total;
    if (isfinite(p.done))
        put_progress(c, p,
                     c->job->state == JOB_WAITING
                         ? STR("Waiting for the client")
                         : buf_str(&c->job->said));
}

void call_send_progress(struct mcp_call *c, uint64_t now)
{
    struct frame_progress latest = {c->latest_done, c->latest_total};
    bool is_due = c->progress_at_ms;

    if (now < call_progress_due_ms(c))
        return;
    c->progress_at_ms = 0;
    c->beat_ms = now + c->s->is->heartbeat_ms;
    if (out_pending(c->s) > BEAT_UNREAD_MAX)
        return;
    if (is_due)
        put_progress(c, latest, buf_str(&c->job->said));
    else
        repeat_progress(c);
}

static void on_log(struct job *j, struct str body)
{
    CLEANUP(arena_done) struct arena a = {0};
    unsigned level = body.n ? (unsigned char)body.p[0] : LOG_NONE;
    const struct mcp_call *c = j->calls;

    while (c && (level >= LOG_LEVELS || level < c->log_from))
        c = c->next_of_job;
    if (!c || !j->s->is->logs)
        return;
    body = str_from_index(body, 1);
    send_line(j->s,
              str_join(arena_printf(&a,
                                    "\"method\":\"notifications/message\","
                                    "\"params\":{\"level\":\"%s\",\"data\":",
                                    log_levels[level]),
                       str_join(body, STR("}"), &a), &a));
}

static void on_result(struct job *j, struct str body)
{
    struct entry end = {.kind = ENTRY_RESULT, .key = STR(""), .text = body};

    job_finish(j, &end);
}

static void on_error(struct job *j, struct str body)
{
    struct entry end = {.kind = ENTRY_ERROR};
    struct frame_error f;

    if (body.n < sizeof f)
        return;
    memcpy(&f, body.p, sizeof f);
    body = str_from_index(body, sizeof f);
    end.number = (unsigned)-f.code;
    end.key = str_slice(body, 0, f.data_n);
    end.text = str_from_index(body, f.data_n);
    job_finish(j, &end);
}

static void take_frame(struct job *j, uint32_t kind, struct str body)
{
    switch (kind) {
    case FRAME_PROGRESS:
        on_progress(j, body);
        break;
    case FRAME_LOG:
        on_log(j, body);
        break;
    case FRAME_ASK:
        job_on_ask(j, body);
        break;
    case FRAME_ONCE:
        job_on_once(j, body);
        break;
    case FRAME_NOTED:
        job_on_noted(j, body);
        break;
    case FRAME_RESULT:
        on_result(j, body);
        break;
    case FRAME_ERROR:
        on_error(j, body);
        break;
    default:
        job_abort(j, "The work said what nobody understands");
    }
}

static void take_frames(struct job *j)
{
    size_t at = 0;
    struct frame_head head;

    while (j->state == JOB_RUNNING && j->in.n - at >= sizeof head) {
        memcpy(&head, j->in.p + at, sizeof head);
        if (head.n > MCP_TASK_MAX_BYTES) {
            job_abort(j, "The work said more than a message holds");
            return;
        }
        if (j->in.n - at - sizeof head < head.n)
            break;
        at += sizeof head + head.n;
        take_frame(j, head.kind, str_make(j->in.p + at - head.n, head.n));
    }
    memmove(j->in.p, j->in.p + at, j->in.n - at);
    j->in.n -= at;
}

void job_read(struct job *j)
{
    char *room = buf_reserve(&j->in, JOB_READ_BYTES);
    ssize_t n;

    if (!room) {
        job_abort(j, "The work said more than a message holds");
        return;
    }
    n = recv(j->fd, room, JOB_READ_BYTES, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0)
        j->in.n += (size_t)n;
    /* Frames of a leaving process are ignored. */
    if (j->state == JOB_LEAVING)
        j->in.n = 0;
    else if (n > 0)
        take_frames(j);
    if (n <= 0)
        job_on_end(j);
}
