#ifndef RUN_COMMANDS_H
#define RUN_COMMANDS_H

#include "mapm/authorize.h"
#include "mapm/command_runner.h"
#include "mapm/layer.h"
#include "mapm/runtime.h"

/* commands: the commands of one run, from the policy to the sandbox. */

struct run_commands {
    struct command_rules rules;
    struct command_runner_options options;
    struct str noticed;      /* the last notice of the sandbox */
    void (*tick)(void *ctx); /* while a command runs; may be set after init */
    void *tick_ctx;
};

/* Ownership: everything is allocated in the arena of `cx`; `layer` and `store`
 * are borrowed. Errors: those of authorize_rules_init(). */
MUST_CHECK bool run_commands_init(struct run_commands *c, struct context *cx,
                                  struct store *store, const struct layer *l,
                                  const struct str_list *allow, struct err *e);

/* See runtime_host.command. */
MUST_CHECK bool run_commands_run(struct run_commands *c,
                                 const struct command *in, struct arena *a,
                                 struct command_result *out, struct err *e);

#endif
