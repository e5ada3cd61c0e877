#include "base/env.h"
#include "base/fs.h"
#include "mapm/backend.h"
#include "mapm/input.h"
#include "mapm/run.h"
#include "mapm/run_history.h"
#include "mapm/state_runs.h"

#include "commands.h"
#include "find.h"
#include "tape_file.h"

struct run_execution {
    const struct run_request *q;
    struct context *cx;
    struct arena *a;
    struct run_result *out;
    struct limits limits;
    struct str input;

    struct backend_selection selection;
    struct backend *backend; /* selected by the first model call */
    struct runtime_job job;
    struct runtime_ahead ahead; /* its process */
    struct run_commands commands;
    struct run_history history;

    const struct tape *tape; /* tape to replay, or NULL */
    struct tape parsed;
    struct tape_player player;
    struct tape_recorder recorder;
};

static void set_end(struct run_execution *x, enum run_status status,
                    struct str text)
{
    x->out->status = status;
    x->out->program.text = text;
}

/* --- the request -------------------------------------------------------- */

static struct backend_selection selection_of(const struct run_request *q)
{
    const struct layer *l = q->layer;

    return (struct backend_selection){
        .option = q->backend,
        .environment = env_get("MAPM_ASK"),
        .user = &l->user,
        .workspace = &l->project,
        .user_name = "config.yaml",
        .workspace_name = "mapm.yaml",
        .dir = l->path,
        .offline = q->cx->is_offline,
    };
}

/* Checks the value of --ask: an invalid name fails at once, while a missing
 * backend is reported by the first model call (DESIGN.md 8). */
static bool check_backend(struct run_execution *x, struct err *e)
{
    const struct run_request *q = x->q;
    struct backend *backend;

    if (q->replay.p || q->tape)
        return true;
    x->selection = selection_of(q);
    if (!q->backend.p || q->for_model ||
        backend_select(&x->selection, &x->cx->arena, &backend, e))
        return true;
    if (e->code == ERR_USAGE)
        return false;
    err_clear(e);
    return true;
}

bool run_check_nesting(struct err *e)
{
    if (runtime_depth() == 0)
        return true;
    err_set(e, ERR_REFUSED, "a metaskill cannot be run by a metaskill");
    return err_hint(e, "MAPM_DEPTH says that this is inside of an ask or a "
                       "command");
}

static bool check_request(struct run_execution *x, struct err *e)
{
    const struct run_request *q = x->q;

    return (q->skill || run_check_nesting(e)) &&
           (!q->record.p || tape_file_check(x->cx, q->record, e)) &&
           check_backend(x, e);
}

/* --- the metaskill and its input --------------------------------------------------- */

static bool find_skill(struct run_execution *x, struct err *e)
{
    const struct run_request *q = x->q;
    struct run_skill *found = &x->out->found;

    if (q->skill) {
        found->skill = *q->skill;
        return true;
    }
    if (q->found) {
        *found = *q->found;
        return true;
    }
    if (q->known)
        return run_skill_read(x->cx, q->store, q->layer, q->library, q->known,
                              found, e);
    return run_skill_find(x->cx, q->store, q->layer, q->name, found, e);
}

/* Finds the program; its absence is a result of the run, too (K33, K34). */
static bool find_program(struct run_execution *x, bool *found, struct err *e)
{
    const struct run_request *q = x->q;
    struct str name;

    *found = false;
    if (q->known && !q->known->metaskill) {
        set_end(x, RUN_STATIC, runtime_static(q->known->name, x->a));
        return true;
    }
    if (!find_skill(x, e)) {
        if (e->code != ERR_NOT_FOUND || q->known)
            return false;
        x->out->why = *e;
        err_clear(e);
        set_end(x, RUN_UNKNOWN, runtime_unknown(q->name, x->a));
        return true;
    }
    name = x->out->found.skill.document.name;
    *found = x->out->found.skill.file.n > 0;
    if (!*found)
        set_end(x, RUN_STATIC, runtime_static(name, x->a));
    return true;
}

static bool parse_tape(struct run_execution *x, struct err *e)
{
    struct arena *a = x->a;
    const char *name = str_dup0(x->q->replay, a);
    const struct skill *skill = &x->out->found.skill;
    struct str text;

    if (!fs_read_user_file(name, TAPE_MAX_BYTES, a, &text, e) ||
        !tape_parse(text, name, a, &x->parsed, e))
        return err_wrap(e, "cannot replay %s", name);
    x->tape = &x->parsed;
    if (x->tape->digest.n &&
        !str_eq(tape_digest(skill->program, a), x->tape->digest))
        context_note(x->cx, "%s was recorded with another %.*s", name,
                     STR_ARG(skill->file));
    return true;
}

/* Reads the input; a tape contains the input and limits that it was recorded
 * with. */
