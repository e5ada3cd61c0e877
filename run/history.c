#include "base/json.h"
#include "base/text.h"
#include "mapm/project.h"
#include "mapm/run_history.h"
#include "mapm/state_runs.h"

#include <time.h>
#include <unistd.h>

/* Parts of RUN_DETAIL_MAX_BYTES. Traces and prints, which are unlimited, leave
 * room for other steps. */
#define STEPS_MAX_BYTES  (768u * 1024)
#define TRACES_MAX_BYTES (STEPS_MAX_BYTES / 2)
#define END_MAX_BYTES    (64u * 1024) /* of input, result and report each */
/* space that texts leave for the steps themselves */
#define STEPS_SPARE_BYTES (128u * 1024)
#define LABEL_MAX_CHARS   200
#define ERROR_MAX_CHARS   2000

enum run_keep run_keep_find(struct str word)
{
    if (str_is(word, "none"))
        return RUN_KEEP_NONE;
    return str_is(word, "full") ? RUN_KEEP_FULL : RUN_KEEP_SUMMARY;
}

enum run_keep run_keep(const struct project *user,
                       const struct project *workspace)
{
    enum run_keep own = run_keep_find(user->keep), lower = own;

    if (workspace->keep.n)
        lower = run_keep_find(workspace->keep);
    return lower < own ? lower : own;
}

static int64_t now_ms(void)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

bool run_history_begin(struct run_history *h, struct store *store,
                       enum run_keep keep, const struct state_run *first,
                       struct str input, struct err *e)
{
    uint64_t id = 0;

    *h = (struct run_history){
        .store = store, .keep = keep, .run = *first, .input = input};
    buf_init(&h->steps, STEPS_MAX_BYTES);
    buf_init(&h->open, STEPS_MAX_BYTES);
    if (first->id || keep == RUN_KEEP_NONE)
        return true;
    h->run.status = STR("running");
    h->run.pid = getpid();
    h->run.input_bytes = input.n;
    if (!h->run.started_ms)
        h->run.started_ms = now_ms();
    if (!state_begin_run(store_state(store), &h->run, &id, e))
        return err_wrap(e, "the run is not in the history");
    h->run.id = id;
    return true;
}

void run_history_limits(struct run_history *h, const struct limits *l)
{
    h->limits = l;
}

/* --- texts -------------------------------------------------------------------- */

/* `max` is the size before JSON escaping. */
static void put_text(struct json_writer *w, const char *key, struct str text,
                     bool keep, size_t max)
{
    struct str kept = text_cut_bytes(text, max);

    json_member_object(w, key);
    json_member_number(w, "bytes", text.n);
    if (keep) {
        json_member_string(w, "untrusted", kept);
        if (kept.n < text.n)
            json_member_bool(w, "cut", true);
    }
    json_end_object(w);
}

/* Likewise, truncated to END_MAX_BYTES as JSON. */
static void put_end_text(struct json_writer *w, const char *key,
                         struct str text, bool keep)
{
    size_t max = END_MAX_BYTES;
    struct json_writer trial;
    struct buf b;

    for (bool fits = false; !fits; max /= 2) {
        buf_init(&b, END_MAX_BYTES);
        json_writer_init(&trial, &b, 0);
        json_string(&trial, keep ? text_cut_bytes(text, max) : STR(""));
        fits = !b.overflowed;
        buf_done(&b);
        if (fits)
            break;
    }
    put_text(w, key, text, keep, max);
}

static void put_label(struct json_writer *w, const char *key, struct str label)
{
    json_member_string(w, key, text_cut(label, LABEL_MAX_CHARS));
}

/* --- steps ---------------------------------------------------------------------- */

struct writing {
    const struct step *step;
    bool full;
    uint64_t at_ms;
    size_t max; /* maximum size of each text */
    struct json_writer w;
};

static void put_ask(struct writing *out)
{
    const struct step *s = out->step;
    const struct answer *answer = s->done ? s->answer : NULL;
    struct json_writer *w = &out->w;

    json_member_number(w, "number", s->ask->number);
    json_member_bool(w, "ok", s->done && !s->failed);
    put_label(w, "purpose", s->ask->purpose);
    json_member_number(w, "max_turns", s->ask->max_turns);
    if (answer) {
        json_member_number(w, "turns", answer->turns);
        json_member_bool(w, "exhausted", answer->exhausted);
        json_member_bool(w, "truncated", answer->truncated);
    }
    put_text(w, "prompt", s->ask->prompt, out->full, out->max);
    if (answer)
        put_text(w, "answer", answer->text, out->full, out->max);
}

