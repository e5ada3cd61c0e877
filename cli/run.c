#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "mapm/layer.h"
#include "mapm/manifest.h"
#include "mapm/open_store.h"
#include "mapm/run_command.h"
#include "mapm/run_setup.h"
#include "mapm/run_tape.h"
#include "mapm/runtime.h"
#include "mapm/store.h"

#include <string.h>
#include <unistd.h>

#include "command.h"
#include "run_show.h"

/*
 * run: joins what a run needs. The program is found and proved, its input
 * read, then runtime_run calls back for each ask and command; behind that
 * stand the back end, the policy and the sandbox, and beside it the terminal,
 * the history and the tape.
 */

struct running {
    struct invocation *inv;
    struct layer layer;
    struct store *store;
    struct run_skill found;
    struct limits limits;
    struct str input;

    struct asker_wishes wishes;
    struct asker *asker; /* chosen by the first ask */
    struct run_commands commands;
    struct run_show show;
    struct run_history history;
    struct runtime_result *result; /* whole at STEP_FINISH */

    struct tape tape;
    struct tape_player player;
    struct tape_recorder recorder;
};

/* --- what the command line says ---------------------------------------------- */

static bool check_usage(struct invocation *inv, struct err *e)
{
    if (has_option(inv, OPTION_RECORD) && has_option(inv, OPTION_REPLAY)) {
        err_set(e, ERR_USAGE, "mapm run: both --record and --replay");
        return err_hint(e, "a run is taped, or plays a tape");
    }
    return !has_option(inv, OPTION_RECORD) ||
           run_tape_check(&inv->cx, option_value(inv, OPTION_RECORD), e);
}

/* What the workspace lowered stays so low: it is the team's word. */
static bool set_limit(struct invocation *inv, enum option_id id,
                      struct limit *limit, struct err *e)
{
    struct str text = option_value(inv, id);
    uint64_t n, most = limit->ceiling;

    if (!text.p)
        return true;
    if (str_starts(limit->from, STR("mapm.yaml:")) && limit->value < most)
        most = limit->value;
    if (str_number(text, most, &n) && n >= limit->least) {
        limit->value = n;
        limit->from = arena_printf(&inv->cx.arena, "--%s", options[id].name);
        return true;
    }
    err_set(e, ERR_USAGE, "--%s must be from %llu to %llu", options[id].name,
            (unsigned long long)limit->least, (unsigned long long)most);
    if (most < limit->ceiling)
        err_hint(e, "%.*s sets %s", STR_ARG(limit->from), limit->name);
    return false;
}

static bool set_limits(struct running *r, struct err *e)
{
    struct invocation *inv = r->inv;

    return set_limit(inv, OPTION_MAX_ASK_CALLS, &r->limits.run_max_asks, e) &&
           set_limit(inv, OPTION_MAX_COMMAND_CALLS, &r->limits.run_max_commands,
                     e) &&
           set_limit(inv, OPTION_TIMEOUT, &r->limits.run_max_seconds, e);
}

/* --input JSON, @FILE or "-". */
static bool read_input_text(struct invocation *inv, struct str *out,
                            struct err *e)
{
    struct str text = option_value(inv, OPTION_INPUT);

    *out = STR("");
    if (!text.p)
        return true;
    if (str_is(text, "-"))
        return fs_read_fd(STDIN_FILENO, INPUT_MAX_BYTES, &inv->cx.arena, out,
                          e) ||
               err_wrap(e, "read the input from standard input");
    if (!str_starts(text, STR("@"))) {
        *out = text;
        return true;
    }
    return fs_read_user_file(str_c(str_from_index(text, 1), &inv->cx.arena),
                             INPUT_MAX_BYTES, &inv->cx.arena, out, e) ||
           err_wrap(e, "--input %.*s", STR_ARG(text));
}

static bool read_input(struct running *r, bool *given, struct err *e)
{
    struct invocation *inv = r->inv;
    struct str text;

    if (!read_input_text(inv, &text, e))
        return false;
    if (has_option(inv, OPTION_INPUT) && str_trim(text).n == 0) {
        err_set(e, ERR_USAGE, "--input: there is nothing");
        return err_hint(e, "an empty input is '{}'");
    }
    return input_read(text, inv->arguments.items + 1, inv->arguments.count - 1,
                      &inv->cx.arena, &r->input, given, e);
}

