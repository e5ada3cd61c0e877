#ifndef MAPM_BACKEND_H
#define MAPM_BACKEND_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/project.h"
#include "mapm/runtime.h"

/* backend: model backends, which answer the ask() calls of metaskills. */

/* Sources of the selection, in order of priority (DESIGN.md 8). */
struct backend_selection {
    struct str option;      /* --ask */
    struct str environment; /* MAPM_ASK */
    const struct project *user, *workspace;
    const char *user_name, *workspace_name; /* names of these files for
                                               messages */
    /* The workspace; programs in it are never selected. */
    struct str dir;
    bool offline; /* only APIs on this machine */
};

struct backend;

/*
 * Selects and prepares a backend without starting it. backend_why() returns the
 * source of the selection ("--ask", "config.yaml:3", "the first on PATH").
 * Errors: ERR_NOT_FOUND with the ways to select a backend, which must be
 * reported at the first ask, so call this function then (DESIGN.md 8);
 * ERR_USAGE for an invalid selection.
 */
MUST_CHECK bool backend_select(const struct backend_selection *w,
                               struct arena *a, struct backend **out,
                               struct err *e);
struct str backend_name(const struct backend *k); /* "claude", "exec:./x" … */
struct str backend_why(const struct backend *k);
struct str backend_program(const struct backend *k); /* absolute path, or URL */

/* Receives the progress of a running ask: number of turns, and a
 * line of the answer. */
struct backend_progress {
    void (*tell)(void *ctx, unsigned turns, struct str line);
    void *ctx;
};

/* Sends the prompt and returns the answer, see runtime_host.ask. `dir` is the
 * absolute path of the workspace. */
MUST_CHECK bool backend_ask(struct backend *k, struct str dir,
                            const struct ask *in,
                            const struct backend_progress *news,
                            struct arena *a, struct answer *out, struct err *e);

/* A known backend, for `mapm doctor`. */
struct backend_found {
    const char *name;
    struct str place; /* path or URL; "" if missing */
    struct str note;
};
struct backend_found *backend_list(const struct backend_selection *w,
                                   struct arena *a, size_t *count);

#endif
