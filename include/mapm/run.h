#ifndef MAPM_RUN_H
#define MAPM_RUN_H

#include "mapm/authorize.h"
#include "mapm/layer.h"
#include "mapm/library.h"
#include "mapm/metaskill.h"
#include "mapm/runtime.h"
#include "mapm/store.h"
#include "mapm/tape.h"

/*
 * run: finds a metaskill, executes it and records the run; used by `mapm run`,
 * `mapm mcp` and `mapm test`.
 *
 *     struct run_request --run_execute()--> struct run_result
 *         |
 *         | find        a name, a skill of the library, or one already read
 *         | check       its files against the lock
 *         | input       of the request, or of a tape
 *         | authorize   not for a replay, which asks and starts nothing
 *         | runtime     ask     --> hooks.ask --> run_ask: the model backend
 *         |             command --> hooks.command --> run_command: sandbox
 *         |             or a tape answers both
 *         ` history, tape
 *
 * Source: DESIGN.md 3.1, 8; REQUIREMENTS K9, K33, K34, K37, X27; THREATS
 * rows 15, 19, 21.
 */

/* --- the metaskill ----------------------------------------------------------- */

struct run_skill {
    struct skill skill;
    struct str fqn;
    struct str digest;              /* "sha256:…", of the lock; "" if local */
    struct str workspace;           /* workspace of the run, absolute */
    bool is_external;               /* fetched: requires trust */
    bool is_global;                 /* in the user's library */
    bool is_path;                   /* specified by its path */
    const struct lock_entry *entry; /* NULL if not installed */
};

/* Reads a skill of the library from its folder; an installed skill is treated
 * as its package (X27). Errors: as run_execute and library_open_folder. */
MUST_CHECK bool run_skill_read(struct context *cx, struct store *store,
                               struct layer *l, const struct library *library,
                               const struct library_skill *known,
                               struct run_skill *out, struct err *e);

/*
 * Finds a skill by name or path. `l` is the workspace; with --global, names
 * refer to the library only. A skill without a program is also found: then
 * skill.file is "".
 * Ownership: allocated in the arena of `cx`, borrowing from `l`.
 * Errors: ERR_NOT_FOUND with similar names; ERR_USAGE if the name is ambiguous;
 * ERR_EDITED if files are missing or differ from the lock.
 */
MUST_CHECK bool run_skill_find(struct context *cx, struct store *store,
                               struct layer *l, struct str name,
                               struct run_skill *out, struct err *e);

/* --- the request ------------------------------------------------------------- */

struct run_execution; /* a run in progress */

/* Progress of a running ask or command, at least four times per second. */
struct run_progress {
    struct str backend; /* in use; "" if none is selected yet */
    bool is_ask;
    unsigned turns;  /* ask: turns so far */
    struct str line; /* ask: new line of the answer, or "" */
};

/* Callbacks of the caller, in this process. Each may be NULL. */
struct run_hooks {
    /* As in struct runtime_host. They replace run_ask() and run_command(),
     * which they may call. */
    bool (*ask)(void *ctx, struct run_execution *x, const struct ask *in,
                struct arena *a, struct answer *out, struct err *e);
    bool (*command)(void *ctx, struct run_execution *x,
                    const struct command *in, struct arena *a,
                    struct command_result *out, struct err *e);
    void (*step)(void *ctx, const struct step *s);
    void (*progress)(void *ctx, const struct run_progress *p);

    /* Gets the input when the metaskill is known: a JSON object as returned by
     * input_read(). NULL for the `input` of the request. */
    bool (*input)(void *ctx, struct arena *a, struct str *out, bool *given,
                  struct err *e);
    /* Changes the limits of the layer (or of the tape in a replay) to
     * those of this run. */
    bool (*limits)(void *ctx, struct limits *l, struct err *e);
    /* Receives the id of the new row of the history; 0 if there is none. */
    void (*begun)(void *ctx, uint64_t history_id);
    void *ctx;
};

struct run_request {
    struct context *cx;
    /* Borrowed; NULL for a replay of `skill`. */
    struct store *store;
    struct layer *layer; /* layer of the workspace */

