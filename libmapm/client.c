#include "base/fs.h"
#include "base/proc.h"
#include "mapm/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine_client.h"

#define ENGINE_FD_MIN 10 /* above 0 to 3, which proc_start() assigns */

static struct err interrupted(void)
{
    struct err e = {0};

    err_set(&e, ERR_INTERRUPTED, "interrupted");
    return e;
}

/* Returns whether mapm_cancel() was called, and resets that. */
static bool take_cancel(struct mapm *m)
{
    bool is_canceled;

    pthread_mutex_lock(&m->lock);
    is_canceled = m->is_canceled;
    m->is_canceled = false;
    pthread_mutex_unlock(&m->lock);
    return is_canceled;
}

static void set_lifeline(struct mapm *m, int fd)
{
    pthread_mutex_lock(&m->lock);
    fs_close(&m->lifeline);
    m->lifeline = fd;
    pthread_mutex_unlock(&m->lock);
}

bool client_fail(struct mapm *m, const struct err *e)
{
    const char **messages;
    size_t count = 0;

    for (const char *t = err_prev(e, NULL); t; t = err_prev(e, t))
        count++;
    messages = arena_array(&m->arena, count + 1, sizeof *messages);
    m->error = (struct mapm_error){
        .code = (enum mapm_code)e->code,
        .name = err_code_name(e->code),
        .messages = messages,
        .message_count = count,
        .hint = arena_text(&m->arena, e->hint, strlen(e->hint)),
    };
    count = 0;
    for (const char *t = err_prev(e, NULL); t; t = err_prev(e, t))
        messages[count++] = arena_text(&m->arena, t, strlen(t));
    return false;
}

/* --- the process -------------------------------------------------------------------- */

/* Opens a socket pair on descriptors from ENGINE_FD_MIN, since the host may
 * have closed some of 0 to 2. */
static bool open_pair(int *ours, int *theirs, struct err *e)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_errno(e, "open a socket pair");
    *ours = fcntl(pair[0], F_DUPFD_CLOEXEC, ENGINE_FD_MIN);
    *theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, ENGINE_FD_MIN);
    close(pair[0]);
    close(pair[1]);
    return (*ours >= 0 && *theirs >= 0) || err_errno(e, "open a socket pair");
}

static bool start(struct mapm *m, struct err *e)
{
    CLEANUP_FD int ours = -1, theirs = -1, lifeline = -1, its_end = -1,
                   nothing = -1;
    const char *const argv[] = {m->executable, NULL};
    struct proc_start s = {.argv = argv,
                           .env = m->options.environment,
                           .own_group = true,
                           .outlives_us = true};

    if (!open_pair(&ours, &theirs, e) || !open_pair(&lifeline, &its_end, e))
        return false;
    nothing = fs_openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
    if (nothing < 0)
        return err_errno(e, "open /dev/null");
    s.fds[0] = its_end;
    s.fds[1] = s.fds[2] = nothing;
    s.fds[3] = theirs;
    /* Set before the process is started, so that the byte of
     * mapm_cancel waits for it. */
    set_lifeline(m, lifeline);
    lifeline = -1;
    if (!proc_start(&s, &m->pid, e)) {
        set_lifeline(m, -1);
        return err_hint(e, "it is installed with libmapm; struct mapm_options "
                           "or $MAPM_LIBEXEC names its folder");
    }
    m->fd = ours;
    ours = -1;
    return true;
}

/* Returns the exit status of the engine; -1 if the host reaps all
 * children itself. */
static int reap(struct mapm *m)
{
    int status = -1;

    while (waitpid(m->pid, &status, 0) < 0 && errno == EINTR)
        ;
    m->pid = 0;
    return status;
}

void client_end(struct mapm *m)
{
    set_lifeline(m, -1);
    fs_close(&m->fd);
    if (m->pid)
        reap(m);
    m->is_planned = false;
}

/* Sets the error if the engine ended without a final message. */
static bool fail_lost(struct mapm *m, const struct err *why)
{
    struct err e = *why;
    int status;

    set_lifeline(m, -1);
    fs_close(&m->fd);
    /* The engine may not end by itself. The next operation performs
     * the recovery. */
    if (why->code == ERR_FORMAT)
        kill(-m->pid, SIGKILL);
    status = reap(m);
    if (take_cancel(m))
        e = interrupted();
    else if (why->code == ERR_FORMAT)
        err_wrap(&e, "invalid message from mapm-engine");
    else if (status >= 0 && WIFSIGNALED(status))
        err_set(&e, ERR_FAILED, "mapm-engine was ended by signal %d",
                WTERMSIG(status));
    else if (status > 0)
        err_set(&e, ERR_FAILED, "mapm-engine ended early (exit %d)",
                WEXITSTATUS(status));
    m->is_planned = false;
    return client_fail(m, &e);
}

/* --- messages ------------------------------------------------------------------------ */

static struct wire_options options_of(const struct mapm *m)
{
    return (struct wire_options){
        .version = MAPM_VERSION,
        .workspace = m->options.workspace,
        .use_global = m->options.use_global,
        .is_offline = m->options.is_offline,
        .can_confirm = m->options.confirm != NULL,
        .can_choose = m->options.choose != NULL,
    };
}

