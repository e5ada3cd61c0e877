#ifndef MAPM_RUNTIME_H
#define MAPM_RUNTIME_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/limits.h"

#include <sys/types.h>

/*
 * runtime: runs the program of a metaskill, which can ask a model, run commands
 * and write a trace, and nothing else.
 *
 *     folder --metaskill_read()--> struct skill --runtime_run()--> one string
 *                                  |
 *        the program, in a process of its own: no files, no network, no clock
 *                                  |  ask, command, trace
 *                           struct runtime_host
 *              tape_record / tape_replay | backend, command runner
 *
 * The core (runtime_run) handles budgets, values and the result; ask and
 * command are functions of the host. A model backend answers ask; the command
 * runner applies policy and sandbox. A tape records both, or replaces them.
 *
 * Source: metaSKILL specification; docs/requirements.md K, X14, X15, X27;
 * DESIGN.md 8; THREATS.md 1.6, 1.8, 2, rows 17 to 22.
 */

struct ask {
    unsigned number; /* counts from 1 */
    struct str prompt, purpose;
    struct str opts;      /* JSON object as given, for tapes */
    unsigned max_turns;   /* limited as in K23 */
    uint64_t deadline_ms; /* of the whole run, as proc_now_ms */
    size_t max_chars;     /* longer answers are truncated (K24) */
};

struct answer {
    struct str text; /* UTF-8, whole characters */
    bool exhausted, truncated;
    unsigned turns;
};

struct command {
    unsigned number; /* counts from 1 */
    const struct str *argv;
    size_t argc;
    struct str opts;      /* JSON object as given */
    unsigned timeout_s;   /* limited as in K26 */
    uint64_t deadline_ms; /* of the whole run */
    size_t max_chars;     /* longer results are truncated (K29) */
};

struct command_result {
    bool ok;
    int exit_code;     /* -1: not started, or killed */
    struct str result; /* stdout and stderr combined; "error: …" */
    bool truncated;
    struct str rule; /* rule that denied it, or "" */
};

enum step_kind {
    STEP_START,
    STEP_ASK,
    STEP_COMMAND,
    STEP_TRACE,
    STEP_PRINT,
    STEP_FINISH
};

/* An event of the run (K40): for the terminal and the history. */
struct step {
    enum step_kind kind;
    bool done;        /* ASK, COMMAND: false at the start, true at the end */
    uint64_t at_ms;   /* since the start of the run */
    uint64_t took_ms; /* if done */
    const struct ask *ask;
    const struct answer *answer; /* ASK, done */
    const struct command *command;
    const struct command_result *outcome; /* COMMAND, done */
    struct str text; /* TRACE: the kind; PRINT: the line; FINISH: the status */
    struct str data; /* TRACE: JSON object, or "" */
    bool failed;     /* ASK: it ended the run; FINISH: error */
};

/*
 * Implementations of ask and command. If `ask` returns false, the run ends with
 * that error. `command` returns false only if the run must end
 * (ERR_INTERRUPTED); other failures are results. Both return by `deadline_ms`;
 * results are allocated in `a`.
 */
struct runtime_host {
    bool (*ask)(void *ctx, const struct ask *in, struct arena *a,
                struct answer *out, struct err *e);
    bool (*command)(void *ctx, const struct command *in, struct arena *a,
                    struct command_result *out, struct err *e);
    void (*step)(void *ctx, const struct step *s); /* may be NULL */
    void *ctx;
};

struct runtime_job {
    struct str name;    /* name of the metaskill, for messages */
    struct str file;    /* file of the program, for reports */
    struct str program; /* text of the program */
    struct str input;   /* JSON object */
    const struct limits *limits;
    struct runtime_host host;
    struct runtime_ahead *ahead; /* made for this job, or NULL */
};

/* The process of a run, made before it is known whether there will be one: it
 * gives up its rights meanwhile, and waits. */
struct runtime_ahead {
    pid_t pid; /* 0: none */
    int fd;
};

/* The job's texts and limits are those of this moment. A failure makes none:
 * runtime_run() tries again, and reports it. */
void runtime_prepare(const struct runtime_job *job, struct runtime_ahead *out);
/* Ends it, unless runtime_run() took it. Of zeroes, too. */
void runtime_drop(struct runtime_ahead *ahead);

enum runtime_end {
    RUNTIME_COMPLETED,   /* run() returned a value */
    RUNTIME_FAILED,      /* "error: …" */
    RUNTIME_INTERRUPTED, /* "error: …", because of a signal */
};

struct runtime_result {
    enum runtime_end end;
    struct str text;     /* K31, or "error: …" (K33, K34) */
    struct str envelope; /* JSON, one line; "" unless COMPLETED */
    struct str status;   /* that of the envelope; "error" unless COMPLETED */
    struct str report;   /* traceback of an error in the program, or "" */
    unsigned asks, commands, traces; /* used; traces: stored */
    uint64_t took_ms;
};

/*
 * Runs the program once, in a child process without rights, for at most
 * run_max_seconds; calls the host in this process. Always sets a result; a
 * failure of the system (no process, no memory) also gives RUNTIME_FAILED.
 * Ownership: allocated in `a`.
 */
void runtime_run(const struct runtime_job *job, struct arena *a,
                 struct runtime_result *out);

/* Return the literal errors of K34 and K33. Allocated in `a`. */
struct str runtime_unknown(struct str name, struct arena *a);
struct str runtime_static(struct str name, struct arena *a);
struct str runtime_not_allowed(struct str name, const char *policy,
                               struct arena *a);
struct str runtime_error(struct str name, const char *why, struct arena *a);

/* Returns the nesting level of runs (MAPM_DEPTH); at least 1 inside of an
 * ask. */
unsigned runtime_depth(void);

#endif