    /* The metaskill: the first of these members that is set. */
    const struct skill *skill;         /* already read; for a tape */
    const struct run_skill *found;     /* result of run_skill_find() for
                                          `layer` */
    const struct library_skill *known; /* skill of `library` */
    const struct library *library;
    struct str name; /* short name, qualified name or path */

    struct str input; /* JSON object; "" if none */
    bool for_model;   /* selected by a model instead of the user (mapm mcp) */

    struct str backend;    /* --ask; p NULL: from environment or
                              configuration */
    struct str_list allow; /* rules for commands in this run, as --allow */

    struct str record, replay; /* files; p NULL: none. At most one of both */
    const struct tape *tape;   /* tape to replay; NULL: read `replay` */

    bool unlisted; /* do not record in the history */
    /* Row of the history to continue, and its start time; 0 for a new row. */
    uint64_t history_id;
    int64_t started_ms;

    struct run_hooks hooks;
};

/* --- the result -------------------------------------------------------------- */

enum run_status {
    RUN_COMPLETED,
    RUN_FAILED,      /* error in the program, an ask, or the system */
    RUN_INTERRUPTED, /* interrupted by a signal */
    /* The run was not started: */
    RUN_UNKNOWN,       /* the skill does not exist */
    RUN_STATIC,        /* the skill has no program */
    RUN_WITHOUT_INPUT, /* the input is missing (K9) */
    RUN_NOT_ALLOWED,   /* not allowed, see authorize.h */
};

/* How a run differs from its tape. */
enum run_difference {
    REPLAY_SAME,
    REPLAY_OTHER_STEP, /* a request differs */
    REPLAY_FEWER_STEPS,
    REPLAY_OTHER_END,
};

struct run_result {
    enum run_status status;
    /* `text` is always set; "error: …" if the run did not complete. */
    struct runtime_result program;
    struct err why; /* UNKNOWN, NOT_ALLOWED: messages and hint */
    struct run_skill found;
    struct str backend; /* backend that was used, or "" */
    struct err record;  /* error of writing the tape, or ERR_NONE */
    enum run_difference difference;
    struct str differences; /* differences as lines for the user, or "" */
};

/*
 * Executes a run. The outcome of a run is not an error. Errors of the history
 * never fail a run: the host gets a warning.
 * Ownership: the result is allocated in `a` and the arena of `cx`, and
 * borrows from the request. Errors, if the run could not be prepared, and
 * nothing was asked or started: ERR_REFUSED inside of a run, ERR_USAGE,
 * ERR_EDITED for files that differ from the lock, ERR_INTERRUPTED, errors of
 * the hooks and of the store.
 */
MUST_CHECK bool run_execute(const struct run_request *q, struct arena *a,
                            struct run_result *out, struct err *e);

/* For hooks.ask and hooks.command: ask the model backend, which the first ask
 * selects; run a command under policy and sandbox. See struct runtime_host. */
MUST_CHECK bool run_ask(struct run_execution *x, const struct ask *in,
                        struct arena *a, struct answer *out, struct err *e);
MUST_CHECK bool run_command(struct run_execution *x, const struct command *in,
                            struct arena *a, struct command_result *out,
                            struct err *e);
/* Selects the backend, unless one is selected; called by the first run_ask.
 * Errors: ERR_NOT_FOUND with the ways to specify one. */
MUST_CHECK bool run_select_backend(struct run_execution *x, struct err *e);
/* Sets the name of a replacement of run_ask(), for the history. */
void run_name_backend(struct run_execution *x, struct str name);

/* Fails with ERR_REFUSED inside of an ask or a command of a run
 * (MAPM_DEPTH). */
MUST_CHECK bool run_check_nesting(struct err *e);

/* Returns runtime.metaskills, from the user and the workspace. */
enum metaskill_policy run_policy(const struct layer *l);

/* Calls authorize_program() for `found` in the workspace `l`. */
MUST_CHECK bool run_check_allowed(struct context *cx, struct store *store,
                                  const struct layer *l,
                                  const struct run_skill *found, bool for_model,
                                  struct err *e);

#endif