/* --- what is printed ------------------------------------------------------------ */

/* `why` is what a person gets on stderr beside it; NULL: nothing. */
static void print_failure_json(struct invocation *inv, struct str text,
                               enum err_code code, const struct err *why)
{
    struct json_writer w;
    struct buf b;

    if (str_starts(text, STR("error: ")))
        text = str_from_index(text, 7);
    buf_init(&b, SIZE_MAX / 4);
    json_writer_init(&w, &b, 2);
    json_begin_object(&w);
    json_member_string(&w, "schema", STR("mapm.error/1"));
    json_key(&w, "error");
    json_begin_object(&w);
    json_member_string(&w, "code", str_from(err_code_name(code)));
    json_key(&w, "messages");
    json_begin_array(&w);
    json_string(&w, text);
    for (const char *m = why ? err_prev(why, NULL) : NULL; m;
         m = err_prev(why, m))
        json_string(&w, str_from(m));
    json_end_array(&w);
    if (why && why->hint[0])
        json_member_string(&w, "hint", str_from(why->hint));
    json_end_object(&w);
    json_end_object(&w);
    print_json(inv, &b);
    buf_done(&b);
}

/* A result, or the text of a skill: as it is for programs; made visible for
 * eyes. */
static void print_line(struct invocation *inv, struct str line)
{
    term_content(&inv->term, line);
    term_write(&inv->term, STR("\n"));
}

/* An "error: …" that is the result: on stdout, as hosts expect it (K33). It
 * holds words of the command line and of the program: made visible for all. */
static void print_failure(struct invocation *inv, struct str text,
                          enum err_code code, const struct err *why)
{
    if (has_option(inv, OPTION_JSON))
        print_failure_json(inv, text, code, why);
    else
        term_print(&inv->term, "%.*s\n", STR_ARG(text));
}

static void print_result(struct running *r, const struct runtime_result *result)
{
    struct invocation *inv = r->inv;

    if (result->end != RUNTIME_COMPLETED) {
        print_failure(inv, result->text,
                      result->end == RUNTIME_INTERRUPTED ? ERR_INTERRUPTED
                                                         : ERR_FAILED,
                      NULL);
        if (result->report.n)
            term_note(&inv->term, "%.*s", STR_ARG(str_trim(result->report)));
        return;
    }
    print_line(inv,
               has_option(inv, OPTION_JSON) ? result->envelope : result->text);
}

/* --- may it run? ------------------------------------------------------------------ */

static bool refuse(struct running *r, int *exit_code, struct err *e)
{
    struct invocation *inv = r->inv;

    if (e->code != ERR_REFUSED)
        return false;
    print_failure(inv,
                  runtime_not_allowed(r->found.skill.document.name,
                                      run_policy_name(run_policy_of(&r->layer)),
                                      &inv->cx.arena),
                  ERR_REFUSED, e);
    term_error(&inv->term, e);
    *exit_code = EXIT_REFUSED;
    return true;
}

/* --- the host ---------------------------------------------------------------------- */

static bool host_ask(void *ctx, const struct ask *in, struct arena *a,
                     struct answer *out, struct err *e)
{
    struct running *r = ctx;
    const struct asker_news news = {run_show_news, &r->show};

    if (!r->asker) {
        if (!asker_choose(&r->wishes, &r->inv->cx.arena, &r->asker, e))
            return false;
        run_show_asker(&r->show, asker_name(r->asker));
    }
    return asker_ask(r->asker, r->layer.path, in, &news, a, out, e);
}

static bool host_command(void *ctx, const struct command *in, struct arena *a,
                         struct outcome *out, struct err *e)
{
    struct running *r = ctx;

    return run_commands_run(&r->commands, in, a, out, e);
}

/* History never fails a run. */
static void warn_history(struct invocation *inv, const struct err *e)
{
    term_warn(&inv->term, "this run is not remembered: %s", err_first(e));
}

/* Beside the interpreter, which has started by then; but the row is there before
 * anything that it asks for is done. */
static void begin_history(struct running *r)
{
    const struct store_run first = {
        .name = r->found.fqn,
        .digest = r->found.digest,
        .workspace = r->found.workspace,
    };
    struct err why = {0};

    if (!run_history_begin(&r->history, r->store, run_keep_of(&r->layer),
                           &first, r->input, &why))
        warn_history(r->inv, &why);
    run_history_limits(&r->history, &r->limits);
}

