#include "base/json.h"
#include "base/text.h"
#include "mapm/policy.h"
#include "mapm/run_detail.h"
#include "mapm/run_history.h"

#include <stdio.h>
#include <string.h>

#define DETAIL_MAX_NODES 200000

/* --- reading ------------------------------------------------------------------- */

static uint64_t number_of(const struct json *object, const char *key)
{
    const struct json *j = json_get(object, key);
    uint64_t n = 0;

    if (!j || j->kind != JSON_NUMBER || !str_number(j->text, INT64_MAX, &n))
        return 0;
    return n;
}

static struct str word_of(const struct json *object, const char *key)
{
    struct str s = json_text(json_get(object, key));

    return s.p ? s : STR("");
}

static struct run_text text_of(const struct json *object, const char *key)
{
    const struct json *j = json_get(object, key);
    const struct json *text = json_get(j, "untrusted");

    return (struct run_text){
        .known = j && j->kind == JSON_OBJECT,
        .kept = text && text->kind == JSON_STRING,
        .cut = json_is_true(json_get(j, "cut")),
        .bytes = number_of(j, "bytes"),
        .text = word_of(j, "untrusted"),
    };
}

static void read_words(const struct json *j, struct arena *a,
                       struct run_step *out)
{
    const struct json *list = json_get(j, "argv");
    struct str *words;

    if (!list || list->kind != JSON_ARRAY)
        return;
    words = arena_array(a, list->count, sizeof *words);
    for (const struct json *w = list->first; w; w = w->next)
        if (w->kind == JSON_STRING)
            words[out->argc++] = w->text;
    out->argv = words;
    out->words = (size_t)number_of(j, "words");
    if (out->words < out->argc)
        out->words = out->argc;
}

static void read_data(const struct json *j, struct arena *a,
                      struct run_step *out)
{
    struct json_writer w;
    struct buf b;

    out->data_tree = json_get(j, "data");
    if (!out->data_tree)
        return;
    buf_init(&b, RUN_DETAIL_MAX_BYTES * 2);
    json_writer_init(&w, &b, 0);
    json_value(&w, out->data_tree);
    out->data = arena_str(a, buf_str(&b));
    buf_done(&b);
}

static const struct kind {
    const char *name, *label, *in, *out;
    enum step_kind kind;
} kinds[] = {
    {"ask", "purpose", "prompt", "answer", STEP_ASK},
    {"command", "", "", "result", STEP_COMMAND},
    {"trace", "name", "", "", STEP_TRACE},
    {"print", "", "", "text", STEP_PRINT},
};

static const struct kind *find_kind(struct str name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(name, kinds[i].name))
            return &kinds[i];
    return NULL;
}

static bool read_step(const struct json *j, struct arena *a,
                      struct run_step *out)
{
    const struct kind *kind = find_kind(word_of(j, "kind"));

    if (!kind)
        return false;
    *out = (struct run_step){
        .kind = kind->kind,
        .number = (unsigned)number_of(j, "number"),
        .at_ms = number_of(j, "at_ms"),
        .took_ms = number_of(j, "took_ms"),
        .ok = json_is_true(json_get(j, "ok")),
        .exhausted = json_is_true(json_get(j, "exhausted")),
        .truncated = json_is_true(json_get(j, "truncated")),
        .unfinished = json_is_true(json_get(j, "unfinished")),
        .has_exit = json_get(j, "exit_code") != NULL,
        .exit_code = number_of(j, "exit_code"),
        .turns = number_of(j, "turns"),
        .max_turns = number_of(j, "max_turns"),
        .label = word_of(j, kind->label),
        .rule = word_of(j, "rule"),
        .in = text_of(j, kind->in),
        .out = text_of(j, kind->out),
    };
    read_words(j, a, out);
    read_data(j, a, out);
    return true;
}

static void read_limits(const struct json *j, struct run_detail *out)
{
    if (!j || j->kind != JSON_OBJECT)
        return;
    out->has_limits = true;
    out->max_asks = number_of(j, "asks");
    out->max_commands = number_of(j, "commands");
    out->max_traces = number_of(j, "traces");
    out->max_seconds = number_of(j, "seconds");
}

bool run_detail_parse(struct str text, struct arena *a, struct run_detail *out,
                      struct err *e)
{
    static const struct json_options options = {
        .max_bytes = RUN_DETAIL_MAX_BYTES,
        .max_depth = INPUT_MAX_DEPTH + 8,
        .max_nodes = DETAIL_MAX_NODES,
    };
    const struct json *tree, *steps;

