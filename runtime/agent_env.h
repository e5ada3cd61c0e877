#ifndef RUNTIME_AGENT_ENV_H
#define RUNTIME_AGENT_ENV_H

#include "mapm/runtime.h"

struct preset;

/*
 * agent_env: the environment of a backend program, and the secrets in it. An
 * allowlist (row 20): common variables, those of the preset and those that the
 * user lists in MAPM_ASK_ENV ("X Y_*"), MAPM_HOME, and MAPM_DEPTH,
 * MAPM_PURPOSE, MAPM_MAX_TURNS, MAPM_ASK_NUMBER. PATH loses its relative
 * elements. `p` NULL: exec.
 */
struct agent_env {
    const char **vars; /* "X=value", NULL at the end */
    size_t count, capacity;
    struct arena *arena;
};

void agent_env_build(struct agent_env *env, const struct preset *p,
                     const struct ask *in, struct arena *a);

/*
 * Output of a program as part of an error: UTF-8, without colours and control
 * characters, at most `max_chars`, and "***" for each value of a variable
 * whose name marks a secret. In `a`.
 */
struct str agent_env_hide(const struct agent_env *env, struct str text,
                          size_t max_chars, struct arena *a);

#endif
