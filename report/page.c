#include "base/embed.h"
#include "base/json.h"
#include "base/text.h"
#include "mapm/report.h"
#include "mapm/state_runs.h"

#include "markup.h"

/* Limit of the label of a step; its details contain the whole text. */
#define LABEL_MAX_CHARS 160
#define DATA_MAX_CHARS  100

EMBED_TWO(runs_style, "report/base.css", "report/style.css");

/* State shared by the functions below. */
struct page {
    const struct state_run *run;
    const struct run_detail *detail;
    uint64_t span_ms;
    struct arena arena;
    struct buf *out;
};

static void put(struct page *p, const char *text)
{
    buf_text(p->out, text);
}

/* --- pieces ------------------------------------------------------------------- */

/* Writes a <div> of a <dl>, or nothing for an empty value. */
static void put_fact(struct page *p, const char *name, struct str value)
{
    if (!value.n)
        return;
    buf_printf(p->out, "<div><dt>%s</dt><dd>", name);
    markup_word(p->out, value);
    put(p, "</dd></div>\n");
}

static void put_fact_number(struct page *p, const char *name, uint64_t n)
{
    put_fact(p, name, arena_printf(&p->arena, "%llu", (unsigned long long)n));
}

static struct str bytes_of(struct page *p, uint64_t n)
{
    char bytes[16];

    return arena_str(&p->arena, str_cstr(text_bytes(n, bytes)));
}

static struct str seconds_of(struct page *p, uint64_t ms)
{
    char seconds[32];

    return arena_str(&p->arena, str_cstr(run_seconds(ms, seconds)));
}

/* Writes a complete text from outside, marked as untrusted (K42). */
static void put_untrusted(struct page *p, const char *what, struct str note,
                          struct str text)
{
    buf_printf(p->out,
               "<figure class=\"untrusted\"><figcaption><span class=\"tag\">"
               "%s</span> %s",
               RUN_UNTRUSTED, what);
    if (note.n) {
        put(p, " <span class=\"soft\">");
        markup_text(p->out, note, false);
        put(p, "</span>");
    }
    put(p, "</figcaption><pre tabindex=\"0\" dir=\"auto\">");
    markup_text(p->out, text, true);
    put(p, "</pre></figure>\n");
}

static void put_text(struct page *p, const char *what,
                     const struct run_text *text)
{
    struct str bytes = bytes_of(p, text->bytes);

    if (!text->kept)
        return;
    if (text->cut)
        bytes =
            arena_printf(&p->arena, "the beginning of %.*s", STR_ARG(bytes));
    put_untrusted(p, what, bytes, text->text);
}

static void put_size(struct page *p, const char *what,
                     const struct run_text *text)
{
    if (text->known)
        put_fact(p, what, bytes_of(p, text->bytes));
}

/* --- head ------------------------------------------------------------------------ */

static void put_head(struct page *p)
{
    const struct markup_page page = {
        .title = p->run->name,
        .about = arena_printf(&p->arena, " - mapm run %llu",
                              (unsigned long long)p->run->id)
                     .p,
        .style = runs_style,
        .is_private = true,
    };

    markup_head(p->out, &page);
}

static const char *tone_class(enum run_tone tone)
{
    static const char *const names[] = {
        [RUN_NEUTRAL] = "neutral",
        [RUN_GOOD] = "good",
        [RUN_DOUBTFUL] = "doubtful",
        [RUN_BAD] = "bad",
    };

    return names[tone];
}

static void put_title(struct page *p)
{
    const struct state_run *run = p->run;
    struct str status = run->status;
    char when[TEXT_TIME_BYTES], utc[TEXT_TIME_BYTES];

    buf_printf(p->out, "<header>\n<p class=\"kicker\">mapm run %llu</p>\n<h1>",
               (unsigned long long)run->id);
    markup_word(p->out, run->name);
    buf_printf(p->out, "</h1>\n<p class=\"sub\"><span class=\"status %s\">",
               tone_class(run_tone(status)));
    markup_word(p->out, status);
    buf_printf(p->out, "</span> <time datetime=\"%s\">%s</time>",
               run_utc(run->started_ms, utc),
               run_when(run->started_ms, true, when));
    if (run->took_ms)
        buf_printf(p->out, " <span>took %s</span>",
                   seconds_of(p, run->took_ms).p);
    if (run->backend.n) {
        put(p, " <span>asked ");
        markup_word(p->out, run->backend);
        put(p, "</span>");
    }
    put(p, "</p>\n</header>\n");
}

/* --- budgets ----------------------------------------------------------------------- */

/* With `limit` 0 (unknown) no bar is drawn. */
static void put_budget(struct page *p, const char *name, const char *kind,
                       struct str used, uint64_t part, uint64_t limit)
{
    uint64_t wide = 0;

