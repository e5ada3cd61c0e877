#include "proc_child.h"

#include "base/env.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc_rest.h"

#define FIRST_FREE_FD 10 /* above the descriptors that a child receives */
#define CLOSE_MAX_FDS 65536
#define END_MAX_MS    200 /* time to exit after a SIGTERM */

/* The failed step that a child reports if it cannot execute the program. */
enum step { STEP_FDS, STEP_DIR, STEP_EXEC };

struct failure {
    enum step step;
    int error;
};

static void reset_signals(void)
{
    static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP, SIGPIPE,
                                  SIGCHLD, SIGQUIT, SIGXFSZ};
    sigset_t none;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Sets close-on-exec instead of closing, because the pipe for reporting
 * failures is among them. */
static void close_on_exec_from(unsigned first)
{
    struct rlimit limit = {CLOSE_MAX_FDS, CLOSE_MAX_FDS};

    if (syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur > CLOSE_MAX_FDS)
        limit.rlim_cur = CLOSE_MAX_FDS;
    for (int fd = (int)first; fd < (int)limit.rlim_cur; fd++)
        if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 && errno != EBADF)
            return;
}

static bool place_fds(const int fds[4])
{
    for (int i = 0; i < 4; i++) {
        if (fds[i] < 0)
            continue;
        if (fds[i] == i ? fcntl(i, F_SETFD, 0) < 0 : dup2(fds[i], i) < 0)
            return false;
    }
    close_on_exec_from(fds[3] < 0 ? 3 : 4);
    return true;
}

static void close_from(unsigned first)
{
    struct rlimit limit = {CLOSE_MAX_FDS, CLOSE_MAX_FDS};

    if (syscall(SYS_close_range, first, ~0U, 0) == 0)
        return;
    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur > CLOSE_MAX_FDS)
        limit.rlim_cur = CLOSE_MAX_FDS;
    for (int fd = (int)first; fd < (int)limit.rlim_cur; fd++)
        close(fd);
}

/* Starts a process in the group that waits for the end of the pipe, because the
 * parent-death signal reaches only the program itself. */
static void start_guard(const struct proc_start *s)
{
    char byte;
    ssize_t n;

    if (s->lifeline == NULL || !s->own_group || fork() != 0)
        return;
    if (dup2(*s->lifeline, 0) < 0)
        _exit(1);
    close_from(1);
    do
        n = read(0, &byte, 1);
    while (n < 0 && errno == EINTR);
    kill(0, SIGKILL);
    _exit(0);
}

/* Sends SIGTERM first, so that an ssh that reads a passphrase can
 * restore the terminal. */
static NORETURN void end_program(void)
{
    proc_end_group(END_MAX_MS);
    _exit(128 + SIGTERM);
}

/* Ends with the exit code of the program; a daemon that it left behind
 * continues, as ssh's ControlPersist requires. */
static NORETURN void watch(const struct proc_start *s, pid_t program,
                           const sigset_t *signals)
{
    struct pollfd fds[] = {{.fd = 0, .events = POLLIN},
                           {.fd = 1, .events = POLLIN}};
    struct signalfd_siginfo info;
    pid_t pid;
    int status;

    if (dup2(*s->lifeline, 0) < 0)
        end_program();
    close_from(1);
    fds[1].fd = signalfd(-1, signals, SFD_CLOEXEC);
    for (;;) {
        if (poll(fds, 2, -1) < 0) {
            if (errno == EINTR)
                continue;
            end_program();
        }
        if (fds[0].revents || (fds[1].revents & ~POLLIN))
            end_program();
        if (read(fds[1].fd, &info, sizeof info) != sizeof info ||
            info.ssi_signo == SIGTERM)
            end_program();
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            if (pid == program)
                _exit(proc_exit_code(status));
    }
}

/* Starts an intermediate process as parent of the program, which can find the
 * processes that the program starts. */
static pid_t start_intermediate(const struct proc_start *s, pid_t parent)
{
    pid_t between = getpid(), program;
    sigset_t signals;

    if (s->lifeline == NULL || s->own_group)
        return parent;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    program = fork();
    if (program < 0)
        _exit(127);
    if (program > 0)
        watch(s, program, &signals);
    return between;
}

/* exec takes non-const pointers but does not change the strings. */
static char *const *unconst(const char *const *strings)
{
    union {
        const char *const *given;
        char *const *taken;
    } u = {strings};

    return u.taken;
}

static NORETURN void become(const struct proc_start *s, pid_t parent,
                            int channel)
{
    struct failure f = {STEP_FDS, 0};

    if (s->own_session)
        setsid();
    else if (s->own_group)
        setpgid(0, 0);
    parent = start_intermediate(s, parent);
    reset_signals();
    if (!s->outlives_us) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(127); /* the parent ended before prctl took effect */
    }
    start_guard(s);
    if (!place_fds(s->fds))
        goto failed;
    f.step = STEP_DIR;
    if (s->dir && chdir(s->dir) < 0)
        goto failed;
    f.step = STEP_EXEC;
    execve(s->argv[0], unconst(s->argv), s->env ? unconst(s->env) : env_all());
failed:
    f.error = errno;
    if (write(channel, &f, sizeof f) < 0) {
        /* The parent has ended: the error cannot be reported. */
    }
    _exit(127);
}

static bool move_up(int *fd)
{
    int higher = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

    if (higher < 0)
        return false;
    fs_close(fd);
    *fd = higher;
    return true;
}

static bool report_failure(const struct proc_start *s, const struct failure *f,
                           struct err *e)
{
    errno = f->error;
    if (f->step == STEP_DIR)
        return err_errno(e, "enter %s", s->dir);
    if (f->step == STEP_EXEC && (errno == ENOENT || errno == ENOTDIR))
        return err_set(e, ERR_NOT_FOUND, "start %s: no such program",
                       s->argv[0]);
    return err_errno(e, "start %s", s->argv[0]);
}

bool proc_start(const struct proc_start *s, pid_t *pid, struct err *e)
{
    CLEANUP_FD int from = -1, to = -1;
    struct failure f;
    pid_t parent = getpid(), child;
    int ends[2];
    ssize_t n;

    if (s->argv[0][0] != '/')
        return err_set(e, ERR_REFUSED, "start %s: not an absolute path",
                       s->argv[0]);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(e, "create a pipe");
    from = ends[0];
    to = ends[1];
    if (!move_up(&to))
        return err_errno(e, "create a pipe");
    child = fork();
    if (child < 0)
        return err_errno(e, "start %s", s->argv[0]);
    if (child == 0)
        become(s, parent, to);
    fs_close(&to);
    do
        n = read(from, &f, sizeof f);
    while (n < 0 && errno == EINTR);
    if (n == 0) {
        *pid = child;
        return true;
    }
    if (s->lifeline && s->own_group)
        kill(-child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (n != (ssize_t)sizeof f)
        return err_set(e, ERR_FAILED, "start %s: no response", s->argv[0]);
    return report_failure(s, &f, e);
}

int proc_exit_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