bool client_begin(struct mapm *m, enum wire_type type, const void *request)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct wire_options options = options_of(m);
    struct err e = {0};

    client_end(m);
    arena_done(&m->arena);
    memset(m->results, 0, sizeof m->results);
    m->run = NULL;
    if (take_cancel(m)) {
        e = interrupted();
        return client_fail(m, &e);
    }
    if (!start(m, &e))
        return client_fail(m, &e);
    buf_init(&b, WIRE_MAX_BYTES);
    wire_put(&b, WIRE_HELLO, WIRE_OPTIONS, &options, 1);
    wire_put(&b, WIRE_REQUEST, type, request, 1);
    return wire_send(m->fd, &b, &e) || fail_lost(m, &e);
}

bool client_reply(struct mapm *m, const struct wire_answer *answer)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct err e = {0};

    buf_init(&b, WIRE_MAX_BYTES);
    wire_put(&b, WIRE_REPLY, WIRE_ANSWER, answer, 1);
    /* If the engine did not wait for the reply, it has sent the reason, which
     * client_finish() reads. */
    return wire_send(m->fd, &b, &e) || e.code == ERR_IO || fail_lost(m, &e);
}

static bool confirm(struct mapm *m, const struct wire_line *l)
{
    const struct mapm_options *o = &m->options;
    struct wire_answer a = {0};

    a.is_yes =
        o->confirm && o->confirm(o->ctx, (enum mapm_question)l->kind, l->text);
    return client_reply(m, &a);
}

static bool choose(struct mapm *m, const struct wire_choice *c)
{
    const struct mapm_options *o = &m->options;
    struct wire_answer a = {.chosen = c->count};

    if (o->choose)
        a.chosen = o->choose(o->ctx, c->question, c->choices, c->count);
    return client_reply(m, &a);
}

static bool ask(struct mapm *m, const struct mapm_ask *in)
{
    struct mapm_answer answer = {0};
    struct wire_answer a = {0};

    a.is_yes = m->run && m->run->ask && m->run->ask(m->run->ctx, in, &answer) &&
               answer.text;
    a.text = answer.text;
    a.turns = answer.turns;
    a.is_exhausted = answer.is_exhausted;
    return client_reply(m, &a);
}

static void notice(struct mapm *m, const struct wire_line *l)
{
    if (m->options.notice)
        m->options.notice(m->options.ctx, (enum mapm_notice)l->kind, l->text);
}

static void progress(struct mapm *m, const struct wire_message *in)
{
    if (m->options.progress)
        m->options.progress(m->options.ctx, in->count ? in->records : NULL);
}

static bool take_error(struct mapm *m, const struct wire_message *in)
{
    m->error = *(const struct mapm_error *)in->records;
    client_end(m);
    take_cancel(m);
    return false;
}

/* Returns whether a message of this kind has the expected records. */
static bool is_expected(const struct wire_message *in)
{
    static const int types[WIRE_KIND_COUNT] = {
        [WIRE_HELLO] = -1,
        [WIRE_REQUEST] = -1,
        [WIRE_REPLY] = -1,
        [WIRE_NOTICE] = WIRE_LINE,
        [WIRE_PROGRESS] = WIRE_PROGRESS_RECORD,
        [WIRE_CONFIRM] = WIRE_LINE,
        [WIRE_CHOOSE] = WIRE_CHOICE,
        [WIRE_ASK] = WIRE_ASK_RECORD,
        [WIRE_EVENT] = WIRE_EVENT_RECORD,
        [WIRE_FAILED] = WIRE_ERROR,
    };

    if (in->kind == WIRE_RESULT)
        return true;
    if (in->kind == WIRE_PLANNED || in->kind == WIRE_DONE)
        return in->count == 0;
    return (int)in->type == types[in->kind] &&
           (in->kind == WIRE_PROGRESS ? in->count <= 1 : in->count == 1);
}

/* Handles a message; returns false on failure. Sets `*is_over` on
 * the final message. */
static bool handle(struct mapm *m, const struct wire_message *in, bool *is_over)
{
    switch (in->kind) {
    case WIRE_NOTICE:
        notice(m, in->records);
        return true;
    case WIRE_PROGRESS:
        progress(m, in);
        return true;
    case WIRE_CONFIRM:
        return confirm(m, in->records);
    case WIRE_CHOOSE:
        return choose(m, in->records);
    case WIRE_ASK:
        return ask(m, in->records);
    case WIRE_EVENT:
        if (m->run && m->run->event)
            m->run->event(m->run->ctx, in->records);
        return true;
    case WIRE_RESULT:
        m->results[in->type] = *in;
        return true;
    case WIRE_PLANNED:
        m->is_planned = *is_over = true;
        return true;
    case WIRE_DONE:
        client_end(m);
        take_cancel(m);
        *is_over = true;
        return true;
    default:
        return take_error(m, in);
    }
}

bool client_finish(struct mapm *m)
{
    struct wire_message in;
    struct err e = {0};
    bool is_over = false;

    while (!is_over) {
        if (!wire_receive(m->fd, &m->arena, &in, &e))
            return fail_lost(m, &e);
        if (!is_expected(&in)) {
            err_set(&e, ERR_FORMAT, "unexpected message from mapm-engine");
            return fail_lost(m, &e);
        }
        if (!handle(m, &in, &is_over))
            return false;
    }
    return true;
}
