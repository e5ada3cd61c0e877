#ifndef RUNTIME_AGENT_ENV_H
#define RUNTIME_AGENT_ENV_H

#include "mapm/runtime.h"

struct preset;

/*
 * The environment of a backend program, and the secrets in it. An allowlist
 * (row 20): common variables, those of the preset and those that the user lists
 * in MAPM_ASK_ENV ("X Y_*"), MAPM_HOME, and MAPM_DEPTH, MAPM_PURPOSE,
 * MAPM_MAX_TURNS, MAPM_ASK_NUMBER. Relative elements of PATH are dropped. `p`
 * is NULL for exec.
 */
struct agent_env {
    const char **vars; /* "X=value", terminated by NULL */
    size_t count, capacity;
    struct arena *arena;
};

void agent_env_build(struct agent_env *env, const struct preset *p,
                     const struct ask *in, struct arena *a);

/*
 * Formats the output of a program for an error message: UTF-8, without colors
 * and control characters, at most `max_chars`, and with "***" in place of the
 * value of each variable whose name marks a secret. Allocated in `a`.
 */
struct str agent_env_hide(const struct agent_env *env, struct str text,
                          size_t max_chars, struct arena *a);

#endif
