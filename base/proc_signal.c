#include "base/proc.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* The one mutable global of base: a handler has no other place to write. */
static volatile sig_atomic_t caught;

void proc_init(void)
{
    /* The lowest free descriptor is taken: 0, 1 and 2 in turn, then one too
     * many. Without this, the first file opened would be "stdout". What is
     * written to a closed stdout must fail, not vanish: so only for reading,
     * once the two others are there. */
    int fd;

    do
        fd = open("/dev/null", fcntl(STDIN_FILENO, F_GETFD) >= 0 &&
                                       fcntl(STDOUT_FILENO, F_GETFD) < 0
                                   ? O_RDONLY
                                   : O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
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
        /* Who started us with a signal ignored (nohup) keeps it so. */
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

int proc_signal(void)
{
    return caught;
}

uint64_t proc_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