/* Writes the program's name in the summary, and all words in full. */
static void put_words(struct writing *out, const struct command *c)
{
    struct json_writer *w = &out->w;
    size_t left = out->max;

    json_member_array(w, "argv");
    for (size_t i = 0; i < c->argc; i++) {
        struct str word = out->full ? text_cut_bytes(c->argv[i], left)
                                    : text_cut(c->argv[i], LABEL_MAX_CHARS);

        if ((!out->full || !left) && i >= RUN_SUMMARY_WORDS)
            break;
        if (!left)
            word = text_cut(c->argv[i], LABEL_MAX_CHARS);
        left -= word.n < left ? word.n : left;
        json_string(w, word);
    }
    json_end_array(w);
    json_member_number(w, "words", c->argc);
}

static void put_command(struct writing *out)
{
    const struct step *s = out->step;
    const struct command_result *o = s->done ? s->outcome : NULL;
    struct json_writer *w = &out->w;

    json_member_number(w, "number", s->command->number);
    json_member_bool(w, "ok", o && o->ok);
    put_words(out, s->command);
    if (!o)
        return;
    if (o->exit_code >= 0)
        json_member_number(w, "exit_code", (uint64_t)o->exit_code);
    json_member_bool(w, "truncated", o->truncated);
    if (o->rule.n)
        put_label(w, "rule", o->rule);
    put_text(w, "result", o->result, out->full, out->max);
}

/* Data of the program: text that is not JSON becomes a string. */
static void put_data(struct json_writer *w, struct str data)
{
    static const struct json_options o = {.max_depth = INPUT_MAX_DEPTH + 2};
    const struct json *tree;
    struct arena a = {0};
    struct err e = {0};

    if (data.n == 0)
        return;
    json_key(w, "data");
    if (json_parse(data, &o, &a, &tree, NULL, &e))
        json_value(w, tree);
    else
        json_string(w, data);
    arena_done(&a);
}

static const char *kind_name(enum step_kind kind)
{
    static const char *const names[] = {
        [STEP_START] = "start",     [STEP_ASK] = "ask",
        [STEP_COMMAND] = "command", [STEP_TRACE] = "trace",
        [STEP_PRINT] = "print",     [STEP_FINISH] = "finish",
    };

    return names[kind];
}

static bool has_two_ends(enum step_kind kind)
{
    return kind == STEP_ASK || kind == STEP_COMMAND;
}

static void put_step(struct writing *out)
{
    const struct step *s = out->step;
    struct json_writer *w = &out->w;

    json_begin_object(w);
    json_member_string(w, "kind", str_cstr(kind_name(s->kind)));
    json_member_number(w, "at_ms", out->at_ms);
    if (has_two_ends(s->kind) && s->done)
        json_member_number(w, "took_ms", s->took_ms);
    else if (has_two_ends(s->kind))
        json_member_bool(w, "unfinished", true);
    if (s->kind == STEP_ASK) {
        put_ask(out);
    } else if (s->kind == STEP_COMMAND) {
        put_command(out);
    } else if (s->kind == STEP_TRACE) {
        put_label(w, "name", s->text);
        put_data(w, s->data);
    } else {
        put_text(w, "text", s->text, out->full, out->max);
    }
    json_end_object(w);
}

/* Writes the step to `out`. Returns false if it exceeds `room`. */
static bool try_step(struct writing *to, size_t room, struct buf *out)
{
    buf_init(out, room);
    json_writer_init(&to->w, out, 0);
    put_step(to);
    if (!out->overflowed)
        return true;
    buf_done(out);
    return false;
}

/* Writes the step with texts truncated to the space, half as long at each
 * attempt, and finally without them. */
static bool write_step(const struct run_history *h, const struct step *s,
                       uint64_t at_ms, size_t room, struct buf *out)
{
    struct writing to = {.step = s, .at_ms = at_ms};
    size_t texts = room > STEPS_SPARE_BYTES ? room - STEPS_SPARE_BYTES : 0;

    to.full = h->keep == RUN_KEEP_FULL;
    for (to.max = texts / 8; to.full && to.max; to.max /= 4)
        if (try_step(&to, texts / 2, out))
            return true;
    to.full = false;
    return try_step(&to, room, out);
}

