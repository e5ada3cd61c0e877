#include "worker.h"

#include "base/fs.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGE_MAX_BYTES 1024
#define FIRST_OWN_FD      3

struct mcp_task {
    const struct mcp_call *call;
    int fd;
    bool gone, ended;
    uint64_t start_ms, waited_ms, before_ms;
    uint64_t began_s;
    struct buf out;
};

/* --- frames ------------------------------------------------------------------------ */

static bool send_all(struct mcp_task *w, struct str s)
{
    while (s.n && !w->gone) {
        ssize_t n = send(w->fd, s.p, s.n, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR && !proc_interrupted())
            continue;
        if (n < 0)
            w->gone = true;
        else
            s = str_from_index(s, (size_t)n);
    }
    return !w->gone;
}

static bool receive_all(struct mcp_task *w, char *p, size_t n)
{
    while (n && !w->gone) {
        ssize_t got = recv(w->fd, p, n, 0);

        if (got < 0 && errno == EINTR && !proc_interrupted())
            continue;
        if (got <= 0) {
            w->gone = true;
        } else {
            p += got;
            n -= (size_t)got;
        }
    }
    return !w->gone;
}

/* Reserves the head of a frame, followed by the body. */
static struct buf *begin(struct mcp_task *w)
{
    static const struct frame_head none;

    buf_clear(&w->out);
    buf_append(&w->out, str_make((const char *)&none, sizeof none));
    return &w->out;
}

static void put_bytes(struct buf *out, const void *p, size_t n)
{
    buf_append(out, str_make(p, n));
}

static bool end(struct mcp_task *w, enum frame_kind kind)
{
    struct frame_head head = {.kind = kind};

    if (w->out.overflowed || w->out.n - sizeof head > MCP_TASK_MAX_BYTES)
        return false;
    head.n = (uint32_t)(w->out.n - sizeof head);
    memcpy(w->out.p, &head, sizeof head);
    return send_all(w, buf_str(&w->out));
}

static bool fail_over(struct err *e)
{
    return err_set(e, ERR_INTERRUPTED, "the call is over");
}

/* Reads the reply of the server into `a`: a frame of kind `want`, or an
 * error. */
static bool receive_reply(struct mcp_task *w, enum frame_kind want,
                          struct arena *a, struct str *body, struct err *e)
{
    struct frame_head head;
    int32_t code;
    char *p;

    if (!receive_all(w, (char *)&head, sizeof head))
        return fail_over(e);
    p = arena_alloc(a, (size_t)head.n + 1);
    if (!receive_all(w, p, head.n))
        return fail_over(e);
    *body = str_make(p, head.n);
    if (head.kind == want)
        return true;
    if (head.kind != FRAME_FAILED || head.n < sizeof code)
        return fail_over(e);
    memcpy(&code, p, sizeof code);
    *body = str_from_index(*body, sizeof code);
    return err_set(e, (enum err_code)code, "%.*s", STR_ARG(*body));
}

/* --- looking ------------------------------------------------------------------------- */

const struct mcp_call *mcp_task_call(const struct mcp_task *w)
{
    return w->call;
}

uint64_t mcp_task_used_ms(const struct mcp_task *w)
{
    return w->before_ms + proc_now_ms() - w->start_ms - w->waited_ms;
}

uint64_t mcp_task_began_s(const struct mcp_task *w)
{
    return w->began_s;
}

/* --- telling -------------------------------------------------------------------------- */

void mcp_task_progress(struct mcp_task *w, double done, double total,
                       struct str message)
{
    struct frame_progress p = {.done = done, .total = total};
    struct buf *out = begin(w);

    put_bytes(out, &p, sizeof p);
    buf_append(out, message);
    end(w, FRAME_PROGRESS);
}

void mcp_task_log(struct mcp_task *w, const char *level, struct str data)
{
    unsigned number = log_level_find(str_cstr(level));
    struct buf *out = begin(w);

    if (number == LOG_NONE)
        return;
    buf_char(out, (char)number);
    buf_append(out, data);
    end(w, FRAME_LOG);
}

/* --- asking ------------------------------------------------------------------------------ */

static void put_used(struct mcp_task *w, struct buf *out)
{
    uint64_t used = mcp_task_used_ms(w);

    put_bytes(out, &used, sizeof used);
}

static void put_questions(struct buf *out, const struct mcp_question *q,
                          size_t count)
{
    struct json_writer jw;

    json_writer_init(&jw, out, 0);
    json_begin_array(&jw);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(&jw);
        json_member_string(&jw, "key", q[i].key);
        json_member_string(&jw, "method", q[i].method);
        json_member_raw(&jw, "params", q[i].params.n ? q[i].params : STR("{}"));
        json_end_object(&jw);
    }
    json_end_array(&jw);
}

