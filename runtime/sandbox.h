#ifndef RUNTIME_SANDBOX_H
#define RUNTIME_SANDBOX_H

#include "mapm/command_runner.h"

#include "places.h"

/*
 * sandbox: the isolation of one command, as argv and environment of the
 * program that sets it up.
 *
 *     SANDBOX_BOTH   bwrap … -- mapm-cage … -- PROGRAM
 *     SANDBOX_HELPER mapm-cage -a … -- PROGRAM        without bubblewrap
 *     SANDBOX_NONE   mapm-cage -o … -- PROGRAM        policy.sandbox: off
 *
 * Source: THREATS.md 1.6, 2.
 */

enum sandbox_way { SANDBOX_BOTH, SANDBOX_HELPER, SANDBOX_NONE };

struct sandbox_job {
    enum sandbox_way way;
    enum sandbox mode;
    bool network;
    bool sized;           /* bwrap supports --size */
    struct str workspace; /* with links resolved */
    struct str bubblewrap, helper;
    struct str program;
    const struct str *argv;
    size_t argc;
    struct str scratch;   /* HELPER: temporary folder for the command */
    struct places places; /* protected files, added by the caller */
};

struct sandbox_start {
    const char *const *argv;
    const char *const *env;
};

/* Builds argv and environment, allocated in `a`. Normalizes the places. */
void sandbox_build(struct sandbox_job *job, struct arena *a,
                   struct sandbox_start *out);

/* Finds mapm-cage in the folder of this program, never on PATH. Errors:
 * ERR_NOT_FOUND. */
MUST_CHECK bool sandbox_find_helper(struct arena *a, struct str *path,
                                    struct err *e);

/* Returns the path of bwrap on PATH, outside of the workspace; "" if there is
 * none. */
struct str sandbox_find_bubblewrap(struct str workspace, struct arena *a);

/* Returns $HOME with links resolved; "" if there is none. */
struct str sandbox_home(struct arena *a);

/* A growing argument vector. */
struct words {
    const char **all;
    size_t count, capacity;
    struct arena *arena;
};

/* Parts of sandbox_build: visible paths, and the environment. */
void sandbox_view(struct sandbox_job *job);

/* Returns the PATH of the command: absolute folders outside the workspace, each
 * existing one once. `visit`, which may be NULL, is called for each. Allocated
 * in `a`. */
struct str sandbox_path(const struct sandbox_job *job, struct arena *a,
                        void (*visit)(void *ctx, struct str real), void *ctx);

#endif
