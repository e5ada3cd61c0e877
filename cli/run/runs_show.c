#include "runs_show.h"

#include "base/json.h"
#include "base/text.h"
#include "mapm/state_runs.h"

#include "../command.h"

#define LABEL_COLUMNS   10
#define LABEL_MAX_CHARS 200 /* of the text of a step without --verbose */

enum term_style runs_style_of(struct str status)
{
    switch (run_tone(status)) {
    case RUN_GOOD:
        return TERM_GREEN;
    case RUN_DOUBTFUL:
        return TERM_YELLOW;
    case RUN_BAD:
        return TERM_RED;
    default:
        return TERM_PLAIN;
    }
}

/* --- for programs ------------------------------------------------------------------ */

void runs_put_json(struct json_writer *w, const struct state_run *r)
{
    char utc[TEXT_TIME_BYTES];

    json_member_number(w, "id", r->id);
    json_member_string(w, "name", r->name);
    json_member_optional(w, "digest", r->digest);
    json_member_string(w, "workspace", r->workspace);
    json_member_string(w, "started", str_cstr(run_utc(r->started_ms, utc)));
    json_member_number(w, "took_ms", r->took_ms);
    json_member_string(w, "status", r->status);
    json_member_optional(w, "error", r->error);
    json_member_optional(w, "asker", r->backend);
    json_member_number(w, "asks", r->asks);
    json_member_number(w, "commands", r->commands);
    json_member_number(w, "traces", r->traces);
    json_member_number(w, "input_bytes", r->input_bytes);
    json_member_number(w, "result_bytes", r->result_bytes);
}

void runs_print_json(struct invocation *inv, const struct state_run *run,
                     const struct run_detail *detail)
{
    struct json_writer *w = print_json_begin(inv, "mapm.run/1", NULL);

    runs_put_json(w, run);
    json_key(w, "detail");
    if (detail->tree)
        json_value(w, detail->tree);
    else
        json_null(w);
    print_json_end(inv);
}

/* --- for people ----------------------------------------------------------------------- */

static void put_line(struct invocation *inv, const char *label,
                     struct str value)
{
    struct buf b;

    if (!value.n)
        return;
    /* Prints one line, escaped. */
    buf_init(&b, 1024 * 1024);
    text_visible(&b, value, false);
    term_style_print(&inv->term, TERM_DIM, "%-*s", LABEL_COLUMNS + 1, label);
    term_print(&inv->term, "%s\n", b.n ? b.p : "");
    buf_done(&b);
}

static void put_budget(struct invocation *inv, const char *label,
                       struct str used, bool limited, uint64_t limit)
{
    struct arena *a = &inv->cx.arena;

    put_line(inv, label,
             limited ? arena_printf(a, "%.*s of %llu", STR_ARG(used),
                                    (unsigned long long)limit)
                     : used);
}

static void put_budgets(struct invocation *inv, const struct state_run *run,
                        const struct run_detail *d)
{
    struct arena *a = &inv->cx.arena;
    bool limited = d->has_limits;
    char seconds[32];

    put_budget(inv, "asks", arena_printf(a, "%u", run->asks), limited,
               d->max_asks);
    put_budget(inv, "commands", arena_printf(a, "%u", run->commands), limited,
               d->max_commands);
    put_budget(inv, "traces", arena_printf(a, "%u", run->traces), limited,
               d->max_traces);
    if (run->took_ms) /* 0 if it has not ended */
        put_line(inv, "took",
                 limited ? arena_printf(a, "%s of %llu s",
                                        run_seconds(run->took_ms, seconds),
                                        (unsigned long long)d->max_seconds)
                         : str_cstr(run_seconds(run->took_ms, seconds)));
}

static void put_header(struct invocation *inv, const struct state_run *run,
                       const struct run_detail *d)
{
    struct arena *a = &inv->cx.arena;
    struct term *t = &inv->term;
    char when[TEXT_TIME_BYTES], in[16], out[16];
    struct str status = run->status;

    term_style_print(t, TERM_BOLD, "run %llu: %.*s",
                     (unsigned long long)run->id,
                     STR_ARG(text_one_line(run->name, a)));
    term_print(t, ", ");
    term_style_print(t, runs_style_of(status), "%.*s\n",
                     STR_ARG(text_one_line(status, a)));
    put_line(inv, "started", str_cstr(run_when(run->started_ms, true, when)));
    put_line(inv, "workspace", run->workspace);
    put_line(inv, "digest", run->digest);
    put_line(inv, "asked", run->backend);
    put_budgets(inv, run, d);
    put_line(inv, "sizes",
             arena_printf(a, "input %s, result %s",
                          text_bytes(run->input_bytes, in),
                          text_bytes(run->result_bytes, out)));
}

