#include "run_show.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/policy.h"
#include "mapm/run_detail.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"

#define LABEL_MAX_CHARS 60
#define TRACE_MAX_CHARS 2000
/* Larger than the limit of an envelope, because of the indentation. */
#define JSON_ANSWER_MAX_BYTES (16 << 20)
#define DIM                   "\x1b[2m"
#define PLAIN                 "\x1b[0m"
#define DOT                   " \xc2\xb7 " /* a middle dot */

void run_show_init(struct run_show *v, struct invocation *inv, bool trace)
{
    *v = (struct run_show){.inv = inv, .trace = trace, .doing = STEP_START};
    v->live = inv->term.is_err && !inv->term.is_dumb && !inv->term.quiet;
}

void run_show_done(struct run_show *v)
{
    term_progress_clear(&v->inv->term);
    v->doing = STEP_START;
    v->label = v->line = STR("");
    arena_done(&v->arena);
}

void run_show_backend(struct run_show *v, struct str name)
{
    v->backend = name;
}

/* --- pieces ---------------------------------------------------------------------- */

/* The first non-empty line, on one line. */
static struct str first_line(struct str text, size_t max_chars, struct arena *a)
{
    struct str rest = text, line;

    while (str_line(&rest, &line)) {
        line = text_one_line(line, a);
        if (line.n && text_cut(line, max_chars).n < line.n)
            return arena_printf(a, "%.*s...",
                                STR_ARG(text_cut(line, max_chars)));
        if (line.n)
            return line;
    }
    return STR("");
}

static struct str label_of(const struct step *s, struct arena *a)
{
    if (s->kind == STEP_ASK)
        return first_line(s->ask->purpose, LABEL_MAX_CHARS, a);
    return first_line(policy_line(s->command->argv, s->command->argc, a),
                      LABEL_MAX_CHARS, a);
}

static struct str turns_of(unsigned turns, struct arena *a)
{
    if (!turns)
        return STR("");
    return arena_printf(a, "%u turn%s", turns, turns == 1 ? "" : "s");
}

/* Joins the non-empty parts by dots. */
static void add_part(struct buf *b, struct str part)
{
    if (!part.n)
        return;
    if (b->n)
        buf_text(b, DOT);
    buf_append(b, part);
}

/* --- the progress line ---------------------------------------------------------------- */

static void draw(struct run_show *v)
{
    static const char *const frames[] = {
        "\xe2\xa0\x8b", "\xe2\xa0\x99", "\xe2\xa0\xb9", "\xe2\xa0\xb8",
        "\xe2\xa0\xbc", "\xe2\xa0\xb4", "\xe2\xa0\xa6", "\xe2\xa0\xa7",
        "\xe2\xa0\x87", "\xe2\xa0\x8f",
    };
    uint64_t seconds = (proc_now_ms() - v->since_ms) / 1000;
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct str who = v->backend;

    if (!v->live || v->doing == STEP_START)
        return;
    buf_init(&b, 16 * 1024);
    if (v->doing == STEP_COMMAND)
        add_part(&b, arena_printf(&a, "running: %.*s", STR_ARG(v->label)));
    else
        add_part(&b, arena_printf(&a, "asking%s%.*s%s%.*s", who.n ? " " : "",
                                  STR_ARG(who), v->label.n ? ": " : "",
                                  STR_ARG(v->label)));
    add_part(&b, turns_of(v->turns, &a));
    /* Show seconds only while ticks update them. */
    if (v->doing == STEP_ASK || v->frame)
        add_part(&b, arena_printf(&a, "%u s", (unsigned)seconds));
    add_part(&b, v->line);
    term_progress(&v->inv->term, "%s %s",
                  frames[v->frame++ % (sizeof frames / sizeof *frames)], b.p);
}

void run_show_news(void *ctx, unsigned turns, struct str line)
{
    struct run_show *v = ctx;
    CLEANUP(arena_done) struct arena a = {0};
    struct str first;

    if (turns > v->turns)
        v->turns = turns;
    first = first_line(text_cut(line, TRACE_MAX_CHARS), RUN_SHOW_LINE_CHARS / 2,
                       &a);
    if (first.n && first.n <= sizeof v->line_text) {
        memcpy(v->line_text, first.p, first.n);
        v->line = str_make(v->line_text, first.n);
    }
    draw(v);
}

void run_show_tick(void *ctx)
{
    draw(ctx);
}

