#include "mapm/run.h"

#include "base/fs.h"
#include "base/proc.h"
#include "mapm/diagnostics.h"
#include "mapm/input.h"
#include "mapm/open_store.h"

#include <unistd.h>

#include "../command.h"
#include "run_batch.h"
#include "run_show.h"

/* run: makes a request from the command line, and prints its result. */

struct running {
    struct invocation *inv;
    struct run_show show;
};

/* --- options ------------------------------------------------------------ */

static bool check_usage(const struct invocation *inv, struct err *e)
{
    if (!has_option(inv, OPTION_RECORD) || !has_option(inv, OPTION_REPLAY))
        return true;
    err_set(e, ERR_USAGE, "mapm run: both --record and --replay");
    return err_hint(e, "a run is taped, or plays a tape");
}

/* Sets a limit; one that the workspace lowered cannot be raised. */
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

bool run_set_limits(struct invocation *inv, struct limits *l, struct err *e)
{
    return set_limit(inv, OPTION_MAX_ASK_CALLS, &l->run_max_asks, e) &&
           set_limit(inv, OPTION_MAX_COMMAND_CALLS, &l->run_max_commands, e) &&
           set_limit(inv, OPTION_TIMEOUT, &l->run_max_seconds, e);
}

static bool set_limits(void *ctx, struct limits *l, struct err *e)
{
    return run_set_limits(((struct running *)ctx)->inv, l, e);
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
    return fs_read_user_file(str_dup0(str_from_index(text, 1), &inv->cx.arena),
                             INPUT_MAX_BYTES, &inv->cx.arena, out, e) ||
           err_wrap(e, "--input %.*s", STR_ARG(text));
}

static bool read_input(void *ctx, struct arena *a, struct str *out, bool *given,
                       struct err *e)
{
    struct invocation *inv = ((struct running *)ctx)->inv;
    struct str text;

    if (!read_input_text(inv, &text, e))
        return false;
    if (has_option(inv, OPTION_INPUT) && str_trim(text).n == 0) {
        err_set(e, ERR_USAGE, "--input: there is nothing");
        return err_hint(e, "an empty input is '{}'");
    }
    return input_read(text, inv->arguments.items + 1, inv->arguments.count - 1,
                      a, out, given, e);
}

static void on_step(void *ctx, const struct step *s)
{
    run_show_step(&((struct running *)ctx)->show, s);
}

static void on_progress(void *ctx, const struct run_progress *p)
{
    struct run_show *show = &((struct running *)ctx)->show;

    run_show_backend(show, p->backend);
    if (p->is_ask)
        run_show_news(show, p->turns, p->line);
    else
        run_show_tick(show);
}

/* --- output ------------------------------------------------------------- */

/* Prints a result or the text of a skill: unchanged in a pipe, with control
 * characters made visible on a terminal. */
static void print_line(struct invocation *inv, struct str line)
{
    term_content(&inv->term, line);
    term_write(&inv->term, STR("\n"));
}

/* Prints a result "error: …" on stdout, as hosts expect it (K33). It contains
 * text of the command line and the program, so control characters are always
 * made visible. */
static void print_failure(struct invocation *inv, struct str text,
                          enum err_code code, const struct err *why)
{
    if (has_option(inv, OPTION_JSON))
        print_error_json(
            inv, code,
            str_starts(text, STR("error: ")) ? str_from_index(text, 7) : text,
            why);
    else
        term_print(&inv->term, "%.*s\n", STR_ARG(text));
}

/* Diagnostics about `metaskill` and `metaskill_language` explain why a skill
 * that declares a program has none. */
static void show_why_static(struct invocation *inv, const struct skill *s)
{
    for (size_t i = 0; i < s->why.count; i++) {
        const struct diagnostic *c = &s->why.items[i];

        if (str_is(c->field, "metaskill") ||
            str_is(c->field, "metaskill_language"))
            term_note(&inv->term, "%.*s/SKILL.md:%u: %.*s", STR_ARG(s->folder),
                      c->line, STR_ARG(c->message));
    }
}

static const struct ending {
    enum err_code code;
    int exit_code;
} endings[] = {
    [RUN_COMPLETED] = {ERR_NONE, EXIT_DONE},
    [RUN_FAILED] = {ERR_FAILED, EXIT_FAILED},
    [RUN_INTERRUPTED] = {ERR_INTERRUPTED, EXIT_INTERRUPTED},
    [RUN_UNKNOWN] = {ERR_NOT_FOUND, EXIT_FAILED},
    [RUN_STATIC] = {ERR_NOT_FOUND, EXIT_FAILED},
    [RUN_WITHOUT_INPUT] = {ERR_USAGE, EXIT_FAILED},
    [RUN_NOT_ALLOWED] = {ERR_REFUSED, EXIT_REFUSED},
};

/* Returns whether stdout already contains the reason, so that stderr does not
 * repeat it. */
static bool is_printed(struct str text, const struct err *why)
{
    for (const char *m = NULL; (m = err_next(why, m));)
        if (str_find(text, str_cstr(m)) == SIZE_MAX)
            return false;
    return true;
}

/* Prints a failure once, with its hint. */
static void show_failure(struct invocation *inv, struct str text,
                         const struct err *why)
{
    struct err e = {0};

    if (str_starts(text, STR("error: ")))
        text = str_from_index(text, 7);
    if (!why)
        err_set(&e, ERR_FAILED, "%.*s", STR_ARG(text));
    term_error(&inv->term, why ? why : &e);
}

