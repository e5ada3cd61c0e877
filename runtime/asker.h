#ifndef RUNTIME_ASKER_H
#define RUNTIME_ASKER_H

#include "mapm/runtime.h"

/*
 * asker, inside: one kind of back end is a row of functions.
 *
 *     asker.c          which one, and why
 *     asker_program.c  a program: a preset (mapm/clients_preset.h), or exec:…
 *     asker_http.c     an API: anthropic, openai
 *     asker_replay.c   a tape: replay:FILE
 */

struct preset;

struct asker {
    const struct asker_kind *kind;
    struct str name;     /* "claude", "exec:./x", "anthropic", "replay:f" */
    struct str why;      /* where the choice comes from */
    struct str program;  /* absolute path, or URL */
    struct str model;    /* "" = its own */
    struct arena *arena; /* where it lives */
    const struct preset *preset;
    const struct str *argv; /* exec: the program's, [0] as it was named */
    size_t argc;
    void *own; /* of the kind */
};

/* What was wished for. */
struct asker_wish {
    struct str value; /* exec, replay: what stands behind the colon; else "" */
    const struct project_ask *said; /* what the user's file says of this very
                                     * kind (url, model, key …), or NULL */
    const struct asker_wishes *all;
};

struct asker_kind {
    /* Fills the rest of `k`; `name`, `why`, `arena` are there. Starts nothing,
     * asks no network. */
    bool (*prepare)(struct asker *k, const struct asker_wish *w, struct err *e);
    /* As asker_ask has it. */
    bool (*ask)(struct asker *k, struct str dir, const struct ask *in,
                const struct asker_news *news, struct arena *a,
                struct answer *out, struct err *e);
};

extern const struct asker_kind asker_program_kind;
extern const struct asker_kind asker_replay_kind;
/* `k->name` is "anthropic" or "openai". asker_http.c */
extern const struct asker_kind asker_http_kind;

/* A program on PATH, and not in the workspace (row 15). */
MUST_CHECK bool asker_find(const struct asker_wishes *w, const char *program,
                           struct arena *a, struct str *path, struct err *e);

/* For asker_list: the place an API would be asked at ("" = it cannot be), and
 * in `note` what is missing ("set ANTHROPIC_API_KEY"). asker_http.c */
void asker_http_find(const char *name, const struct asker_wish *w,
                     struct arena *a, struct asker_found *out);

/*
 * The answer as the program gets it (K24, row 22): what is no UTF-8 becomes
 * U+FFFD, at most `max_chars` code points, `*truncated` set when that cut it
 * (never cleared). In `a`.
 */
struct str asker_text(struct str bytes, size_t max_chars, struct arena *a,
                      bool *truncated);

/* Tells `news` of a turn and the first line with anything in it of `text`;
 * either may be NULL or empty. */
void asker_tell(const struct asker_news *news, unsigned turns, struct str text);

#endif