/* Prints text on one line: untrusted text cannot add lines. */
static void print_line(struct run_show *v, const char *before, struct str text)
{
    struct buf b;

    buf_init(&b, 64 * 1024);
    text_visible(&b, text, false);
    term_note(&v->inv->term, "%s%s", before, b.n ? b.p : "");
    buf_done(&b);
}

/* --- lines that stay ------------------------------------------------------------------- */

/* Prints a dimmed line, for finished steps. */
static void print_dimmed(struct run_show *v, struct str text)
{
    struct term *t = &v->inv->term;
    struct err ignored = {0};
    struct buf b;

    if (!t->color_err) {
        print_line(v, "", text);
        return;
    }
    buf_init(&b, 64 * 1024);
    buf_text(&b, DIM);
    text_visible(&b, text, false);
    buf_text(&b, PLAIN "\n");
    term_progress_clear(t);
    /* A failed write to stderr is not reported. */
    if (!term_flush(t, &ignored) ||
        !fs_write_all(STDERR_FILENO, buf_str(&b), &ignored))
        err_clear(&ignored);
    buf_done(&b);
}

static struct str ask_result(const struct step *s, struct arena *a)
{
    struct str line = STR("");
    char took[32], bytes[16];
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 16 * 1024);
    if (s->failed || !s->answer) {
        add_part(&b, STR("failed"));
    } else {
        add_part(&b, turns_of(s->answer->turns, a));
        if (s->answer->exhausted)
            add_part(&b, STR("exhausted"));
        if (s->answer->truncated)
            add_part(&b, STR("truncated"));
        line = first_line(s->answer->text, LABEL_MAX_CHARS, a);
    }
    add_part(&b, str_cstr(run_seconds(s->took_ms, took)));
    if (s->answer && !s->failed)
        add_part(&b, str_cstr(text_bytes(s->answer->text.n, bytes)));
    if (line.n)
        add_part(&b, arena_printf(a, "\"%.*s\"", STR_ARG(line)));
    return arena_str(a, buf_str(&b));
}

static struct str command_result(const struct step *s, struct arena *a)
{
    const struct command_result *o = s->outcome;
    char took[32], bytes[16];
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 16 * 1024);
    if (!o || o->rule.n)
        add_part(&b, o ? STR("refused") : STR("failed"));
    else if (o->exit_code >= 0)
        add_part(&b, arena_printf(a, "exit %d", o->exit_code));
    else
        add_part(&b, first_line(o->result, LABEL_MAX_CHARS, a));
    if (o && o->truncated)
        add_part(&b, STR("truncated"));
    add_part(&b, str_cstr(run_seconds(s->took_ms, took)));
    if (o)
        add_part(&b, str_cstr(text_bytes(o->result.n, bytes)));
    return arena_str(a, buf_str(&b));
}

/* Returns the name of a step: "ask 1", "command 3". */
static struct str name_of(const struct step *s, struct arena *a)
{
    if (s->kind == STEP_ASK)
        return arena_printf(a, "ask %u", s->ask->number);
    return arena_printf(a, "command %u", s->command->number);
}

static struct str end_line(const struct step *s, struct arena *a)
{
    struct str name = name_of(s, a), label = label_of(s, a);
    struct str result =
        s->kind == STEP_ASK ? ask_result(s, a) : command_result(s, a);

    return arena_printf(a, "%.*s%s%.*s" DOT "%.*s", STR_ARG(name),
                        label.n ? ": " : "", STR_ARG(label), STR_ARG(result));
}

/* --- --trace ---------------------------------------------------------------------------- */

static struct str begin_line(const struct step *s, struct arena *a)
{
    struct str name = name_of(s, a);

    if (s->kind == STEP_ASK)
        return arena_printf(
            a, "%.*s: %.*s%sat most %u turn%s, a prompt of %zu bytes",
            STR_ARG(name),
            STR_ARG(first_line(s->ask->purpose, LABEL_MAX_CHARS, a)),
            s->ask->purpose.n ? ", " : "", s->ask->max_turns,
            s->ask->max_turns == 1 ? "" : "s", s->ask->prompt.n);
    return arena_printf(
        a, "%.*s: %.*s", STR_ARG(name),
        STR_ARG(first_line(policy_line(s->command->argv, s->command->argc, a),
                           TRACE_MAX_CHARS, a)));
}

static struct str trace_line(const struct step *s, struct arena *a)
{
    switch (s->kind) {
    case STEP_ASK:
    case STEP_COMMAND:
        return s->done ? end_line(s, a) : begin_line(s, a);
    case STEP_TRACE:
        return arena_printf(a, "trace %.*s %.*s",
                            STR_ARG(first_line(s->text, TRACE_MAX_CHARS, a)),
                            STR_ARG(s->data));
    case STEP_PRINT:
        return arena_printf(a, "print %.*s", STR_ARG(s->text));
    case STEP_FINISH:
        return arena_printf(a, "finish %.*s", STR_ARG(s->text));
    default:
        return STR("start");
    }
}

