#ifndef MAPM_BACKEND_H
#define MAPM_BACKEND_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/project.h"
#include "mapm/runtime.h"

/* backend: the model backends, which answer ask. */

/* Where the choice comes from, in this order (DESIGN.md 8). */
struct backend_selection {
    struct str option;      /* --ask */
    struct str environment; /* MAPM_ASK */
    const struct project *user, *workspace;
    const char *user_name, *workspace_name; /* of these files, for messages */
    struct str dir; /* the workspace: programs inside of it are not found */
    bool offline;   /* no API but one of this machine */
};

struct backend;

/*
 * Selects and prepares a backend; starts nothing. `why` names the source of
 * the selection ("--ask", "config.yaml:3", "the first on PATH"). Errors:
 * ERR_NOT_FOUND with the ways to select one, to be reported at the first ask
 * (DESIGN.md 8), so call it then; ERR_USAGE for an invalid selection.
 */
MUST_CHECK bool backend_select(const struct backend_selection *w,
                               struct arena *a, struct backend **out,
                               struct err *e);
struct str backend_name(const struct backend *k); /* "claude", "exec:./x" … */
struct str backend_why(const struct backend *k);
struct str backend_program(const struct backend *k); /* absolute path, or URL */

/* Progress of an ask under way: turns so far, a line of the answer. */
struct backend_progress {
    void (*tell)(void *ctx, unsigned turns, struct str line);
    void *ctx;
};

/* Sends the prompt and returns the answer, as runtime_host.ask. `dir` absolute:
 * the workspace. */
MUST_CHECK bool backend_ask(struct backend *k, struct str dir,
                            const struct ask *in,
                            const struct backend_progress *news,
                            struct arena *a, struct answer *out, struct err *e);

/* Every backend, for `mapm doctor`: its path or URL, or what is missing. */
struct backend_found {
    const char *name;
    struct str place; /* "" = not there */
    struct str note;
};
struct backend_found *backend_list(const struct backend_selection *w,
                                   struct arena *a, size_t *count);

#endif
