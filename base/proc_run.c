#include "base/fs.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "proc_child.h"
#include "proc_rest.h"

#define STDERR_KEPT_BYTES 4096
#define BLOCK_BYTES       16384

/* A program that has ended may have passed its pipes to a daemon; its own
 * output is available immediately. */
#define GRACE_MS 200

/* Polling interval without pidfd_open. */
#define LOOK_MS 10

/* Limits the wait for a process that cannot be killed (it changed its user). */
#define KILL_MAX_MS 2000

/* Maximum interval between calls of `go_on`. */
#define LISTEN_MS 250

struct run {
    const struct proc_options *o;
    int in, out, err; /* this process's ends of the pipes */
    int their_in, their_out, their_err;
    int pidfd;
    pid_t pid; /* 0: reaped, or not started */
    int status;
    struct str input; /* input not yet written */
    struct buf output;
    char tail[2 * STDERR_KEPT_BYTES]; /* last bytes of stderr */
    size_t tail_bytes;
    uint64_t start_ms, ended_ms;
    bool stopped, timed_out, has_left;
    struct proc_rest rest;
    struct sigaction pipe_before;
};

static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == pid;
}

static void reap(struct run *r)
{
    pid_t got;

    if (!r->pid)
        return;
    /* The process group id stays reserved while the zombie exists. */
    if (r->o->end_all && has_ended(r->pid))
        kill(-r->pid, SIGKILL);
    do
        got = waitpid(r->pid, &r->status, WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return;
    if (got < 0)
        r->status = 0; /* reaped elsewhere: its status is unknown */
    r->pid = 0;
    r->ended_ms = proc_now_ms();
    r->has_left = !proc_rest_kill(&r->rest);
}

static void end(struct run *r)
{
    static const struct timespec breath = {.tv_nsec = 200 * 1000};
    uint64_t start = proc_now_ms();

    if (r->pid)
        kill(-r->pid, SIGKILL);
    reap(r);
    while (r->pid && proc_now_ms() - start < KILL_MAX_MS) {
        nanosleep(&breath, NULL);
        reap(r);
    }
}

static void run_done(struct run *r)
{
    end(r);
    proc_rest_end(&r->rest);
    fs_close(&r->in);
    fs_close(&r->out);
    fs_close(&r->err);
    fs_close(&r->their_in);
    fs_close(&r->their_out);
    fs_close(&r->their_err);
    fs_close(&r->pidfd);
    buf_done(&r->output);
    sigaction(SIGPIPE, &r->pipe_before, NULL);
}

static bool make_pipe(int *reader, int *writer, const int *ours, struct err *e)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(e, "create a pipe");
    *reader = ends[0];
    *writer = ends[1];
    if (fcntl(*ours, F_SETFL, O_NONBLOCK) < 0)
        return err_errno(e, "create a pipe");
    return true;
}

/* Some programs read stdin if it is a pipe, so without input it must
 * not be a pipe. */