/* Prints exactly the bytes that a host of metaskills reads [K31, K33]. */
static void print_for_host(struct invocation *inv, const struct run_result *r)
{
    bool is_json = has_option(inv, OPTION_JSON);
    const struct err *why = r->why.code == ERR_NONE ? NULL : &r->why;
    struct err hint = {.code = r->why.code};

    if (r->status == RUN_COMPLETED)
        print_line(inv, is_json ? r->program.envelope : r->program.text);
    else if (r->status == RUN_WITHOUT_INPUT && !is_json)
        print_line(inv, r->program.text);
    else if (r->status == RUN_UNKNOWN && is_json) { /* reported once [D18] */
        if (r->why.hint[0])
            err_hint(&hint, "%s", r->why.hint);
        print_failure(inv, r->program.text, ERR_NOT_FOUND, &hint);
    } else
        print_failure(inv, r->program.text, endings[r->status].code, why);
    if (why && !is_json &&
        (r->status == RUN_UNKNOWN || is_printed(r->program.text, why)))
        term_hint(&inv->term, why);
    else if (why)
        term_error(&inv->term, why);
}

static bool is_for_terminal(const struct invocation *inv)
{
    return inv->term.is_out && !has_option(inv, OPTION_JSON);
}

static void print_result(struct running *running, const struct run_result *r)
{
    struct invocation *inv = running->inv;
    const struct err *why = r->why.code == ERR_NONE ? NULL : &r->why;

    if (!is_for_terminal(inv) || r->status == RUN_WITHOUT_INPUT)
        print_for_host(inv, r);
    else if (r->status != RUN_COMPLETED)
        show_failure(inv, r->program.text, why);
    else if (!run_show_result(&running->show, &r->program))
        print_for_host(inv, r);
    if (r->status == RUN_STATIC)
        show_why_static(inv, &r->found.skill);
    if (r->status != RUN_COMPLETED && r->program.report.n)
        term_note(&inv->term, "%.*s", STR_ARG(str_trim(r->program.report)));
}

/* Compares the run with its tape. In a pipe, stdout contains the result
 * already. */
static bool check_tape(struct invocation *inv, const struct run_request *q,
                       const struct run_result *r)
{
    struct err e = r->record;

    if (r->status == RUN_INTERRUPTED && q->record.p)
        term_note(&inv->term, "interrupted: %.*s is not written",
                  STR_ARG(q->record));
    if (r->differences.n) {
        term_note(&inv->term, "%.*s", STR_ARG(str_trim(r->differences)));
        err_set(&e, ERR_FAILED, "%.*s: the run is not what the tape has",
                STR_ARG(q->replay));
    }
    if (e.code == ERR_NONE)
        return true;
    term_error(&inv->term, &e);
    return false;
}

/* --- the command --------------------------------------------------------------------- */

static bool run(struct running *r, struct store *store, struct layer *l,
                int *exit_code, struct err *e)
{
    struct invocation *inv = r->inv;
    struct limits limits = l->limits;
    struct run_result result;
    const struct run_request q = {
        .cx = &inv->cx,
        .store = store,
        .layer = l,
        .name = inv->arguments.items[0],
        .backend = option_value(inv, OPTION_ASK),
        .allow = option_list(inv, OPTION_ALLOW),
        .record = option_value(inv, OPTION_RECORD),
        .replay = option_value(inv, OPTION_REPLAY),
        .hooks = {.step = on_step,
                  .progress = on_progress,
                  .input = read_input,
                  .limits = set_limits,
                  .ctx = r},
    };

    /* Check the limits before the skill is looked up: they do not depend on
     * it. */
    if (!set_limits(r, &limits, e))
        return false;
    run_show_init(&r->show, inv, has_option(inv, OPTION_TRACE));
    if (!run_execute(&q, &inv->cx.arena, &result, e))
        return false;
    run_show_done(&r->show);
    print_result(r, &result);
    *exit_code = endings[result.status].exit_code;
    if (!check_tape(inv, &q, &result) && *exit_code == EXIT_DONE)
        *exit_code = EXIT_FAILED;
    return true;
}

/* Prints a failure before the program started as its result, as hosts expect
 * [K33]; not for an invalid command line. */
static bool print_early(struct invocation *inv, int *exit_code,
                        const struct err *e)
{
    struct str text;

    if (is_for_terminal(inv) || has_option(inv, OPTION_JSON) ||
        e->code == ERR_USAGE)
        return false;
    text = runtime_error(inv->arguments.items[0], err_first(e), &inv->cx.arena);
    print_failure(inv, text, e->code, e);
    if (!is_printed(text, e))
        return false;
    term_hint(&inv->term, e);
    *exit_code = exit_code_of(e);
    return true;
}

static bool execute(struct running *r, int *exit_code, struct err *e)
{
    struct invocation *inv = r->inv;
    struct store *store = NULL;
    struct layer l;
    bool ok;

    if (!run_check_nesting(e) || !check_usage(inv, e) ||
        !layer_open_workspace(&inv->cx, LAYER_READ, &l, e))
        return false;
    proc_catch_signals();
    ok = open_store(&inv->cx, &store, e) && run(r, store, &l, exit_code, e);
    close_store(&inv->cx, store);
    layer_close(&l);
    return ok;
}

COMMAND(command_run)
{
    struct running r = {.inv = inv};

    *exit_code = EXIT_FAILED;
    if (has_option(inv, OPTION_BATCH))
        return run_batch(inv, exit_code, e);
    if (!run_without_batch(inv, e))
        return false;
    return execute(&r, exit_code, e) || print_early(inv, exit_code, e);
}
