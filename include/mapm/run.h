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
 * run: find a metaskill, execute it and record the run: one service for
 * `mapm run`, `mapm mcp` and `mapm test`.
 *
 *     struct run_request --run_execute()--> struct run_result
 *         |
 *         | find        a name, a skill of the library, or one that was read
 *         | check       its files against the lock
 *         | input       of the request, or of a tape
 *         | authorize   not for a replay, which asks and starts nothing
 *         | runtime     ask     --> hooks.ask --> run_ask: the model backend
 *         |             command --> hooks.command --> run_command: policy, sandbox
 *         |             or a tape answers both
 *         ` history, tape
 *
 * Source: DESIGN.md 3.1, 8; REQUIREMENTS K9, K33, K34, K37, X27; THREATS rows
 * 15, 19, 21.
 */

/* --- the metaskill ----------------------------------------------------------- */

struct run_skill {
    struct skill skill;
    struct str fqn;
    struct str digest;              /* "sha256:…", of the lock; "" = local */
    struct str workspace;           /* where it runs, absolute */
    bool is_external;               /* fetched: needs trust */
    bool is_global;                 /* of the user's library */
    bool is_path;                   /* named by its path */
    const struct lock_entry *entry; /* NULL: not installed */
};

/*
 * Finds a skill of the library in its folder: an installed one is that package
 * (X27). Errors: as run_execute and library_open_folder.
 */
MUST_CHECK bool run_skill_read(struct context *cx, struct store *store,
                               struct layer *l, const struct library *library,
                               const struct library_skill *known,
                               struct run_skill *out, struct err *e);

/*
 * `l` is the workspace; with --global a name is of the library alone.
 * Ownership: in the arena of `cx`, borrowing from `l`. A skill without a program
 * is found, too: skill.file is "".
 * Errors: ERR_NOT_FOUND with near names; ERR_USAGE when several are meant;
 * ERR_EDITED when files are missing or not those of the lock.
 */
MUST_CHECK bool run_skill_find(struct context *cx, struct store *store,
                               struct layer *l, struct str name,
                               struct run_skill *out, struct err *e);

/* --- the request ------------------------------------------------------------- */

struct run_execution; /* a run in progress */

/* Progress of an ask or a command under way, four times a second or more. */
struct run_progress {
    struct str backend; /* in use; "": none was selected yet */
    bool is_ask;
    unsigned turns;  /* ask: so far */
    struct str line; /* ask: of the answer; "" = no new one */
};

/* Functions of the caller, each NULL or called in this process. */
struct run_hooks {
    /* As in struct runtime_host, before run_ask() and run_command(), which
     * they may call. */
    bool (*ask)(void *ctx, struct run_execution *x, const struct ask *in,
                struct arena *a, struct answer *out, struct err *e);
    bool (*command)(void *ctx, struct run_execution *x,
                    const struct command *in, struct arena *a,
                    struct command_result *out, struct err *e);
    void (*step)(void *ctx, const struct step *s);
    void (*progress)(void *ctx, const struct run_progress *p);

    /* The input, once the metaskill is known: a JSON object as input_read()
     * returns it. NULL: the request's `input`. */
    bool (*input)(void *ctx, struct arena *a, struct str *out, bool *given,
                  struct err *e);
    /* The limits of the layer (of a tape, when it is replayed) to those of
     * this run. */
    bool (*limits)(void *ctx, struct limits *l, struct err *e);
    /* The row of the history that was begun; 0: none. */
    void (*begun)(void *ctx, uint64_t history_id);
    void *ctx;
};

struct run_request {
    struct context *cx;
    /* NULL for a replay of `skill` alone. Borrowed. */
    struct store *store;
    struct layer *layer; /* the workspace */

    /* Which: the first of these that is set. */
    const struct skill *skill;         /* was read already; with a tape */
    const struct run_skill *found;     /* by run_skill_find(), of `layer` */
    const struct library_skill *known; /* of `library` */
    const struct library *library;
    struct str name; /* a name, a path, or one in full */

    struct str input; /* JSON object; "" = none */
    bool for_model;   /* a model selected it, no person (mapm mcp) */

    struct str backend;    /* --ask; p NULL: environment and configuration */
    struct str_list allow; /* rules of commands for this run, as --allow */

    struct str record, replay; /* files; p NULL: none. Not both */
    const struct tape *tape;   /* to replay; NULL: `replay` names it */

    bool unlisted; /* not in the history */
    /* The row of the history to continue, and its start; 0: a new one. */
    uint64_t history_id;
    int64_t started_ms;

    struct run_hooks hooks;
};

/* --- the result -------------------------------------------------------------- */

enum run_status {
    RUN_COMPLETED,
    RUN_FAILED,      /* the program, an ask, or the machine */
    RUN_INTERRUPTED, /* by a signal */
    /* It did not start: */
    RUN_UNKNOWN,       /* there is no such skill */
    RUN_STATIC,        /* the skill has no program */
    RUN_WITHOUT_INPUT, /* and it needs one (K9) */
    RUN_NOT_ALLOWED,   /* authorize.h */
};

/* How a run differs from its tape. */
enum run_difference {
    REPLAY_SAME,
    REPLAY_OTHER_STEP, /* it asked for something else */
    REPLAY_FEWER_STEPS,
    REPLAY_OTHER_END,
};

struct run_result {
    enum run_status status;
    /* `text` is set whatever the status: "error: …" when it did not complete. */
    struct runtime_result program;
    struct err why; /* UNKNOWN, NOT_ALLOWED: messages and a hint */
    struct run_skill found;
    struct str backend; /* used; "" = none */
    struct err record;  /* ERR_NONE unless the tape was not written */
    enum run_difference difference;
    struct str differences; /* for a person, lines; "" = none */
};

/*
 * Ownership: the result lives in `a`, in the arena of `cx` and in what the
 * request borrows.
 * Errors: the run could not be prepared, and nothing was asked or started:
 * ERR_REFUSED inside of a run, ERR_USAGE, ERR_EDITED for files that are not
 * those of the lock, ERR_INTERRUPTED, those of the hooks and of the store.
 * The outcome of a run is not an error. History never fails a run: the host
 * gets a warning.
 */
MUST_CHECK bool run_execute(const struct run_request *q, struct arena *a,
                            struct run_result *out, struct err *e);

/* For hooks.ask and hooks.command: the model backend, which the first ask
 * selects; the policy and the sandbox. See struct runtime_host. */
MUST_CHECK bool run_ask(struct run_execution *x, const struct ask *in,
                        struct arena *a, struct answer *out, struct err *e);
MUST_CHECK bool run_command(struct run_execution *x, const struct command *in,
                            struct arena *a, struct command_result *out,
                            struct err *e);
/* Selects the backend, unless one was; the first run_ask does. ERR_NOT_FOUND
 * with the ways to name one. */
MUST_CHECK bool run_select_backend(struct run_execution *x, struct err *e);
/* The name of what answers instead of run_ask(), for the history. */
void run_name_backend(struct run_execution *x, struct str name);

/* ERR_REFUSED inside of an ask or a command of a run (MAPM_DEPTH). */
MUST_CHECK bool run_check_nesting(struct err *e);

/* runtime.metaskills of the user and of the workspace. */
enum metaskill_policy run_policy(const struct layer *l);

/* authorize_program() of `found`, in the workspace `l`. */
MUST_CHECK bool run_check_allowed(struct context *cx, struct store *store,
                                  const struct layer *l,
                                  const struct run_skill *found, bool for_model,
                                  struct err *e);

#endif