    *out = (struct run_detail){0};
    if (text.n == 0)
        return true;
    if (!json_parse(text, &options, a, &tree, NULL, e))
        return err_wrap(e, "the details of the run cannot be read");
    out->known = tree->kind == JSON_OBJECT;
    out->tree = tree;
    out->keep = word_of(tree, "keep");
    out->input = text_of(tree, "input");
    out->result = text_of(tree, "result");
    out->report = text_of(tree, "report");
    out->left_out = number_of(tree, "left_out");
    read_limits(json_get(tree, "limits"), out);
    steps = json_get(tree, "steps");
    if (!steps || steps->kind != JSON_ARRAY)
        return true;
    out->steps = arena_array(a, steps->count, sizeof *out->steps);
    for (const struct json *j = steps->first; j; j = j->next)
        if (read_step(j, a, &out->steps[out->count]))
            out->count++;
    return true;
}

/* --- words ----------------------------------------------------------------------- */

const char *run_seconds(uint64_t ms, char out[32])
{
    unsigned long long tenths = (ms + 50) / 100, s = (ms + 500) / 1000;

    if (ms < 1000)
        snprintf(out, 32, "%u ms", (unsigned)ms);
    else if (tenths < 600)
        snprintf(out, 32, "%u.%u s", (unsigned)(tenths / 10),
                 (unsigned)(tenths % 10));
    else if (s < 3600)
        snprintf(out, 32, "%u min %02u s", (unsigned)(s / 60),
                 (unsigned)(s % 60));
    else
        snprintf(out, 32, "%llu h %02u min", s / 3600, (unsigned)(s / 60 % 60));
    return out;
}

const char *run_when(int64_t ms, bool zone, char out[TEXT_TIME_BYTES])
{
    return text_local(ms / 1000,
                      zone ? "%Y-%m-%d %H:%M:%S %z" : "%Y-%m-%d %H:%M:%S", out);
}

const char *run_utc(int64_t ms, char out[TEXT_TIME_BYTES])
{
    size_t n = strlen(text_utc(ms / 1000, "%Y-%m-%dT%H:%M:%S", out));

    snprintf(out + n, TEXT_TIME_BYTES - n, ".%03uZ",
             ms < 0 ? 0 : (unsigned)(ms % 1000));
    return out;
}

enum run_tone run_tone(struct str status)
{
    static const struct {
        const char *status;
        enum run_tone tone;
    } rows[] = {
        {"ok", RUN_GOOD},
        {"accepted", RUN_GOOD},
        {"exhausted", RUN_DOUBTFUL},
        {"rejected", RUN_DOUBTFUL},
        {"error", RUN_BAD},
        {"failed", RUN_BAD},
        {"interrupted", RUN_BAD},
        {"killed", RUN_BAD},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(status, rows[i].status))
            return rows[i].tone;
    return RUN_NEUTRAL;
}

struct str run_step_label(const struct run_step *s, struct arena *a)
{
    struct str line, rest;

    if (s->kind == STEP_COMMAND) {
        line = policy_line(s->argv, s->argc, a);
        return s->argc < s->words ? arena_printf(a, "%.*s ...", STR_ARG(line))
                                  : line;
    }
    if (s->kind != STEP_PRINT)
        return s->label;
    rest = s->out.text;
    return str_line(&rest, &line) ? line : STR("");
}

const char *run_step_kind(const struct run_step *s)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == s->kind)
            return kinds[i].name;
    return "";
}

bool run_step_failed(const struct run_step *s)
{
    return (s->kind == STEP_ASK || s->kind == STEP_COMMAND) && !s->ok;
}

static void add_part(struct buf *b, const char *part)
{
    if (b->n)
        buf_text(b, ", ");
    buf_text(b, part);
}

struct str run_step_outcome(const struct run_step *s, struct arena *a)
{
    struct str words;
    char bytes[16];
    struct buf b;

    buf_init(&b, 1024);
    if (s->unfinished)
        add_part(&b, "did not finish");
    else if (s->kind == STEP_ASK && !s->ok)
        add_part(&b, "failed");
    else if (s->kind == STEP_ASK)
        buf_printf(&b, "%llu turn%s", (unsigned long long)s->turns,
                   s->turns == 1 ? "" : "s");
    else if (s->kind == STEP_COMMAND && s->has_exit)
        buf_printf(&b, "exit %llu", (unsigned long long)s->exit_code);
    else if (s->kind == STEP_COMMAND)
        add_part(&b, s->rule.n ? "refused" : "not run to its end");
    if (s->kind == STEP_COMMAND && !s->ok && s->has_exit && !s->exit_code)
        add_part(&b, "not ok");
    if (s->exhausted)
        add_part(&b, "exhausted");
    if (s->out.known && s->kind != STEP_PRINT)
        add_part(&b, text_bytes(s->out.bytes, bytes));
    if (s->truncated)
        add_part(&b, "truncated");
    words = arena_str(a, buf_str(&b));
    buf_done(&b);
    return words;
}