/* Prints untrusted text with a bar before each line, to distinguish it from
 * mapm's own lines. */
static void put_untrusted(struct invocation *inv, const char *what,
                          const struct run_text *text)
{
    struct str rest = text->text, line;
    char bytes[16];

    if (!text->kept)
        return;
    term_style_print(&inv->term, TERM_YELLOW, "    %s, %s%s (%s):\n",
                     RUN_UNTRUSTED, text->cut ? "the beginning of the " : "",
                     what, text_bytes(text->bytes, bytes));
    while (str_line(&rest, &line)) {
        struct buf b;

        buf_init(&b, 16u * 1024 * 1024);
        text_visible(&b, line, false);
        term_print(&inv->term, "    | %s\n", b.n ? b.p : "");
        buf_done(&b);
    }
}

static void put_texts(struct invocation *inv, const struct run_step *s)
{
    put_untrusted(inv, "prompt", &s->in);
    put_untrusted(inv,
                  s->kind == STEP_ASK       ? "answer"
                  : s->kind == STEP_COMMAND ? "output"
                                            : "line",
                  &s->out);
}

/* Prints "  12.3 s   3.4 s  ask 1: fix-tests (3 turns, 1.2 kB)". */
static void put_step(struct invocation *inv, const struct run_step *s)
{
    bool has_ends = s->kind == STEP_ASK || s->kind == STEP_COMMAND;
    struct arena *a = &inv->cx.arena;
    struct str outcome = run_step_outcome(s, a), label = run_step_label(s, a);
    struct term *t = &inv->term;
    char at[32], took[32];
    struct buf b;

    buf_init(&b, 16u * 1024 * 1024);
    if (!has_option(inv, OPTION_VERBOSE) &&
        text_cut(label, LABEL_MAX_CHARS).n < label.n)
        label = arena_printf(a, "%.*s...",
                             STR_ARG(text_cut(label, LABEL_MAX_CHARS)));
    text_visible(&b, label, false);
    if (s->kind == STEP_TRACE && s->data.n) {
        buf_char(&b, ' ');
        text_visible(&b, s->data, false);
    }
    term_style_print(t, TERM_DIM, "%12s %12s  ", run_seconds(s->at_ms, at),
                     has_ends && !s->unfinished ? run_seconds(s->took_ms, took)
                                                : "");
    term_print(t, "%s", run_step_kind(s));
    if (has_ends)
        term_print(t, " %u", s->number);
    if (b.n)
        term_print(t, "%s%s", has_ends ? ": " : " ", b.p);
    if (outcome.n)
        term_style_print(t, run_step_failed(s) ? TERM_RED : TERM_DIM, " (%.*s)",
                         STR_ARG(outcome));
    term_print(t, "\n");
    buf_done(&b);
}

static void put_end(struct invocation *inv, const struct state_run *run,
                    const struct run_detail *d)
{
    struct run_text error = {
        .kept = run->error.n > 0, .bytes = run->error.n, .text = run->error};
    struct term *t = &inv->term;

    put_untrusted(inv, "error", &error);
    put_untrusted(inv, "traceback", &d->report);
    if (d->left_out)
        term_note(t, "%llu more step%s found no room in the history",
                  (unsigned long long)d->left_out, d->left_out == 1 ? "" : "s");
    if (!d->known)
        return;
    if (!str_is(d->keep, "full"))
        term_note(t, "prompts, answers and outputs were not kept: "
                     "runtime.keep: full in your config.yaml keeps them");
    else if (!has_option(inv, OPTION_VERBOSE))
        term_note(t, "--verbose shows prompts, answers and outputs");
}

void runs_print(struct invocation *inv, const struct state_run *run,
                const struct run_detail *detail)
{
    bool whole = has_option(inv, OPTION_VERBOSE);

    put_header(inv, run, detail);
    if (whole)
        put_untrusted(inv, "input", &detail->input);
    for (size_t i = 0; i < detail->count; i++) {
        put_step(inv, &detail->steps[i]);
        if (whole)
            put_texts(inv, &detail->steps[i]);
    }
    if (whole && !run->error.n) /* otherwise it would repeat the text */
        put_untrusted(inv, "result", &detail->result);
    put_end(inv, run, detail);
}
