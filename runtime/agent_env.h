#ifndef RUNTIME_AGENT_ENV_H
#define RUNTIME_AGENT_ENV_H

#include "mapm/runtime.h"

struct preset;

/*
 * agent_env: the environment of a program that answers, and what of it must
 * not be seen.
 *
 * A list of what is let through, nothing else (row 20): what every program
 * needs, what the preset names, and what MAPM_ASK_ENV names ("X Y_*", by the
 * user), MAPM_HOME, and MAPM_DEPTH, MAPM_PURPOSE, MAPM_MAX_TURNS, MAPM_ASK_NUMBER. PATH
 * comes without relative elements. `p` NULL: exec.
 */
struct agent_env {
    const char **vars; /* "X=value", NULL at the end */
    size_t count, capacity;
    struct arena *arena;
};

void agent_env_build(struct agent_env *env, const struct preset *p,
                     const struct ask *in, struct arena *a);

/*
 * What a program says of itself, fit for an error: UTF-8, no colours or control
 * characters, at most `max_chars`, and "***" for each value of a variable that
 * is a secret by its name. In `a`.
 */
struct str agent_env_hide(const struct agent_env *env, struct str text,
                          size_t max_chars, struct arena *a);

#endif
