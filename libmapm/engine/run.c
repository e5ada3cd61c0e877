#include "mapm/run.h"

#include "base/text.h"
#include "mapm/layer.h"

#include "engine.h"

/* The context of the hooks. */
struct running {
    struct engine *g;
    const struct wire_run_request *r;
};

/* --- events -------------------------------------------------------------------------- */

static void put_text(struct engine *g, const struct step *s,
                     struct mapm_event *out)
{
    struct str text = s->text;

    if (s->kind == STEP_ASK && s->done)
        text = s->answer ? s->answer->text : STR("");
    else if (s->kind == STEP_ASK)
        text = s->ask->prompt;
    else if (s->kind == STEP_COMMAND && s->done)
        text = s->outcome ? s->outcome->result : STR("");
    else if (s->kind == STEP_COMMAND)
        text = policy_line(s->command->argv, s->command->argc, &g->cx.arena);
    out->text = engine_text(g, text);
}

static void send_step(void *ctx, const struct step *s)
{
    static const char *const kinds[] = {
        [STEP_START] = "start",     [STEP_ASK] = "ask",
        [STEP_COMMAND] = "command", [STEP_TRACE] = "trace",
        [STEP_PRINT] = "print",     [STEP_FINISH] = "finish",
    };
    struct running *run = ctx;
    struct mapm_event event = {
        .kind = kinds[s->kind],
        .is_done = s->done,
        .is_failed = s->failed,
        .at_ms = s->at_ms,
        .took_ms = s->took_ms,
        .data = engine_text(run->g, s->data),
    };
    struct err ignored = {0};

    if (!run->r->has_event)
        return;
    if (s->kind == STEP_ASK)
        event.number = s->ask->number;
    else if (s->kind == STEP_COMMAND)
        event.number = s->command->number;
    if (s->kind == STEP_COMMAND && s->done && s->outcome)
        event.is_failed = !s->outcome->ok;
    put_text(run->g, s, &event);
    if (!engine_send(run->g, WIRE_EVENT, WIRE_EVENT_RECORD, &event, 1,
                     &ignored))
        err_clear(&ignored);
}

/* --- ask ------------------------------------------------------------------------------- */

static bool ask_host(void *ctx, struct run_execution *x, const struct ask *in,
                     struct arena *a, struct answer *out, struct err *e)
{
    struct running *run = ctx;
    struct engine *g = run->g;
    const struct mapm_ask ask = {
        .number = in->number,
        .prompt = engine_text(g, in->prompt),
        .purpose = engine_text(g, in->purpose),
        .max_turns = in->max_turns,
        .max_chars = in->max_chars,
    };
    struct wire_answer answer;
    struct str text;

    run_name_backend(x, STR("host"));
    if (!engine_send(g, WIRE_ASK, WIRE_ASK_RECORD, &ask, 1, e) ||
        !engine_wait(g, in->deadline_ms, &answer, e))
        return false;
    if (!answer.is_yes)
        return err_set(e, ERR_FAILED, "the host did not answer");
    text = engine_str(answer.text);
    if (!text_is_utf8(text))
        return err_set(e, ERR_FAILED, "the answer of the host is not UTF-8");
    *out = (struct answer){.exhausted = answer.is_exhausted,
                           .turns = answer.turns};
    out->text = arena_str(a, text_cut(text, in->max_chars));
    out->truncated = out->text.n < text.n;
    return true;
}

/* --- the run ------------------------------------------------------------------------------ */

static bool send_result(struct engine *g, const struct run_result *r,
                        struct err *e)
{
    const struct runtime_result *p = &r->program;
    const struct mapm_run_result out = {
        .is_completed = r->status == RUN_COMPLETED,
        .text = engine_text(g, p->text),
        .envelope = engine_text(g, p->envelope),
        .status = engine_text(g, p->status),
        .report = engine_text(g, p->report),
        .asks = p->asks,
        .commands = p->commands,
        .traces = p->traces,
        .took_ms = p->took_ms,
    };

    return engine_send(g, WIRE_RESULT, WIRE_RUN_RESULT, &out, 1, e);
}

/* Converts the status of a run that was not started, or was interrupted, to an
 * error of mapm_run(). */
static bool check_status(const struct run_result *r, struct err *e)
{
    struct str text = r->program.text;

    switch (r->status) {
    case RUN_COMPLETED:
    case RUN_FAILED:
        return true;
    case RUN_INTERRUPTED:
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    case RUN_WITHOUT_INPUT:
        return err_set(e, ERR_USAGE, "%.*s", STR_ARG(text));
    case RUN_NOT_ALLOWED:
    case RUN_UNKNOWN:
        if (r->why.code != ERR_NONE) {
            *e = r->why;
            return false;
        }
        return err_set(e, ERR_NOT_FOUND, "%.*s", STR_ARG(text));
    case RUN_STATIC:
        return err_set(e, ERR_NOT_FOUND, "%.*s", STR_ARG(text));
    }
    return true;
}

static bool run_in(struct engine *g, const struct wire_run_request *r,
                   struct layer *l, struct err *e)
{
    struct arena *a = &g->cx.arena;
    struct str *allow = arena_array(a, r->r.allow_count + 1, sizeof *allow);
    struct running run = {g, r};
    struct run_request q = {
        .cx = &g->cx,
        .store = g->store,
        .layer = l,
        .name = engine_str(r->r.name),
        .input = r->r.input ? str_cstr(r->r.input) : STR("{}"),
        .allow = {allow, r->r.allow_count},
        .hooks = {.step = send_step, .ctx = &run},
    };
    struct run_result result = {0};

    for (size_t i = 0; i < r->r.allow_count; i++)
        allow[i] = str_cstr(r->r.allow[i]);
    if (r->has_ask)
        q.hooks.ask = ask_host;
    if (r->r.backend)
        q.backend = str_cstr(r->r.backend);
    return run_execute(&q, a, &result, e) && check_status(&result, e) &&
           send_result(g, &result, e);
}

bool engine_run(struct engine *g, const struct wire_run_request *r,
                struct err *e)
{
    CLEANUP(layer_close) struct layer l = {0};

    if (!r->r.name || !r->r.name[0])
        return err_set(e, ERR_USAGE, "no metaskill given");
    return engine_store(g, e) &&
           layer_open_workspace(&g->cx, LAYER_READ, &l, e) &&
           run_in(g, r, &l, e);
}