static bool open_input(struct run *r, struct err *e)
{
    if (r->input.n)
        return make_pipe(&r->their_in, &r->in, &r->in, e);
    r->their_in = fs_openat(AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
    return r->their_in >= 0 || err_errno(e, "open /dev/null");
}

static bool start(struct run *r, struct err *e)
{
    struct proc_start s = {
        .argv = r->o->argv,
        .env = r->o->env,
        .dir = r->o->dir,
        .own_group = true,
        .own_session = r->o->own_session,
    };

    if (!open_input(r, e) || !make_pipe(&r->out, &r->their_out, &r->out, e))
        return false;
    if (!r->o->one_stream && !make_pipe(&r->err, &r->their_err, &r->err, e))
        return false;
    s.fds[0] = r->their_in;
    s.fds[1] = r->their_out;
    s.fds[2] = r->o->one_stream ? r->their_out : r->their_err;
    s.fds[3] = -1;
    if (r->o->end_all)
        proc_rest_begin(&r->rest);
    if (!proc_start(&s, &r->pid, e))
        return false;
    fs_close(&r->their_in);
    fs_close(&r->their_out);
    fs_close(&r->their_err);
    r->pidfd = (int)syscall(SYS_pidfd_open, r->pid, 0);
    r->start_ms = proc_now_ms();
    return true;
}

static void feed(struct run *r)
{
    while (r->input.n) {
        ssize_t n = write(r->in, r->input.p, r->input.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0)
            break; /* the program does not read the rest: ignore */
        r->input = str_from_index(r->input, (size_t)n);
    }
    fs_close(&r->in);
}

/* Reads one block; returns 0 at the end, or if none is available. */
static size_t take(int *fd, char block[BLOCK_BYTES])
{
    ssize_t n;

    do
        n = read(*fd, block, BLOCK_BYTES);
    while (n < 0 && errno == EINTR);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        fs_close(fd);
    return n > 0 ? (size_t)n : 0;
}

static void trim_to_tail(struct run *r, struct str block)
{
    size_t kept;

    if (block.n > STDERR_KEPT_BYTES)
        block = str_from_index(block, block.n - STDERR_KEPT_BYTES);
    if (r->tail_bytes + block.n > sizeof r->tail) {
        kept = STDERR_KEPT_BYTES - block.n;
        memmove(r->tail, r->tail + r->tail_bytes - kept, kept);
        r->tail_bytes = kept;
    }
    if (block.n)
        memcpy(r->tail + r->tail_bytes, block.p, block.n);
    r->tail_bytes += block.n;
}

static void take_in(struct run *r)
{
    char block[BLOCK_BYTES];
    int *const fds[] = {&r->out, &r->err};

    for (int is_err = 0; is_err < 2; is_err++) {
        struct str got = *fds[is_err] < 0
                             ? STR("")
                             : str_make(block, take(fds[is_err], block));

        if (!got.n)
            continue;
        if (is_err)
            trim_to_tail(r, got);
        if (r->o->output)
            r->o->output(r->o->ctx, is_err, got);
        else if (!is_err)
            buf_append(&r->output, got);
    }
}

/* Returns false also if the run must end without an error. */
static bool may_go_on(struct run *r, struct err *e)
{
    unsigned limit = r->o->timeout_ms;

    if (r->output.overflowed)
        return err_set(e, ERR_LIMIT, "%s: printed more than %zu bytes",
                       r->o->argv[0], r->o->max_output_bytes);
    if (proc_interrupted())
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    r->stopped = r->o->go_on && !r->o->go_on(r->o->ctx);
    if (r->stopped)
        return false;
    if (!limit || !r->pid || proc_now_ms() - r->start_ms < limit)
        return true;
    if (!r->o->report_timeout)
        return err_set(e, ERR_FAILED, "%s: timed out after %u ms",
                       r->o->argv[0], limit);
    r->timed_out = true;
    return false;
}

static int pause_ms(const struct run *r)
{
    uint64_t now = proc_now_ms(), until = now + LISTEN_MS;

    if (r->pid && r->pidfd < 0)
        until = now + LOOK_MS;
    if (r->pid && r->o->timeout_ms && r->start_ms + r->o->timeout_ms < until)
        until = r->start_ms + r->o->timeout_ms;
    if (!r->pid && r->ended_ms + GRACE_MS < until)
        until = r->ended_ms + GRACE_MS;
    return until > now ? (int)(until - now) : 0;
}

static bool is_over(const struct run *r)
{
    if (r->pid)
        return false;
    return (r->out < 0 && r->err < 0) ||
           proc_now_ms() - r->ended_ms >= GRACE_MS;
}

/* A signal between the check of the flag and the sleep must end the sleep, so
 * signals are unblocked only during the sleep. */
static bool sleep_until_news(const struct run *r, struct err *e)
{
    struct pollfd fds[] = {
        {r->out, POLLIN, 0},
        {r->err, POLLIN, 0},
        {r->in, POLLOUT, 0},
        {r->pid ? r->pidfd : -1, POLLIN, 0},
    };
    int ms = pause_ms(r);
    struct timespec most = {ms / 1000, ms % 1000 * 1000000L};
    sigset_t ends, before;
    bool ok = true;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    if (!proc_interrupted() && ppoll(fds, 4, &most, &before) < 0 &&
        errno != EINTR)
        ok = err_errno(e, "poll");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

static bool converse(struct run *r, struct err *e)
{
    while (!is_over(r)) {
        if (!sleep_until_news(r, e))
            return false;
        take_in(r);
        if (r->in >= 0)
            feed(r);
        if (!may_go_on(r, e))
            return false;
        reap(r);
        if (r->pid)
            proc_rest_reap(&r->rest, r->pid);
    }
    return true;
}

bool proc_run(const struct proc_options *o, struct arena *a,
              struct proc_result *out, struct err *e)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    CLEANUP(run_done)
    struct run r = {
        .o = o,
        .in = -1,
        .out = -1,
        .err = -1,
        .their_in = -1,
        .their_out = -1,
        .their_err = -1,
        .pidfd = -1,
        .input = o->input,
    };
    struct str tail;

    /* Ignore SIGPIPE from writing to a program that has ended. */
    sigaction(SIGPIPE, &ignore, &r.pipe_before);
    buf_init(&r.output, o->max_output_bytes);
    if (!start(&r, e))
        return false;
    if (!converse(&r, e) && !r.stopped && !r.timed_out)
        return false;
    end(&r);
    tail = str_make(r.tail, r.tail_bytes);
    if (tail.n > STDERR_KEPT_BYTES)
        tail = str_from_index(tail, tail.n - STDERR_KEPT_BYTES);
    *out = (struct proc_result){
        .stopped = r.stopped,
        .timed_out = r.timed_out,
        .has_left = r.has_left || r.pid,
        .exit_code = proc_exit_code(r.status),
        .out = arena_str(a, buf_str(&r.output)),
        .err = arena_str(a, tail),
    };
    return true;
}