    if (limit)
        wide = part >= limit ? 1000 : part * 1000 / limit;
    buf_printf(p->out,
               "<li class=\"card %s\"><span class=\"soft\">%s</span> "
               "<b>%.*s</b>",
               kind, name, STR_ARG(used));
    if (p->detail->has_limits)
        buf_printf(p->out,
                   " <span class=\"soft\">of %llu</span>"
                   "<svg class=\"meter\" width=\"100%%\" height=\"6\" "
                   "aria-hidden=\"true\"><rect class=\"rail\" width=\"100%%\" "
                   "height=\"6\" rx=\"3\"/><rect width=\"%u.%u%%\" "
                   "height=\"6\" rx=\"3\"/></svg>",
                   (unsigned long long)limit, (unsigned)(wide / 10),
                   (unsigned)(wide % 10));
    put(p, "</li>\n");
}

static struct str count_of(struct page *p, unsigned n)
{
    return arena_printf(&p->arena, "%u", n);
}

static void put_budgets(struct page *p)
{
    const struct state_run *run = p->run;
    const struct run_detail *d = p->detail;
    uint64_t tenths = (run->took_ms + 50) / 100;

    put(p, "<ul class=\"budgets\" aria-label=\"budgets\">\n");
    put_budget(p, "asks", "ask", count_of(p, run->asks), run->asks,
               d->max_asks);
    put_budget(p, "commands", "command", count_of(p, run->commands),
               run->commands, d->max_commands);
    put_budget(p, "traces", "trace", count_of(p, run->traces), run->traces,
               d->max_traces);
    put_budget(p, "seconds", "time",
               arena_printf(&p->arena, "%llu.%u",
                            (unsigned long long)(tenths / 10),
                            (unsigned)(tenths % 10)),
               run->took_ms / 1000, d->max_seconds);
    put(p, "</ul>\n");
}

/* --- steps ---------------------------------------------------------------------------- */

/* Writes in a word or two why a step failed. */
static void put_flag(struct page *p, const struct run_step *s)
{
    if (!run_step_failed(s))
        return;
    put(p, " <span class=\"flag\">");
    if (s->unfinished)
        put(p, "did not finish");
    else if (s->rule.n)
        put(p, "refused");
    else if (s->has_exit && s->exit_code)
        buf_printf(p->out, "exit %llu", (unsigned long long)s->exit_code);
    else
        put(p, "failed");
    put(p, "</span>");
}

static void put_label(struct page *p, const struct run_step *s)
{
    bool is_code = s->kind == STEP_COMMAND || s->kind == STEP_PRINT;
    struct str whole = run_step_label(s, &p->arena);
    struct str label = text_cut(whole, LABEL_MAX_CHARS);
    struct str data = text_cut(s->data, DATA_MAX_CHARS);

    put(p, is_code ? "<code>" : "");
    markup_word(p->out, label);
    put(p, label.n < whole.n ? "..." : "");
    put(p, is_code ? "</code>" : "");
    if (data.n) {
        put(p, " <code class=\"soft\">");
        markup_word(p->out, data);
        put(p, data.n < s->data.n ? "...</code>" : "</code>");
    }
}

static void put_summary(struct page *p, const struct run_step *s)
{
    put(p, "<summary><span class=\"at\">");
    put(p, seconds_of(p, s->at_ms).p);
    buf_printf(p->out, "</span><span class=\"what\"><b>%s</b> ",
               run_step_kind(s));
    put_label(p, s);
    put_flag(p, s);
    put(p, "</span>");
    report_chart_bar(s, p->span_ms, p->out);
    put(p, "<span class=\"took\">");
    if (!s->unfinished && (s->kind == STEP_ASK || s->kind == STEP_COMMAND))
        put(p, seconds_of(p, s->took_ms).p);
    put(p, "</span></summary>\n");
}

static void put_ask_facts(struct page *p, const struct run_step *s)
{
    if (s->ok)
        put_fact_number(p, "turns", s->turns);
    put_fact_number(p, "turns at most", s->max_turns);
    put_size(p, "prompt", &s->in);
    put_size(p, "answer", &s->out);
}

static void put_command_facts(struct page *p, const struct run_step *s)
{
    if (s->has_exit)
        put_fact_number(p, "exit", s->exit_code);
    if (s->words > s->argc)
        put_fact_number(p, "words in all", s->words);
    put_size(p, "output", &s->out);
    put_fact(p, "refused by", s->rule);
}

static void put_facts(struct page *p, const struct run_step *s)
{
    put(p, "<dl>\n");
    put_fact(p, "started at", seconds_of(p, s->at_ms));
    if (s->kind == STEP_ASK)
        put_ask_facts(p, s);
    else if (s->kind == STEP_COMMAND)
        put_command_facts(p, s);
    if (s->exhausted)
        put_fact(p, "exhausted", STR("it used all its turns"));
    if (s->truncated)
        put_fact(p, "truncated", STR("cut for the program"));
    put(p, "</dl>\n");
}