bool mcp_task_ask(struct mcp_task *w, struct mcp_question *q, size_t count,
                  struct arena *a, struct err *e)
{
    static const struct json_options options = {.max_depth =
                                                    MCP_LINE_MAX_DEPTH + 2};
    struct buf *out = begin(w);
    const struct json *answers;
    uint64_t before = proc_now_ms();
    struct str body;
    bool ok;

    put_used(w, out);
    put_questions(out, q, count);
    if (!end(w, FRAME_ASK))
        return w->gone ? fail_over(e)
                       : err_set(e, ERR_LIMIT, "the question is too long");
    ok = receive_reply(w, FRAME_ANSWERS, a, &body, e);
    w->waited_ms += proc_now_ms() - before;
    if (!ok || !json_parse(body, &options, a, &answers, NULL, e))
        return false;
    for (size_t i = 0; i < count; i++)
        q[i].answer = json_get_str(answers, q[i].key);
    return true;
}

bool mcp_task_once(struct mcp_task *w, struct str what, struct arena *a,
                   enum mcp_once *state, struct str *text, struct err *e)
{
    struct buf *out = begin(w);
    struct str body;

    put_used(w, out);
    buf_append(out, what);
    if (!end(w, FRAME_ONCE))
        return w->gone ? fail_over(e)
                       : err_set(e, ERR_LIMIT, "this is too long to note");
    if (!receive_reply(w, FRAME_STATE, a, &body, e))
        return false;
    if (!body.n)
        return fail_over(e);
    *state = (enum mcp_once)body.p[0];
    *text = str_from_index(body, 1);
    return true;
}

bool mcp_task_noted(struct mcp_task *w, struct str text, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct buf *out = begin(w);
    struct str body;

    put_used(w, out);
    buf_append(out, text);
    if (!end(w, FRAME_NOTED))
        return w->gone ? fail_over(e)
                       : err_set(e, ERR_LIMIT, "this is too long to note");
    return receive_reply(w, FRAME_KEPT, &a, &body, e);
}

/* --- the end ----------------------------------------------------------------------------- */

void mcp_task_result(struct mcp_task *w, struct str members)
{
    if (w->ended)
        return;
    w->ended = true;
    buf_append(begin(w), members);
    if (!end(w, FRAME_RESULT) && !w->gone) {
        w->ended = false;
        mcp_task_error(w, MCP_INTERNAL, STR(""), "The result is too long");
    }
}

void mcp_task_error(struct mcp_task *w, int code, struct str data,
                    const char *format, ...)
{
    char message[MESSAGE_MAX_BYTES];
    struct frame_error f = {.code = code, .data_n = (uint32_t)data.n};
    struct buf *out = begin(w);
    va_list args;

    if (w->ended)
        return;
    w->ended = true;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    put_bytes(out, &f, sizeof f);
    buf_append(out, data);
    buf_text(out, message);
    end(w, FRAME_ERROR);
}

void mcp_task_missing_capability(struct mcp_task *w, const char *capability,
                                 const char *why)
{
    CLEANUP(arena_done) struct arena a = {0};

    mcp_task_error(w, missing_capability_code(w->call),
                   missing_capability_data(capability, &a),
                   "This needs a client with the capability %s: %s", capability,
                   why);
}

/* --- the process -------------------------------------------------------------------------- */

/* The client's pipes are closed to the task: stray output must not become a
 * message. */
static void leave_pipes(const struct server *s, int fd)
{
    int null = fs_openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);

    if (null >= 0 && s->in >= 0 && s->in != fd)
        dup2(null, s->in);
    if (null >= 0 && s->out_fd >= 0 && s->out_fd != fd)
        dup2(null, s->out_fd);
    if (null >= FIRST_OWN_FD && null != s->in && null != s->out_fd)
        close(null);
    for (const struct job *j = s->jobs; j; j = j->next)
        if (j->fd >= 0)
            close(j->fd);
    if (s->is->journal && s->is->journal->forked)
        s->is->journal->forked(s->is->journal->ctx);
}

static void take_signals(void)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

void worker_live(struct job *j, struct mcp_call *c, int fd, pid_t parent)
{
    struct mcp_task w = {
        .call = c,
        .fd = fd,
        .start_ms = proc_now_ms(),
        .before_ms = j->records ? entries_used(&j->entries) : 0,
        .began_s = j->began_s,
    };

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(0); /* the parent died before the call above */
    leave_pipes(j->s, fd);
    take_signals();
    buf_init(&w.out, MCP_TASK_MAX_BYTES + 4096);
    c->run(c->run_ctx, &w);
    _exit(0); /* output that the parent has not written is not written here */
}
