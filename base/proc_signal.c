#include "base/fs.h"
#include "base/proc.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The only mutable global variable of base, required by the signal handler. */
static volatile sig_atomic_t caught;

#define DESCRIPTORS_WISHED 256

/* Raises the soft limit of descriptors to the hard limit. */
static void raise_descriptors(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= DESCRIPTORS_WISHED)
        return;
    r.rlim_cur =
        r.rlim_max < DESCRIPTORS_WISHED ? r.rlim_max : DESCRIPTORS_WISHED;
    setrlimit(RLIMIT_NOFILE, &r);
}

/* Row 29: normalizes process attributes that other code relies on. */
static void normalize_environment(void)
{
    /* The owner must be able to use new files; modes are set exactly anyway. */
    umask(umask(077) & 077);
    /* Exceeding RLIMIT_FSIZE must fail the write instead of killing
     * the process. */
    signal(SIGXFSZ, SIG_IGN);
    raise_descriptors();
}

void proc_init(void)
{
    /* open() uses the lowest free descriptor: 0, 1 and 2 in turn, then one too
     * many. Without this, the first file to be opened would become stdout.
     * Writes to a closed stdout must fail instead of being lost, so the
     * replacement is opened for reading. */
    int fd;

    do
        fd = fs_openat(AT_FDCWD, "/dev/null",
                       fcntl(STDIN_FILENO, F_GETFD) >= 0 &&
                               fcntl(STDOUT_FILENO, F_GETFD) < 0
                           ? O_RDONLY
                           : O_RDWR,
                       0);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
    normalize_environment();
}

static void remember(int number)
{
    caught = number;
}

void proc_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = remember};
    struct sigaction before;

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* A signal that the parent ignores (nohup) stays ignored. */
        if (sigaction(numbers[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
}

bool proc_interrupted(void)
{
    return caught != 0;
}

bool proc_is_asked_to_end(void)
{
    sigset_t pending;

    if (caught)
        return true;
    return sigpending(&pending) == 0 && (sigismember(&pending, SIGINT) == 1 ||
                                         sigismember(&pending, SIGTERM) == 1 ||
                                         sigismember(&pending, SIGHUP) == 1);
}

uint64_t proc_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