static void print_trace(struct run_show *v, const struct step *s,
                        struct arena *a)
{
    struct str line = str_trim(trace_line(s, a));
    char at[32];

    snprintf(at, sizeof at, "%4u.%03u  ", (unsigned)(s->at_ms / 1000),
             (unsigned)(s->at_ms % 1000));
    print_line(v, at, line);
}

/* --- steps --------------------------------------------------------------------------------- */

static void begin(struct run_show *v, const struct step *s)
{
    v->doing = s->kind;
    v->label = label_of(s, &v->arena);
    v->since_ms = proc_now_ms();
    v->turns = v->frame = 0;
    v->line = STR("");
    v->inv->term.progress_at_ms = 0; /* show a changed line at once */
    draw(v);
}

void run_show_step(void *ctx, const struct step *s)
{
    struct run_show *v = ctx;
    bool has_ends = s->kind == STEP_ASK || s->kind == STEP_COMMAND;

    if (has_ends && s->done)
        v->doing = STEP_START;
    if (v->trace)
        print_trace(v, s, &v->arena);
    else if (v->live && has_ends && s->done)
        print_dimmed(v, end_line(s, &v->arena));
    if (v->doing == STEP_START) {
        arena_done(&v->arena); /* texts of this step are no longer needed */
        v->label = v->line = STR("");
    }
    if (has_ends && !s->done)
        begin(v, s);
    if (s->kind == STEP_FINISH)
        term_progress_clear(&v->inv->term);
}

/* --- the result ---------------------------------------------------------------------------- */

/* Returns whether it is a member for hosts, which is not part of the answer. */
static bool is_envelope_member(struct str key)
{
    return str_is(key, "status") || str_is(key, "answer") ||
           str_is(key, "answer_truncated") || str_is(key, "trace");
}

static void show_json(struct invocation *inv, const struct json *object)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    buf_init(&b, JSON_ANSWER_MAX_BYTES);
    json_writer_init(&w, &b, 2);
    json_begin_object(&w);
    for (const struct json *m = object->first; m; m = m->next) {
        if (is_envelope_member(m->key))
            continue;
        json_key_str(&w, m->key);
        json_value(&w, m);
    }
    json_end_object(&w);
    term_content(&inv->term, buf_str(&b));
    term_write(&inv->term, STR("\n"));
}

static void show_answer(struct invocation *inv, const struct json *envelope)
{
    const struct json *answer = json_get(envelope, "answer");
    CLEANUP(buf_done) struct buf b = {0};
    struct str text = json_text(answer);
    struct json_writer w;
    bool has_more = false;

    for (const struct json *m = envelope->first; m; m = m->next)
        has_more |= !is_envelope_member(m->key);
    if (answer && !text.p) {
        buf_init(&b, JSON_ANSWER_MAX_BYTES);
        json_writer_init(&w, &b, 2);
        json_value(&w, answer);
        text = buf_str(&b);
    }
    if (text.n) {
        term_content(&inv->term, text);
        if (text.p[text.n - 1] != '\n')
            term_write(&inv->term, STR("\n"));
    }
    if (has_more)
        show_json(inv, envelope);
    if (json_get(envelope, "answer_truncated"))
        term_note(&inv->term, "the answer was truncated");
}

static struct str count_of(unsigned count, const char *what, struct arena *a)
{
    return count
               ? arena_printf(a, "%u %s%s", count, what, count == 1 ? "" : "s")
               : STR("");
}

bool run_show_result(struct run_show *v, const struct runtime_result *r)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    const struct json_options any = {0};
    const struct json *envelope;
    struct err ignored = {0};
    char took[32];

    if (!json_parse(r->envelope, &any, &a, &envelope, NULL, &ignored)) {
        err_clear(&ignored);
        return false;
    }
    show_answer(v->inv, envelope);
    buf_init(&b, 16 * 1024);
    add_part(&b, first_line(r->status, LABEL_MAX_CHARS, &a));
    add_part(&b, count_of(r->asks, "ask", &a));
    add_part(&b, count_of(r->commands, "command", &a));
    add_part(&b, str_cstr(run_seconds(r->took_ms, took)));
    if (r->asks)
        add_part(&b, v->backend);
    print_dimmed(v, buf_str(&b));
    return true;
}
