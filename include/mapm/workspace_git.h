#ifndef MAPM_WORKSPACE_GIT_H
#define MAPM_WORKSPACE_GIT_H

#include "base/context.h"
#include "base/proc.h"

/*
 * workspace_git: runs the user's `git` on a repository that may be untrusted.
 *
 * Git starts no filter, hook, monitor, pager, editor or transport that the
 * repository configures, and fetches nothing. GIT_* variables of the caller are
 * removed; only variables that locate the user's own configuration are passed,
 * which determines the repositories that may be read (safe.directory). Output
 * and time are limited.
 *
 * Source: THREATS.md row 15.
 */

#define GIT_RUN_MAX_WORDS 64 /* words of one command */

struct git_run {
    struct context *cx;
    const char *program;
    const char *folder;
    const char *env[16];
};

/* Finds git, excluding programs below `folder`. Git does not search for a
 * repository above `ceiling`; "" is the root of the file system. Allocated in
 * cx->arena. Errors: ERR_NOT_FOUND. */
MUST_CHECK bool git_run_open(struct context *cx, struct str folder,
                             struct str ceiling, struct git_run *out,
                             struct err *e);

/* Runs git with `words` (at most GIT_RUN_MAX_WORDS, ended by NULL) in the
 * folder; the exit status is in `out`. Errors: ERR_LIMIT for too much output or
 * time; those of proc_run(). */
MUST_CHECK bool git_run(const struct git_run *g, const char *const *words,
                        struct str input, struct proc_result *out,
                        struct err *e);

/* Sets the error "git COMMAND: …" with git's message. Returns false. */
bool git_run_failed(const struct proc_result *result, const char *command,
                    struct err *e);

#endif