static bool read_input(struct run_execution *x, bool *given, struct err *e)
{
    const struct run_request *q = x->q;
    const struct run_hooks *h = &q->hooks;

    *given = false;
    if (h->input ? !h->input(h->ctx, x->a, &x->input, given, e)
                 : !input_read(q->input, NULL, 0, x->a, &x->input, given, e))
        return false;
    x->tape = q->tape;
    if (q->replay.p && !parse_tape(x, e))
        return false;
    if (x->tape && !*given)
        x->input = x->tape->input;
    *given = *given || x->tape;
    return true;
}

static bool set_limits(struct run_execution *x, struct err *e)
{
    const struct run_hooks *h = &x->q->hooks;

    x->limits = x->tape ? x->tape->limits : x->q->layer->limits;
    return !h->limits || h->limits(h->ctx, &x->limits, e);
}

enum metaskill_policy run_policy(const struct layer *l)
{
    return authorize_policy(&l->user, &l->project);
}

bool run_check_allowed(struct context *cx, struct store *store,
                       const struct layer *l, const struct run_skill *found,
                       bool for_model, struct err *e)
{
    const struct program p = {.name = found->fqn,
                              .entry = found->entry,
                              .is_external = found->is_external,
                              .is_global = found->is_global,
                              .workspace = l->path};

    return authorize_program(cx, store, run_policy(l), &p, for_model, e);
}

/* Checks trust. Replaying a tape needs none, since no model is called and
 * nothing is started. */
static bool authorize(struct run_execution *x, bool *allowed, struct err *e)
{
    const struct run_request *q = x->q;
    struct run_result *out = x->out;

    *allowed = x->tape || run_check_allowed(x->cx, q->store, q->layer,
                                            &out->found, q->for_model, e);
    if (*allowed)
        return true;
    if (e->code != ERR_REFUSED)
        return false;
    out->why = *e;
    err_clear(e);
    set_end(x, RUN_NOT_ALLOWED,
            runtime_not_allowed(out->found.skill.document.name,
                                authorize_policy_name(run_policy(q->layer)),
                                x->a));
    return true;
}

/* --- functions of the host ---------------------------------------------- */

static void report_progress(struct run_execution *x, struct run_progress p)
{
    const struct run_hooks *h = &x->q->hooks;

    p.backend = x->out->backend;
    if (h->progress)
        h->progress(h->ctx, &p);
}

static void on_news(void *ctx, unsigned turns, struct str line)
{
    report_progress(ctx, (struct run_progress){
                             .is_ask = true, .turns = turns, .line = line});
}

static void on_tick(void *ctx)
{
    report_progress(ctx, (struct run_progress){.line = STR("")});
}

bool run_select_backend(struct run_execution *x, struct err *e)
{
    if (x->backend)
        return true;
    if (!backend_select(&x->selection, &x->cx->arena, &x->backend, e))
        return false;
    run_name_backend(x, backend_name(x->backend));
    on_news(x, 0, STR(""));
    return true;
}

void run_name_backend(struct run_execution *x, struct str name)
{
    x->out->backend = name;
}

bool run_ask(struct run_execution *x, const struct ask *in, struct arena *a,
             struct answer *out, struct err *e)
{
    const struct backend_progress news = {on_news, x};

    return run_select_backend(x, e) &&
           backend_ask(x->backend, x->q->layer->path, in,
                       x->q->hooks.progress ? &news : NULL, a, out, e);
}

bool run_command(struct run_execution *x, const struct command *in,
                 struct arena *a, struct command_result *out, struct err *e)
{
    return run_commands_run(&x->commands, in, a, out, e);
}

static bool host_ask(void *ctx, const struct ask *in, struct arena *a,
                     struct answer *out, struct err *e)
{
    struct run_execution *x = ctx;
    const struct run_hooks *h = &x->q->hooks;

    return h->ask ? h->ask(h->ctx, x, in, a, out, e)
                  : run_ask(x, in, a, out, e);
}

static bool host_command(void *ctx, const struct command *in, struct arena *a,
                         struct command_result *out, struct err *e)
{
    struct run_execution *x = ctx;
    const struct run_hooks *h = &x->q->hooks;

    return h->command ? h->command(h->ctx, x, in, a, out, e)
                      : run_command(x, in, a, out, e);
}

/* --- history ---------------------------------------------------------------------------- */

static void warn_history(struct run_execution *x, const struct err *e)
{
    context_warn(x->cx, "this run is not recorded: %s", err_first(e));
}

/* Writes the row of the history while the interpreter starts, but before any of
 * its requests is executed. */