static void end_history(struct running *r)
{
    struct err why = {0};

    if (!run_history_end(&r->history, r->result,
                         r->asker ? asker_name(r->asker) : STR(""), &why))
        warn_history(r->inv, &why);
}

static void host_step(void *ctx, const struct step *s)
{
    struct running *r = ctx;

    if (s->kind == STEP_START)
        begin_history(r);
    run_show_step(&r->show, s);
    run_history_step(&r->history, s);
    if (s->kind == STEP_FINISH)
        end_history(r);
}

/* Each of them answers in the same way; what is taped is what came of it. */
static bool set_host(struct running *r, struct runtime_host *out, struct err *e)
{
    struct invocation *inv = r->inv;
    const struct str_list allow = option_list(inv, OPTION_ALLOW);

    if (has_option(inv, OPTION_REPLAY)) {
        *out = tape_replay(&r->player);
        return true;
    }
    *out = (struct runtime_host){host_ask, host_command, host_step, r};
    if (!run_commands_init(&r->commands, &inv->cx, r->store, &r->layer, &allow,
                           e))
        return false;
    r->commands.tick = run_show_tick;
    r->commands.tick_ctx = &r->show;
    if (has_option(inv, OPTION_RECORD)) {
        r->recorder.inner = *out;
        buf_init(&r->recorder.lines, TAPE_MAX_BYTES);
        *out = tape_record(&r->recorder);
        tape_begin(&r->recorder, r->found.skill.document.name,
                   tape_digest(r->found.skill.program, &inv->cx.arena),
                   r->input, &r->limits);
    }
    return true;
}

/* --- tapes ----------------------------------------------------------------------------- */

static bool read_tape(struct running *r, bool *given, struct err *e)
{
    struct invocation *inv = r->inv;
    const char *name = str_c(option_value(inv, OPTION_REPLAY), &inv->cx.arena);
    struct str text;

    if (!fs_read_user_file(name, TAPE_MAX_BYTES, &inv->cx.arena, &text, e) ||
        !tape_parse(text, name, &inv->cx.arena, &r->tape, e))
        return err_wrap(e, "cannot replay %s", name);
    r->player = (struct tape_player){
        .tape = &r->tape,
        .step = run_show_step,
        .ctx = &r->show,
        .arena = &inv->cx.arena,
    };
    if (!*given) /* the tape knows what it was recorded with */
        r->input = r->tape.input;
    *given = true;
    r->limits = r->tape.limits;
    if (r->tape.digest.n &&
        !str_eq(tape_digest(r->found.skill.program, &inv->cx.arena),
                r->tape.digest))
        term_note(&inv->term, "%s was recorded with another %.*s", name,
                  STR_ARG(r->found.skill.file));
    return set_limits(r, e);
}

/* --- the run ----------------------------------------------------------------------------- */

static bool run_program(struct running *r, struct runtime_result *result,
                        struct err *e)
{
    struct invocation *inv = r->inv;
    struct runtime_job job = {
        .name = r->found.skill.document.name,
        .file = r->found.skill.file,
        .program = r->found.skill.program,
        .input = r->input,
        .limits = &r->limits,
    };

    r->result = result;
    run_show_init(&r->show, inv, has_option(inv, OPTION_TRACE));
    if (!set_host(r, &job.host, e))
        return false;
    runtime_run(&job, &inv->cx.arena, result);
    run_show_done(&r->show);
    return true;
}

static int exit_of_end(enum runtime_end end)
{
    return end == RUNTIME_COMPLETED     ? EXIT_DONE
           : end == RUNTIME_INTERRUPTED ? EXIT_INTERRUPTED
                                        : EXIT_FAILED;
}

/* Complaints about `metaskill` and `metaskill_language` say why a skill that
 * declares a program has none. */
static void show_why_static(struct invocation *inv, const struct skill *s)
{
    for (size_t i = 0; i < s->why.count; i++) {
        const struct complaint *c = &s->why.items[i];

        if (str_is(c->field, "metaskill") ||
            str_is(c->field, "metaskill_language"))
            term_note(&inv->term, "%.*s/SKILL.md:%u: %.*s", STR_ARG(s->folder),
                      c->line, STR_ARG(c->message));
    }
}

