#include "base/confine.h"
#include "base/env.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpreter.h"
#include "run_worker.h"

/* Memory of the process in addition to the program's values: the image of the
 * parent, and messages. */
#define MEMORY_SLACK_BYTES (192ull << 20)
#define CPU_SLACK_SECONDS  2
#define CLOSE_MAX_FDS      65536

/* Signals of the terminal reach the whole group, and the parent handles
 * them. */
static void ignore_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], SIG_IGN);
}

static void close_range_of(unsigned first, unsigned last)
{
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
        return;
    for (unsigned fd = first; fd <= last && fd < CLOSE_MAX_FDS; fd++)
        close((int)fd);
}

/* Lowers the CPU limit. Returns false if it cannot be set. */
static bool limit_processor(const struct limits *l)
{
    rlim_t seconds = l->run_max_seconds.value + CPU_SLACK_SECONDS;
    struct rlimit r;

    if (getrlimit(RLIMIT_CPU, &r) < 0)
        return false;
    if (r.rlim_max > seconds)
        r.rlim_max = seconds;
    if (r.rlim_cur > r.rlim_max)
        r.rlim_cur = r.rlim_max;
    return setrlimit(RLIMIT_CPU, &r) == 0;
}

static bool give_up_rights(const struct limits *l, struct err *e)
{
    const struct confine_rules rules = {
        .calls = CONFINE_CALLS_COMPUTE,
        .max_data_bytes = l->run_max_memory_bytes.value + MEMORY_SLACK_BYTES,
    };
    struct confine_done done;

    if (!limit_processor(l) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return err_errno(e, "limit the interpreter");
    return confine_self(&rules, &done, e);
}

static void send_failure(int fd, const struct err *e)
{
    struct interpreter g = {.fd = fd};
    struct json_writer w;

    interpreter_begin(&g);
    json_writer_init(&w, &g.out, 0);
    json_begin_object(&w);
    json_member_string(&w, "code", STR("confine"));
    json_member_string(&w, "why", str_cstr(err_first(e)));
    json_member_string(&w, "report", STR(""));
    json_end_object(&w);
    interpreter_send(&g, MESSAGE_FAILURE);
}

/* Row 20: erases the environment, so that the keys in it are not available even
 * to code that has taken over the process. */
static void forget_environment(void)
{
    for (char **v = env_all(); *v; v++)
        explicit_bzero(*v, strlen(*v));
}

/* Ends by _exit: buffered output of the parent must not be written twice. */
static NORETURN void live(const struct runtime_job *job, int fd, pid_t parent)
{
    struct interpreter g = {.fd = fd, .job = job};
    struct err e = {0};

    ignore_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0); /* the parent exited before prctl */
    if (fd > 0)
        close_range_of(0, (unsigned)fd - 1);
    close_range_of((unsigned)fd + 1, ~0U);
    forget_environment();
    if (give_up_rights(job->limits, &e))
        interpreter_run(&g);
    else
        send_failure(fd, &e);
    _exit(0);
}

bool worker_start(const struct runtime_job *job, struct worker *out,
                  struct err *e)
{
    CLEANUP_FD int ours = -1, theirs = -1;
    pid_t parent = getpid(), pid;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return err_errno(e, "create a socket");
    ours = ends[0];
    theirs = ends[1];
    if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
        return err_errno(e, "create a socket");
    pid = fork();
    if (pid < 0)
        return err_errno(e, "start the interpreter");
    if (pid == 0)
        live(job, theirs, parent);
    out->pid = pid;
    out->fd = ours;
    ours = -1;
    return true;
}

/* The socket has room for it; an exited process is noticed on the next read. */
void worker_go(const struct worker *c, uint64_t deadline_ms)
{
    (void)send(c->fd, &deadline_ms, sizeof deadline_ms,
               MSG_DONTWAIT | MSG_NOSIGNAL);
}

void worker_kill(const struct worker *c)
{
    if (c->pid > 0)
        kill(c->pid, SIGKILL);
}

void worker_end(struct worker *c, int *status)
{
    if (c->pid <= 0)
        return;
    worker_kill(c);
    while (waitpid(c->pid, status, 0) < 0 && errno == EINTR)
        ;
    c->pid = 0;
    fs_close(&c->fd);
}

struct str worker_fate(int status, struct arena *a)
{
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    if (number == SIGKILL)
        return STR("the interpreter was killed (is the machine out of "
                   "memory?)");
    if (number == SIGXCPU)
        return STR("the interpreter used up its time of the processor");
    if (number)
        return arena_printf(a, "the interpreter crashed (signal %d, %s)",
                            number, strsignal(number));
    /* The interpreter reports its own memory limit; this was another
     * allocation. */
    if (WEXITSTATUS(status) == 1)
        return STR("the interpreter has no more memory");
    return arena_printf(a,
                        "the interpreter ended without a result (exit code "
                        "%d)",
                        WEXITSTATUS(status));
}
