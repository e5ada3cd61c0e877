#ifndef BASE_PROC_H
#define BASE_PROC_H

#include "base/buf.h"

#include <sys/types.h>

/*
 * proc: start another program, by argv, never by a shell.
 * Source: THREATS.md rows 15, 20, 29.
 */

/* What mapm changes for itself, as this process got it. */
struct proc_inherited {
    mode_t umask;
    uint64_t descriptors; /* soft limit */
    bool ignores_xfsz, ignores_pipe;
};
void proc_inherit(struct proc_inherited *out); /* before proc_init */

/*
 * Replaces this process by the program `path`, which gets all that this one
 * was given: `inherited` is restored, descriptors of ours are closed. `dir`:
 * NULL, or where it starts. Returns on failure alone: ERR_NOT_FOUND when the
 * program or `dir` is not there.
 */
bool proc_replace(const struct proc_inherited *inherited, const char *path,
                  const char *const *argv, const char *dir, struct err *e);

/* /dev/null on descriptors 0 to 2 that are closed; call first of all. */
void proc_init(void);

/* Looks `name` up in PATH, relative elements skipped, `except_below` (an
 * absolute path, or NULL) excluded. Absolute, in `a`; ERR_NOT_FOUND. */
MUST_CHECK bool proc_find_program(const char *name, const char *except_below,
                                  struct arena *a, struct str *path,
                                  struct err *e);

/* Folder of the running program's file (/proc/self/exe), links resolved. A root
 * folder without /proc: of the absolute path that it was started by. */
MUST_CHECK bool proc_self_dir(struct arena *a, struct str *dir, struct err *e);

struct proc_options {
    const char *const *argv; /* argv[0] an absolute path; NULL at the end */
    const char *const *env;  /* NULL: ours */
    const char *dir;         /* NULL: ours */
    struct str input;        /* for its stdin; none: /dev/null */
    size_t max_output_bytes; /* past it: killed, ERR_LIMIT */
    unsigned timeout_ms;     /* 0: none; past it: group killed, ERR_FAILED */

    /* With `output` nothing is kept, and no maximum counts: each block is
     * handed over as it comes, of stderr, too. */
    void (*output)(void *ctx, bool is_err, struct str block);
    /* Called at least four times a second, after output, too; false ends the
     * run at once: group killed, proc_result.stopped. */
    bool (*go_on)(void *ctx);
    void *ctx;
    bool own_session;    /* not only a group: no terminal, either */
    bool one_stream;     /* stderr goes where stdout goes */
    bool end_all;        /* at the end, whatever way: each process that it left
                      * behind is killed, daemons included (a subreaper) */
    bool report_timeout; /* a time-out is proc_result.timed_out, no error */
};

struct proc_result {
    bool stopped, timed_out;
    bool has_left;       /* with end_all: something could not be killed */
    int exit_code;       /* 128 + signal when killed by one */
    struct str out, err; /* stdout; stderr (its last 4 KiB) */
};

/*
 * Runs to the end, in a process group of its own that is killed with a
 * time-out, too much output or a signal to us (ERR_INTERRUPTED). What a daemon
 * left behind prints is not waited for. ERR_NOT_FOUND when argv[0] is not
 * there, ERR_REFUSED when it is not absolute. Results in `a`, NUL-terminated.
 */
MUST_CHECK bool proc_run(const struct proc_options *o, struct arena *a,
                         struct proc_result *out, struct err *e);

struct proc_start {
    const char *const *argv; /* argv[0] absolute */
    const char *const *env;  /* NULL: ours */
    const char *dir;         /* NULL: ours */
    int fds[4];              /* become 0 to 3; -1: 0 to 2 ours, 3 closed */
    bool own_group;          /* a process group that can be killed whole */
    bool own_session;        /* likewise, and no terminal */
    /* The read end of a pipe, which gets no byte; NULL: none. Once its other
     * end is closed, as by our end, the program is killed, also what a shell in
     * it has started: with own_group the whole group, without it, in the group
     * that has the terminal, by a process in between, which gets our SIGTERM
     * (for all of them) and ends with the program's exit code. */
    const int *lifeline;
    bool outlives_us; /* else killed when the thread that starts it ends */
};

/* Returns once the program runs, or could not be started: ERR_NOT_FOUND when
 * it is not there. */
MUST_CHECK bool proc_start(const struct proc_start *s, pid_t *pid,
                           struct err *e);

/* Starts `argv` with `fd` as descriptor 3 and nothing else inherited but
 * 0 to 2; dies with us (PR_SET_PDEATHSIG). */
MUST_CHECK bool proc_spawn(const char *const *argv, int fd, pid_t *pid,
                           struct err *e);
MUST_CHECK bool proc_wait(pid_t pid, int *exit_code, struct err *e);

/* From now on orphaned descendants become our children
 * (PR_SET_CHILD_SUBREAPER). */
void proc_adopt(void);
/* Kills and reaps all our children except `keep`, and descendants that become
 * our children by that, for at most `max_ms`. After proc_adopt these are all
 * processes ever started below this one. */
void proc_end_others(const pid_t *keep, size_t count, unsigned max_ms);

/* SIGINT, SIGTERM, SIGHUP set a flag instead of killing; SIGPIPE ignored. */
void proc_catch_signals(void);
bool proc_interrupted(void);
/* The same, or one of them is pending while it is blocked. */
bool proc_is_asked_to_end(void);

uint64_t proc_now_ms(void); /* monotonic */

#endif
