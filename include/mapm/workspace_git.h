#ifndef MAPM_WORKSPACE_GIT_H
#define MAPM_WORKSPACE_GIT_H

#include "base/context.h"
#include "base/proc.h"

/*
 * workspace_git: the user's `git`, asked about a repository that others wrote.
 *
 * No filter, hook, monitor, pager, editor or transport that the repository
 * configures is started, nothing is fetched, and no GIT_* variable of the caller
 * has an effect: git gets the variables that find the user's own configuration,
 * which says whose repositories may be read (safe.directory). What it prints and
 * how long it takes is bounded. Source: THREATS.md row 15.
 */

#define GIT_RUN_MAX_WORDS 64 /* of one command */

struct git_run {
    struct context *cx;
    const char *program;
    const char *folder;
    const char *env[16];
};

/*
 * The program, never one below `folder`. Above `ceiling` no repository is looked
 * for; "" for the root of the file system. In cx->arena. ERR_NOT_FOUND without
 * the program.
 */
MUST_CHECK bool git_run_open(struct context *cx, struct str folder,
                             struct str ceiling, struct git_run *out,
                             struct err *e);

/*
 * Runs `words` (at most GIT_RUN_MAX_WORDS, NULL at the end) in the folder, to
 * its end: the exit status is in `out`. Errors: ERR_LIMIT for more output or
 * time; those of proc_run().
 */
MUST_CHECK bool git_run(const struct git_run *g, const char *const *words,
                        struct str input, struct proc_result *out,
                        struct err *e);

/* What git said of its failure, as the error "git COMMAND: …". False. */
bool git_run_failed(const struct proc_result *result, const char *command,
                    struct err *e);

#endif
