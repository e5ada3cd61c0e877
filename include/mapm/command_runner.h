#ifndef MAPM_COMMAND_RUNNER_H
#define MAPM_COMMAND_RUNNER_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/runtime.h"

/* command_runner: runs one command in the sandbox (THREATS.md 1.6, 2). */

enum sandbox { SANDBOX_ON, SANDBOX_HOME, SANDBOX_OFF };

/* Isolation mechanisms that this machine supports, for doctor and messages. */
struct sandbox_support {
    struct str bubblewrap; /* path; "" if not installed */
    bool namespaces;       /* bubblewrap can create namespaces */
    struct str why_not;    /* reason if not */
    int landlock_abi;      /* 0: not supported */
    bool seccomp;
    bool enough;     /* sufficient to run commands */
    struct str hint; /* how to enable more isolation */
};
void sandbox_probe(struct str workspace, struct arena *a,
                   struct sandbox_support *out);

struct command_runner_options {
    struct str workspace; /* absolute path */
    enum sandbox sandbox;
    bool network;
    /* The rule names the program by a path, so it may be in the workspace. */
    bool by_path;
    /* Absolute paths of skill folders; a command must not change those
     * in the workspace. */
    const struct str *skills;
    size_t skill_count;
    void (*waiting)(void *ctx); /* called when another command runs in this
                                   workspace */
    void (*notice)(void *ctx, const char *text); /* receives a warning for the
                                                    user */
    void (*tick)(void *ctx); /* called at least four times per second during the
                                run */
    void *ctx;
};

/* Runs one allowed command, see runtime_host.command. A failure gives the
 * result "error: …". */
MUST_CHECK bool command_runner_run(const struct command_runner_options *o,
                                   const struct command *in, struct arena *a,
                                   struct command_result *out, struct err *e);

#endif