static size_t room_for(const struct run_history *h, enum step_kind kind)
{
    size_t max = has_two_ends(kind) ? STEPS_MAX_BYTES : TRACES_MAX_BYTES;

    return h->steps.n + 1 < max ? max - h->steps.n - 1 : 0;
}

static void append_step(struct run_history *h, struct str json)
{
    if (h->steps.n)
        buf_char(&h->steps, ',');
    buf_append(&h->steps, json);
}

static bool is_kept(const struct run_history *h, const struct step *s)
{
    switch (s->kind) {
    case STEP_ASK:
        return s->ask != NULL;
    case STEP_COMMAND:
        return s->command != NULL;
    case STEP_TRACE:
        return true;
    case STEP_PRINT:
        return h->keep == RUN_KEEP_FULL;
    default:
        return false;
    }
}

void run_history_step(struct run_history *h, const struct step *s)
{
    bool began = h->open.n > 0;
    uint64_t at_ms = s->at_ms;
    struct buf json;

    if (!h->run.id || !is_kept(h, s))
        return;
    if (has_two_ends(s->kind) && s->done) {
        at_ms = s->at_ms > s->took_ms ? s->at_ms - s->took_ms : 0;
        if (began)
            at_ms = h->open_at_ms;
        buf_clear(&h->open);
    }
    if (!write_step(h, s, at_ms, room_for(h, s->kind), &json)) {
        if (!has_two_ends(s->kind) || s->done)
            h->left_out++;
        return;
    }
    if (has_two_ends(s->kind) && !s->done) {
        buf_clear(&h->open);
        buf_append(&h->open, buf_str(&json));
        h->open_at_ms = at_ms;
    } else {
        append_step(h, buf_str(&json));
    }
    buf_done(&json);
}

/* --- the end ----------------------------------------------------------------------- */

static void put_limits(struct json_writer *w, const struct limits *l)
{
    json_member_object(w, "limits");
    json_member_number(w, "asks", l->run_max_asks.value);
    json_member_number(w, "commands", l->run_max_commands.value);
    json_member_number(w, "traces", l->run_max_traces.value);
    json_member_number(w, "seconds", l->run_max_seconds.value);
    json_end_object(w);
}

static void write_detail(struct run_history *h, const struct runtime_result *r,
                         struct buf *out)
{
    bool full = h->keep == RUN_KEEP_FULL;
    struct json_writer w;

    if (h->open.n)
        append_step(h, buf_str(&h->open));
    json_open(&w, out, RUN_DETAIL_MAX_BYTES, 0);
    json_member_number(&w, "detail", 1);
    json_member_string(&w, "keep", full ? STR("full") : STR("summary"));
    if (h->limits)
        put_limits(&w, h->limits);
    put_end_text(&w, "input", h->input, full);
    put_end_text(&w, "result", r->text, full);
    if (r->report.n)
        put_end_text(&w, "report", r->report, true);
    json_member_array(&w, "steps");
    json_raw(&w, buf_str(&h->steps));
    json_end_array(&w);
    json_member_number(&w, "left_out", h->left_out);
    json_end_object(&w);
}

static bool write_end(struct run_history *h, const struct runtime_result *r,
                      struct str backend, struct err *e)
{
    struct state_run *run = &h->run;
    struct buf detail;
    bool ok;

    run->took_ms = r->took_ms;
    run->status = text_cut(r->status, LABEL_MAX_CHARS);
    if (r->end == RUNTIME_INTERRUPTED)
        run->status = STR("interrupted");
    run->error = STR("");
    if (r->end != RUNTIME_COMPLETED)
        run->error = text_cut(r->text, ERROR_MAX_CHARS);
    run->backend = backend;
    run->asks = r->asks;
    run->commands = r->commands;
    run->traces = r->traces;
    run->result_bytes = r->text.n;
    write_detail(h, r, &detail);
    run->detail = buf_str(&detail);
    ok = state_end_run(store_state(h->store), run, e) ||
         err_wrap(e, "the end of the run is not in the history");
    buf_done(&detail);
    return ok;
}

bool run_history_end(struct run_history *h, const struct runtime_result *r,
                     struct str backend, struct err *e)
{
    bool ok = h->run.id == 0 || write_end(h, r, backend, e);

    buf_done(&h->steps);
    buf_done(&h->open);
    h->run.id = 0;
    return ok;
}
