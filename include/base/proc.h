#ifndef BASE_PROC_H
#define BASE_PROC_H

#include "base/buf.h"

#include <sys/types.h>

/* proc: starts other programs, by argument vector, never by a shell.
 * Source: THREATS.md rows 15, 20, 29. */

/* Process attributes that mapm changes for itself, with the values
 * that it inherited. */
struct proc_inherited {
    mode_t umask;
    uint64_t descriptors; /* soft limit of RLIMIT_NOFILE */
    bool ignores_xfsz, ignores_pipe;
};
void proc_inherit(struct proc_inherited *out); /* call before proc_init */

/*
 * Executes the program `path` in place of this process, with the attributes of
 * `inherited` and without mapm's descriptors. `dir` is its working directory;
 * NULL for the current one. Returns only on failure: ERR_NOT_FOUND if the
 * program or `dir` does not exist.
 */
bool proc_replace(const struct proc_inherited *inherited, const char *path,
                  const char *const *argv, const char *dir, struct err *e);

/* Opens /dev/null on those of the descriptors 0 to 2 that are closed. Must be
 * the first call of the program. */
void proc_init(void);

/* Finds the program `name` in PATH, skipping relative entries and programs
 * below `except_below` (an absolute path, or NULL). `*path` is absolute,
 * allocated in `a`.
 * Errors: ERR_NOT_FOUND. */
MUST_CHECK bool proc_find_program(const char *name, const char *except_below,
                                  struct arena *a, struct str *path,
                                  struct err *e);

/* Gets the folder of the running program (from /proc/self/exe), with symbolic
 * links resolved. Without /proc, uses the path that it was started by, if
 * that is absolute. */
MUST_CHECK bool proc_self_dir(struct arena *a, struct str *dir, struct err *e);

struct proc_options {
    const char *const *argv; /* argv[0] is absolute; ended by NULL */
    const char *const *env;  /* NULL: inherit the environment */
    const char *dir;         /* NULL: current folder */
    struct str input;        /* contents of stdin; empty: /dev/null */
    size_t max_output_bytes; /* more: kill it and fail with ERR_LIMIT */
    unsigned timeout_ms;     /* 0: none; then kill the group, ERR_FAILED */

    /* If set, receives each block of stdout and stderr as it arrives; stdout is
     * not stored and max_output_bytes does not apply. */
    void (*output)(void *ctx, bool is_err, struct str block);
    /* Called at least four times per second, and after output. Returning false
     * ends the run at once: the group is killed and proc_result.stopped set. */
    bool (*go_on)(void *ctx);
    void *ctx;
    bool own_session; /* a new session, not only a group: no terminal */
    bool one_stream;  /* redirect stderr to stdout */
    /* When the run ends in any way, kill every process that it left behind,
     * including daemons (by PR_SET_CHILD_SUBREAPER). */
    bool end_all;
    /* Report a timeout in proc_result.timed_out instead of failing. */
    bool report_timeout;
};

struct proc_result {
    bool stopped, timed_out;
    bool has_left;       /* end_all: a process could not be killed */
    int exit_code;       /* 128 + signal number if killed by a signal */
    struct str out, err; /* stdout; the last 4 KiB of stderr */
};

/*
 * Runs a program and waits for its end. It has its own process group, which is
 * killed on a timeout, too much output, or a signal to this process
 * (ERR_INTERRUPTED). Output of a daemon that it leaves behind is not waited
 * for. Fails with ERR_NOT_FOUND if argv[0] does not exist, ERR_REFUSED if it is
 * not absolute. The result is allocated in `a`, terminated by NUL.
 */
MUST_CHECK bool proc_run(const struct proc_options *o, struct arena *a,
                         struct proc_result *out, struct err *e);

struct proc_start {
    const char *const *argv; /* argv[0] is absolute */
    const char *const *env;  /* NULL: inherit the environment */
    const char *dir;         /* NULL: current folder */
    /* Become descriptors 0 to 3. -1 inherits 0 to 2, and leaves 3 closed. */
    int fds[4];
    bool own_group;   /* start it in a new process group */
    bool own_session; /* start it in a new session, without terminal */
    /* The read end of a pipe to which nothing is written, or NULL. When its
     * other end is closed, as when this process ends, the program and the
     * processes that it started are killed. With own_group, the whole group is
     * killed. Without it, the program runs in the group that has the terminal,
     * below an intermediate process that performs the kill; it forwards a
     * SIGTERM to them and exits with the program's exit code. */
    const int *lifeline;
    /* Otherwise the program is killed when the thread that started it ends. */
    bool outlives_us;
};

/* Starts a program. Returns when it runs or could not be started: ERR_NOT_FOUND
 * if it does not exist. */
MUST_CHECK bool proc_start(const struct proc_start *s, pid_t *pid,
                           struct err *e);

/* Starts `argv` with `fd` as descriptor 3, inheriting only descriptors 0 to 2.
 * The program is killed when this process ends (PR_SET_PDEATHSIG). */
MUST_CHECK bool proc_spawn(const char *const *argv, int fd, pid_t *pid,
                           struct err *e);
MUST_CHECK bool proc_wait(pid_t pid, int *exit_code, struct err *e);

/* Makes orphaned descendants children of this process
 * (PR_SET_CHILD_SUBREAPER). */
void proc_adopt(void);
/* Kills and reaps all children of this process except `keep`, and descendants
 * that become its children by that, for at most `max_ms`. After proc_adopt this
 * covers all processes that were ever started below this one. */
void proc_end_others(const pid_t *keep, size_t count, unsigned max_ms);

/* Makes SIGINT, SIGTERM and SIGHUP set a flag instead of killing the process,
 * and ignores SIGPIPE. */
void proc_catch_signals(void);
bool proc_interrupted(void);
/* The same, but also true if one of these signals is blocked and pending. */
bool proc_is_asked_to_end(void);

uint64_t proc_now_ms(void); /* monotonic clock */

#endif
