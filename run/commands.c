#include "commands.h"

#include "mapm/skill_roots.h"

static void note_waiting(void *ctx)
{
    struct run_commands *c = ctx;

    context_note(c->rules.cx,
                 "waiting for another command in this workspace ...");
}

static void note_sandbox(void *ctx, const char *text)
{
    struct run_commands *c = ctx;

    /* Each command of a run has the same reason. */
    if (str_is(c->noticed, text))
        return;
    c->noticed = arena_str(&c->rules.cx->arena, str_cstr(text));
    context_warn(c->rules.cx, "%s", text);
}

static void pass_tick(void *ctx)
{
    struct run_commands *c = ctx;

    if (c->tick)
        c->tick(c->tick_ctx);
}

/* The roots of the library: a command must not write skills or programs that
 * are used afterwards. */
static bool add_skills(struct run_commands *c, struct err *e)
{
    struct library_root *roots;
    struct str *paths;
    size_t count, n = 0;

    if (!skill_roots_places(c->rules.cx, true, &roots, &count, e))
        return false;
    paths = arena_array(&c->rules.cx->arena, count + 1, sizeof *paths);
    for (size_t i = 0; i < count; i++)
        if (roots[i].confined) /* not in the home folder, which is hidden
                                * from commands */
            paths[n++] = roots[i].path;
    c->options.skills = paths;
    c->options.skill_count = n;
    return true;
}

bool run_commands_init(struct run_commands *c, struct context *cx,
                       struct store *store, const struct layer *l,
                       const struct str_list *allow, struct err *e)
{
    *c = (struct run_commands){.rules = {.cx = cx,
                                         .store = store,
                                         .workspace = l->path,
                                         .user = &l->user,
                                         .project = &l->project,
                                         .origins = &l->rules,
                                         .yaml = l->yaml,
                                         .allow = *allow}};
    if (!authorize_rules_init(&c->rules, e))
        return false;
    c->options = (struct command_runner_options){
        .workspace = l->path,
        .sandbox = c->rules.sandbox,
        .network = c->rules.network,
        .waiting = note_waiting,
        .notice = note_sandbox,
        .tick = pass_tick,
        .ctx = c,
    };
    return add_skills(c, e);
}

bool run_commands_run(struct run_commands *c, const struct command *in,
                      struct arena *a, struct command_result *out,
                      struct err *e)
{
    struct command_runner_options o = c->options;
    bool allowed;

    if (!authorize_command(&c->rules, in, a, &allowed, out, e))
        return false;
    if (!allowed)
        return true;
    /* the rule names the path, or matches any program */
    o.by_path = str_has_char(in->argv[0], '/');
    return command_runner_run(&o, in, a, out, e);
}
