#ifndef MAPM_COMMAND_RUNNER_H
#define MAPM_COMMAND_RUNNER_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/runtime.h"

/* command_runner: one command in the sandbox (THREATS.md 1.6, 2). */

enum sandbox { SANDBOX_ON, SANDBOX_HOME, SANDBOX_OFF };

/* The isolation that this machine supports, for doctor and for messages. */
struct sandbox_support {
    struct str bubblewrap; /* its path; "" = not there */
    bool namespaces;       /* it can be used */
    struct str why_not;    /* when not */
    int landlock_abi;      /* 0 = none */
    bool seccomp;
    bool enough;     /* commands may run */
    struct str hint; /* how to get more isolation */
};
void sandbox_probe(struct str workspace, struct arena *a,
                   struct sandbox_support *out);

struct command_runner_options {
    struct str workspace; /* absolute */
    enum sandbox sandbox;
    bool network;
    /* `rule` names the program by a path: it may lie in the workspace. */
    bool by_path;
    const struct str *skills; /* absolute: folders of skills, which a command
                               * may not change where they are inside of it */
    size_t skill_count;
    void (*waiting)(void *ctx); /* another command runs in this workspace */
    void (*notice)(void *ctx, const char *text); /* a warning for the user */
    void (*tick)(void *ctx); /* four times a second or more, while it runs */
    void *ctx;
};

/* Runs one allowed command, as runtime_host.command: a failure is a result
 * "error: …". */
MUST_CHECK bool command_runner_run(const struct command_runner_options *o,
                                   const struct command *in, struct arena *a,
                                   struct command_result *out, struct err *e);

#endif
