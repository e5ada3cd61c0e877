#include "ssh.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Grace period for an ssh that has hung up, to report why. */
#define END_MAX_MS  2000
#define KILL_MAX_MS 200 /* time to exit after SIGTERM */
#define STEP_MS     5

void ssh_init(struct ssh *s, bool may_prompt)
{
    *s = (struct ssh){.may_prompt = may_prompt, .lifeline = {-1, -1}};
    arena_init(&s->arena);
}

/* --- stderr and exit of an ssh process ------------------------------------ */

static void trim_to_tail(struct ssh_line *l, const char *bytes, size_t n)
{
    size_t room = sizeof l->tail, drop;

    if (n > room) {
        bytes += n - room;
        n = room;
    }
    drop = l->tail_size + n > room ? l->tail_size + n - room : 0;
    memmove(l->tail, l->tail + drop, l->tail_size - drop);
    l->tail_size -= drop;
    memcpy(l->tail + l->tail_size, bytes, n);
    l->tail_size += n;
}

static void drain(struct ssh_line *l)
{
    char block[4096];

    /* Limit the reads so that one busy connection cannot starve the others. */
    for (int i = 0; l->err >= 0 && i < 16; i++) {
        ssize_t n = read(l->err, block, sizeof block);

        if (n > 0)
            trim_to_tail(l, block, (size_t)n);
        else if (n < 0 && errno == EAGAIN)
            return;
        else
            fs_close(&l->err);
    }
}

/* Does not reap the process, so that its process group id stays valid. */
static bool has_ended(const struct ssh_line *l)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)l->pid, &info, WEXITED | WNOHANG | WNOWAIT) <
               0 ||
           info.si_pid == l->pid;
}

static bool wait_for_end(struct ssh_line *l, unsigned max_ms)
{
    uint64_t until = proc_now_ms() + max_ms;

    while (!has_ended(l)) {
        if (proc_now_ms() >= until || proc_interrupted())
            return false;
        drain(l);
        poll(NULL, 0, STEP_MS);
    }
    drain(l);
    return true;
}

/* An ssh that may prompt is in our own process group, the foreground group
 * of the terminal; an intermediate process ends it (the lifeline of
 * proc_start). */
static void send_signal(const struct ssh_line *l, int number)
{
    kill(l->may_prompt ? l->pid : -l->pid, number);
}

/* Ends ssh and the processes it started (a ProxyCommand, a wrapper's child).
 * Returns the exit code. */
static int end_process(struct ssh_line *l)
{
    struct err ignored = {0};
    int code = -1;

    if (!has_ended(l)) {
        send_signal(l, SIGTERM);
        if (!l->may_prompt && !wait_for_end(l, KILL_MAX_MS))
            send_signal(l, SIGKILL);
    }
    if (!l->may_prompt)
        send_signal(l, SIGKILL);
    if (!proc_wait(l->pid, &code, &ignored))
        err_clear(&ignored); /* already reaped */
    return code;
}

static void remove_line(struct ssh *s, size_t i)
{
    fs_close(&s->lines[i]->err);
    heap_free(s->lines[i]);
    s->lines[i] = s->lines[--s->count];
}

bool ssh_end(struct ssh *s, size_t id, enum ssh_end end, unsigned seconds,
             bool *may_retry, struct err *why)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct ssh_failure f = {.end = end, .seconds = seconds};
    struct ssh_line *l;
    size_t i = 0;

    while (i < s->count && s->lines[i]->id != id)
        i++;
    if (i == s->count)
        return false;
    l = s->lines[i];
    if (end == SSH_HUNG_UP)
        wait_for_end(l, END_MAX_MS);
    f.exit_code = end_process(l);
    f.to = &l->to;
    f.words = str_make(l->tail, l->tail_size);
    f.has_agent = env_get("SSH_AUTH_SOCK").n > 0;
    f.may_prompt = l->may_prompt;
    if (end != SSH_DONE)
        *may_retry = ssh_explain(&f, &scratch, why);
    remove_line(s, i);
    return true;
}

void ssh_done(struct ssh *s)
{
    for (size_t i = 0; i < s->count; i++)
        send_signal(s->lines[i], SIGTERM);
    while (s->count) {
        end_process(s->lines[0]);
        remove_line(s, 0);
    }
    fs_close(&s->lifeline[0]);
    fs_close(&s->lifeline[1]);
    arena_done(&s->arena);
    ssh_init(s, false);
}

bool ssh_is_prompting(const struct ssh *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->lines[i]->may_prompt)
            return true;
    return false;
}

size_t ssh_poll(const struct ssh *s, struct pollfd *out)
{
    size_t n = 0;

    for (size_t i = 0; i < s->count; i++)
        if (s->lines[i]->err >= 0)
            out[n++] =
                (struct pollfd){.fd = s->lines[i]->err, .events = POLLIN};
    return n;
}

void ssh_drain(struct ssh *s)
{
    for (size_t i = 0; i < s->count; i++)
        drain(s->lines[i]);
}

/* --- start of an ssh process ---------------------------------------------- */

/* With an agent there is no passphrase to type. */
static bool will_prompt(const struct ssh *s)
{
    return s->may_prompt && env_get("SSH_AUTH_SOCK").n == 0;
}

static bool start_process(struct ssh *s, struct ssh_line *l, int line, int err,
                          struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct proc_start p = {
        .dir = "/", .fds = {line, line, err, -1}, .own_group = !l->may_prompt};

    if (s->lifeline[0] < 0 && pipe2(s->lifeline, O_CLOEXEC) < 0)
        return err_errno(e, "create a pipe");
    p.lifeline = s->lifeline;
    if (!ssh_argv(&s->program, &l->to, l->may_prompt, &scratch, &p.argv, e))
        return false;
    p.env = ssh_env(&scratch);
    return proc_start(&p, &l->pid, e);
}

static bool open_line(struct ssh *s, struct ssh_line *l, int *fd, struct err *e)
{
    CLEANUP_FD int ours = -1, its = -1, err = -1;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return err_errno(e, "open a socket pair");
    ours = ends[0];
    its = ends[1];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(e, "create a pipe");
    l->err = ends[0];
    err = ends[1];
    if (fcntl(l->err, F_SETFL, O_NONBLOCK) < 0)
        return err_errno(e, "create a pipe");
    if (!start_process(s, l, its, err, e))
        return false;
    *fd = ours;
    ours = -1;
    return true;
}

bool ssh_start(struct ssh *s, size_t id, const struct ssh_address *to, int *fd,
               bool *may_prompt, struct err *e)
{
    struct ssh_line *l;

    if (s->count == SSH_MAX_LINES)
        return err_set(e, ERR_LIMIT, "more than %d ssh connections",
                       SSH_MAX_LINES);
    if (!s->has_program &&
        !ssh_program_find(&s->settings, to, &s->arena, &s->program, e))
        return false;
    s->has_program = true;
    l = heap_alloc(sizeof *l);
    l->id = id;
    l->err = -1;
    l->may_prompt = will_prompt(s);
    l->to = (struct ssh_address){.user = arena_str(&s->arena, to->user),
                                 .host = arena_str(&s->arena, to->host),
                                 .path = arena_str(&s->arena, to->path),
                                 .port = to->port};
    if (!open_line(s, l, fd, e)) {
        fs_close(&l->err);
        heap_free(l);
        return err_wrap(e, "cannot start ssh");
    }
    *may_prompt = l->may_prompt;
    s->lines[s->count++] = l;
    return true;
}