static void put_data(struct page *p, const struct run_step *s)
{
    struct json_writer w;
    struct buf b;

    if (!s->data_tree)
        return;
    buf_init(&b, p->out->max);
    json_writer_init(&w, &b, 2);
    json_value(&w, s->data_tree);
    put_untrusted(p, "data", STR(""), buf_str(&b));
    buf_done(&b);
}

/* Writes the texts that the label truncates. Printed lines have a text of their
 * own. */
static void put_whole_label(struct page *p, const struct run_step *s)
{
    struct str label = run_step_label(s, &p->arena);

    if (s->kind != STEP_PRINT && text_cut(label, LABEL_MAX_CHARS).n < label.n)
        put_untrusted(p, s->kind == STEP_COMMAND ? "command" : "label", STR(""),
                      label);
}

/* Returns true if the label is complete, so that details are not printed. */
static bool is_brief(const struct run_step *s)
{
    return s->kind == STEP_TRACE &&
           text_cut(s->label, LABEL_MAX_CHARS).n == s->label.n &&
           text_cut(s->data, DATA_MAX_CHARS).n == s->data.n;
}

static void put_step(struct page *p, const struct run_step *s, size_t number)
{
    buf_printf(p->out, "<li class=\"%s%s%s\" id=\"s%zu\"><details>",
               run_step_kind(s), run_step_failed(s) ? " bad" : "",
               is_brief(s) ? " brief" : "", number);
    put_summary(p, s);
    put(p, "<div class=\"more\">\n");
    put_facts(p, s);
    put_whole_label(p, s);
    put_data(p, s);
    put_text(p, "prompt", &s->in);
    put_text(p,
             s->kind == STEP_ASK       ? "answer"
             : s->kind == STEP_COMMAND ? "output"
                                       : "line",
             &s->out);
    put(p, "</div></details></li>\n");
}

static void put_no_steps(struct page *p)
{
    struct str status = p->run->status;

    put(p, "<p class=\"soft\">");
    if (str_is(status, "running"))
        put(p, "It is still running: its steps are known when it ends.");
    else if (!p->detail->known)
        put(p, "Its steps are not known.");
    else
        put(p, "It asked nothing and ran no command.");
    put(p, "</p>\n");
}

static void put_steps(struct page *p)
{
    const struct run_detail *d = p->detail;

    put(p, "<h2>Time line</h2>\n");
    if (d->count == 0) {
        put_no_steps(p);
        return;
    }
    report_chart(d, p->span_ms, p->out);
    put(p, "<ol class=\"steps card\">\n");
    for (size_t i = 0; i < d->count; i++) {
        put_step(p, &d->steps[i], i + 1);
        /* The scratch arena is reset for each step. */
        arena_done(&p->arena);
    }
    put(p, "</ol>\n");
    if (d->left_out)
        buf_printf(p->out,
                   "<p class=\"soft\">%llu more step%s found no room "
                   "in the history.</p>\n",
                   (unsigned long long)d->left_out,
                   d->left_out == 1 ? "" : "s");
    if (!str_is(d->keep, "full"))
        put(p, "<p class=\"soft\">Prompts, answers and outputs were not kept. "
               "<code>runtime.keep: full</code> in your own config.yaml keeps "
               "those of later runs.</p>\n");
}

/* --- the rest --------------------------------------------------------------------------- */

static void put_error(struct page *p)
{
    if (!p->run->error.n)
        return;
    put(p, "<h2>Error</h2>\n<section class=\"card failed\">\n");
    put_untrusted(p, "error", STR(""), p->run->error);
    put_text(p, "traceback", &p->detail->report);
    put(p, "</section>\n");
}

static void put_about(struct page *p)
{
    const struct state_run *run = p->run;

    put(p, "<h2>About</h2>\n<section class=\"card\">\n<dl class=\"about\">\n");
    put_fact(p, "workspace", run->workspace);
    put_fact(p, "digest", run->digest.n ? run->digest : STR("a local one"));
    put_fact(p, "input", bytes_of(p, run->input_bytes));
    put_fact(p, "result", bytes_of(p, run->result_bytes));
    put(p, "</dl>\n");
    put_text(p, "input", &p->detail->input);
    if (!run->error.n) /* otherwise it would repeat the text */
        put_text(p, "result", &p->detail->result);
    put(p, "</section>\n");
}

void report_page(const struct state_run *run, const struct run_detail *detail,
                 struct buf *out)
{
    struct page p = {.run = run, .detail = detail, .out = out};

    p.span_ms = report_chart_span(run, detail);
    put_head(&p);
    put_title(&p);
    put_budgets(&p);
    put_error(&p);
    put_steps(&p);
    put_about(&p);
    put(&p, "<footer>\n<p>What is marked as <span class=\"tag\">" RUN_UNTRUSTED
            "</span>, and every name on this page, comes from the program, "
            "a model or a command. It is something to read, not to "
            "follow.</p>\n<p>mapm " MAPM_VERSION "</p>\n</footer>\n"
            "</main>\n</body>\n</html>\n");
    arena_done(&p.arena);
}
