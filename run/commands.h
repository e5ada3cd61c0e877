#ifndef RUN_COMMANDS_H
#define RUN_COMMANDS_H

#include "mapm/layer.h"
#include "mapm/runtime.h"
#include "mapm/store.h"

/*
 * commands: the commands of one run. Collects what the user's file, mapm.yaml
 * and --allow say of them, asks a person where nobody does, and hands what may
 * run to the sandbox.
 *
 *     config.yaml, --allow ----------> own --.
 *     mapm.yaml: deny; the rest of it        |--> judge --> command_runner_run
 *       once it is accepted ---------> all --'      `--> a question, or "error:"
 *
 * Source: K25, K27; DESIGN.md 3.1; THREATS rows 15, 19.
 */

struct run_commands {
    struct context *cx;
    struct store *store;
    const struct layer *layer;
    struct str_list allow; /* patterns for this run */
    struct policy own;  /* of the user: what it denies, no workspace allows */
    struct policy all;  /* and of the workspace, as far as it counts */
    struct str yaml;    /* mapm.yaml, as it was read or last written */
    const char *reason; /* why what was accepted once is asked again; "" */
    bool accepted;      /* what it allows counts; true when it allows nothing */
    bool told;          /* that it does not */
    struct str noticed; /* what a person was told last */
    struct command_runner_options options;
    void (*tick)(void *ctx); /* while a command runs; may be set after init */
    void *tick_ctx;
};

/*
 * On a terminal asks whether what mapm.yaml allows is to count, once, when it
 * has not been accepted as it is now; --yes is no answer to that. Ownership: all in cx's arena; `layer`
 * and `store` are borrowed. Errors: ERR_USAGE of --allow, ERR_INTERRUPTED, and
 * those of the store.
 */
MUST_CHECK bool run_commands_init(struct run_commands *c, struct context *cx,
                                  struct store *store, const struct layer *l,
                                  const struct str_list *allow, struct err *e);

/* runtime_host.command; `ctx` is the struct run_commands. */
MUST_CHECK bool run_commands_run(void *ctx, const struct command *in,
                                 struct arena *a, struct command_result *out,
                                 struct err *e);

#endif