static void begin_history(struct run_execution *x)
{
    const struct run_request *q = x->q;
    const struct state_run first = {
        .id = q->history_id,
        .name = x->out->found.fqn,
        .digest = x->out->found.digest,
        .workspace = x->out->found.workspace,
        .started_ms = q->started_ms,
    };
    struct err why = {0};

    if (q->unlisted)
        return;
    if (!run_history_begin(&x->history, q->store,
                           run_keep(&q->layer->user, &q->layer->project),
                           &first, x->input, &why))
        warn_history(x, &why);
    run_history_limits(&x->history, &x->limits);
    if (q->hooks.begun)
        q->hooks.begun(q->hooks.ctx, x->history.run.id);
}

static void end_history(struct run_execution *x)
{
    struct err why = {0};

    if (!run_history_end(&x->history, &x->out->program, x->out->backend, &why))
        warn_history(x, &why);
}

static void host_step(void *ctx, const struct step *s)
{
    struct run_execution *x = ctx;
    const struct run_hooks *h = &x->q->hooks;

    if (s->kind == STEP_START)
        begin_history(x);
    if (h->step)
        h->step(h->ctx, s);
    run_history_step(&x->history, s);
    if (s->kind == STEP_FINISH)
        end_history(x);
}

/* --- the run ------------------------------------------------------------------------------ */

/* All results pass through one function, so that the record contains the same
 * result. */
static bool set_host(struct run_execution *x, struct runtime_host *out,
                     struct err *e)
{
    const struct run_request *q = x->q;
    const struct skill *skill = &x->out->found.skill;

    if (x->tape) {
        x->player = (struct tape_player){.tape = x->tape,
                                         .step = q->hooks.step,
                                         .ctx = q->hooks.ctx,
                                         .arena = x->a};
        *out = tape_replay(&x->player);
        return true;
    }
    *out = (struct runtime_host){host_ask, host_command, host_step, x};
    if (!run_commands_init(&x->commands, x->cx, q->store, q->layer, &q->allow,
                           e))
        return false;
    if (q->hooks.progress) {
        x->commands.tick = on_tick;
        x->commands.tick_ctx = x;
    }
    if (q->record.p) {
        x->recorder.inner = *out;
        *out = tape_record(&x->recorder);
        tape_begin(&x->recorder, skill->document.name,
                   tape_digest(skill->program, x->a), x->input, &x->limits);
    }
    return true;
}

/* An interrupted run writes and compares no tape. */
static void end_tape(struct run_execution *x)
{
    struct run_result *out = x->out;

    if (out->status == RUN_INTERRUPTED)
        return;
    if (x->q->record.p && !tape_file_write(x->q->record, &x->recorder,
                                           &out->program, x->a, &out->record))
        return;
    if (!x->tape)
        return;
    out->differences = tape_verify(&x->player, &out->program, x->a);
    if (x->player.difference.n)
        out->difference = REPLAY_OTHER_STEP;
    else if (x->player.at < x->tape->count)
        out->difference = REPLAY_FEWER_STEPS;
    else if (out->differences.n)
        out->difference = REPLAY_OTHER_END;
}

static bool run_program(struct run_execution *x, struct err *e)
{
    static const enum run_status statuses[] = {
        [RUNTIME_COMPLETED] = RUN_COMPLETED,
        [RUNTIME_FAILED] = RUN_FAILED,
        [RUNTIME_INTERRUPTED] = RUN_INTERRUPTED,
    };

    if (!set_host(x, &x->job.host, e))
        return false;
    runtime_run(&x->job, x->a, &x->out->program);
    x->out->status = statuses[x->out->program.end];
    end_tape(x);
    return true;
}

/* Of an installed program trust is looked up in the store: meanwhile the process
 * starts, and has no part of the program executed. */
static void prepare(struct run_execution *x)
{
    const struct skill *skill = &x->out->found.skill;

    x->job = (struct runtime_job){
        .name = x->q->skill ? x->q->name : skill->document.name,
        .file = skill->file,
        .program = skill->program,
        .input = x->input,
        .limits = &x->limits,
        .ahead = &x->ahead,
    };
    if (x->out->found.is_external && !x->tape)
        runtime_prepare(&x->job, &x->ahead);
}

static bool execute(struct run_execution *x, struct err *e)
{
    bool found, given, allowed;

    if (!check_request(x, e) || !find_program(x, &found, e))
        return false;
    if (!found)
        return true;
    if (!read_input(x, &given, e))
        return false;
    if (!given) {
        set_end(x, RUN_WITHOUT_INPUT,
                input_missing(&x->out->found.skill, x->a));
        return true;
    }
    if (!set_limits(x, e))
        return false;
    prepare(x);
    return authorize(x, &allowed, e) && (!allowed || run_program(x, e));
}

bool run_execute(const struct run_request *q, struct arena *a,
                 struct run_result *out, struct err *e)
{
    struct run_execution x = {.q = q, .cx = q->cx, .a = a, .out = out};
    bool ok;

    *out = (struct run_result){.backend = STR(""), .differences = STR("")};
    ok = execute(&x, e);
    runtime_drop(&x.ahead);
    buf_done(&x.recorder.lines);
    return ok;
}
