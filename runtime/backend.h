#ifndef RUNTIME_BACKEND_H
#define RUNTIME_BACKEND_H

#include "mapm/backend.h"
#include "mapm/runtime.h"

/*
 * backend: the model backends. Each kind is a table of functions.
 *
 *     backend.c          selection, and its reason
 *     backend_cli.c      a program: a preset (mapm/clients_preset.h), or exec:…
 *     backend_http.c     an API: anthropic, openai
 *     backend_replay.c   a tape: replay:FILE
 */

struct preset;

struct backend {
    const struct backend_kind *kind;
    struct str name;     /* "claude", "exec:./x", "anthropic", "replay:f" */
    struct str why;      /* why it was selected, for messages */
    struct str program;  /* absolute path, or URL */
    struct str model;    /* "" for the default of the backend */
    struct arena *arena; /* owner of this struct and its strings */
    const struct preset *preset;
    /* exec: arguments of the program; [0] as configured */
    const struct str *argv;
    size_t argc;
    void *own; /* data of the backend kind */
};

/* A backend selected by name. */
struct backend_request {
    struct str value; /* exec, replay: the text after the colon, else "" */
    const struct project_ask *configured; /* settings of this kind in the
                                           * user's file (url, model, key …),
                                           * or NULL */
    const struct backend_selection *all;
};

struct backend_kind {
    /* Fills the rest of `k`, in which `name`, `why` and `arena` are set. Starts
     * no process and sends no request. */
    bool (*prepare)(struct backend *k, const struct backend_request *w,
                    struct err *e);
    /* See backend_ask. */
    bool (*ask)(struct backend *k, struct str dir, const struct ask *in,
                const struct backend_progress *news, struct arena *a,
                struct answer *out, struct err *e);
};

extern const struct backend_kind backend_cli_kind;
extern const struct backend_kind backend_replay_kind;
/* `k->name` is "anthropic" or "openai". backend_http.c */
extern const struct backend_kind backend_http_kind;

/* Replaces "~" at the beginning of "~/…" by the user's home folder. */
struct str backend_expand_home(struct str path, struct arena *a);

/* Finds a program on PATH that is outside the workspace (row 15). */
MUST_CHECK bool backend_find_program(const struct backend_selection *w,
                                     const char *program, struct arena *a,
                                     struct str *path, struct err *e);

/* For backend_list: returns the URL of an API, "" if it is not usable, and in
 * `note` what is missing ("set ANTHROPIC_API_KEY"). In backend_http.c. */
void backend_http_find(const char *name, const struct backend_request *w,
                       struct arena *a, struct backend_found *out);

/*
 * Converts bytes to the answer for the program (K24, row 22): invalid UTF-8
 * becomes U+FFFD, at most `max_chars` code points. Sets `*truncated` if the
 * answer was cut and never clears it. Allocated in `a`.
 */
struct str backend_text(struct str bytes, size_t max_chars, struct arena *a,
                        bool *truncated);

/* Reports turns and the first non-empty line of `text`; either may be NULL or
 * empty. */
void backend_report_progress(const struct backend_progress *news,
                             unsigned turns, struct str text);

#endif