/* K33, K34: what there is no program for is an answer, too. */
static bool find_program(struct running *r, bool *found, struct err *e)
{
    struct invocation *inv = r->inv;
    struct str name = inv->arguments.items[0];

    *found = run_skill_find(&inv->cx, r->store, &r->layer, name, &r->found, e);
    if (!*found) {
        if (e->code != ERR_NOT_FOUND)
            return false;
        print_failure(inv, runtime_unknown(name, &inv->cx.arena), ERR_NOT_FOUND,
                      e);
        term_error(&inv->term, e);
        return true;
    }
    if (r->found.skill.file.n)
        return true;
    *found = false;
    print_failure(inv,
                  runtime_static(r->found.skill.document.name, &inv->cx.arena),
                  ERR_NOT_FOUND, NULL);
    show_why_static(inv, &r->found.skill);
    return true;
}

/* DESIGN.md 8: whether somebody is there to answer is for the first ask to find
 * out; a word behind --ask that can name nobody is wrong from the start. */
static bool check_ask(struct running *r, struct err *e)
{
    struct asker *asker;

    if (!has_option(r->inv, OPTION_ASK) || has_option(r->inv, OPTION_REPLAY) ||
        asker_choose(&r->wishes, &r->inv->cx.arena, &asker, e))
        return true;
    if (e->code == ERR_USAGE)
        return false;
    err_clear(e);
    return true;
}

static bool end_tape(struct running *r, const struct runtime_result *result,
                     struct err *e)
{
    struct invocation *inv = r->inv;

    if (has_option(inv, OPTION_RECORD))
        return run_tape_write(&inv->cx, option_value(inv, OPTION_RECORD),
                              &r->recorder, result, e);
    return !has_option(inv, OPTION_REPLAY) ||
           run_tape_judge(&inv->cx, option_value(inv, OPTION_REPLAY),
                          &r->player, result, e);
}

static bool run(struct running *r, int *exit_code, struct err *e)
{
    struct invocation *inv = r->inv;
    struct runtime_result result = {0};
    bool found, given;

    *exit_code = EXIT_FAILED;
    r->limits = r->layer.limits;
    r->wishes = run_wishes(&inv->cx, option_value(inv, OPTION_ASK), &r->layer);
    if (!set_limits(r, e) || !check_ask(r, e) || !find_program(r, &found, e))
        return false;
    if (!found)
        return true;
    if (!read_input(r, &given, e))
        return false;
    if (has_option(inv, OPTION_REPLAY) && !read_tape(r, &given, e))
        return false;
    if (!given) {
        struct str text = input_missing(&r->found.skill, &inv->cx.arena);

        if (has_option(inv, OPTION_JSON))
            print_failure_json(inv, text, ERR_USAGE, NULL);
        else
            print_line(inv, text);
        return true;
    }
    /* A tape needs no trust: nothing is asked and nothing is run. */
    if (!has_option(inv, OPTION_REPLAY) &&
        !run_check_allowed(&inv->cx, r->store, &r->layer, &r->found, e))
        return refuse(r, exit_code, e);
    if (!run_program(r, &result, e))
        return false;
    print_result(r, &result);
    *exit_code = exit_of_end(result.end);
    if (end_tape(r, &result, e))
        return true;
    /* The result stands on stdout already, for programs alone. */
    term_error(&inv->term, e);
    if (*exit_code == EXIT_DONE)
        *exit_code = EXIT_FAILED;
    return true;
}

COMMAND(command_run)
{
    struct running r = {.inv = inv};
    bool ok;

    if (runtime_depth() > 0) {
        err_set(e, ERR_REFUSED, "a metaskill cannot be run by a metaskill");
        return err_hint(e, "MAPM_DEPTH says that this is inside of an ask or "
                           "a command");
    }
    if (!check_usage(inv, e) ||
        !layer_open_workspace(&inv->cx, LAYER_READ, &r.layer, e))
        return false;
    proc_catch_signals();
    ok = open_store(&inv->cx, &r.store, e) && run(&r, exit_code, e);
    buf_done(&r.recorder.lines);
    close_store(&inv->cx, r.store);
    layer_close(&r.layer);
    return ok;
}
