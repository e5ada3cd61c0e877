/*
 * timed COUNT OUT COMMAND [ARG...]: runs the command COUNT times and writes a
 * line to OUT for each: microseconds, peak memory in KiB, exit status, and
 * microseconds of processors (of all its processes, user and system).
 *
 * A program of its own because a process starts with the peak memory of the
 * one that made it: measured from Python, everything needs ten megabytes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static long long us_of(struct timeval t)
{
    return t.tv_sec * 1000000LL + t.tv_usec;
}

static int run_once(char **argv, FILE *out)
{
    struct rusage usage;
    int status;
    long long start = now_us();
    pid_t child = fork();
    if (child < 0)
        return perror("fork"), -1;
    if (child == 0) {
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    if (wait4(child, &status, 0, &usage) < 0)
        return perror("wait4"), -1;
    long long us = now_us() - start;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    fprintf(out, "%lld %ld %d %lld\n", us, usage.ru_maxrss, code,
            us_of(usage.ru_utime) + us_of(usage.ru_stime));
    return code;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fputs("usage: timed COUNT OUT COMMAND [ARG...]\n", stderr);
        return 2;
    }
    FILE *out = fopen(argv[2], "we");
    if (!out)
        return perror(argv[2]), 2;
    int code = 0;
    for (long n = strtol(argv[1], NULL, 10); n > 0 && code >= 0; n--)
        code = run_once(argv + 3, out);
    if (fclose(out) != 0 || code < 0)
        return 2;
    return code;
}
