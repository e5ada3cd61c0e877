#include "base/proc.h"
#include "base/text.h"

#include <stdio.h>

#include "run.h"

/* Implements ask and command: checks the budgets and the request, then calls
 * the host. */

static bool take_budget(struct run *r, const struct limit *l, unsigned *used,
                        const char *what)
{
    struct limit_words words;

    if (!run_is_in_time(r))
        return false;
    if (*used < l->value) {
        ++*used;
        return true;
    }
    run_fail(r, "%s budget exhausted: %llu calls%s", what,
             (unsigned long long)l->value, limit_words(l, &words));
    return false;
}

static struct str repair(struct str text, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    size_t at = 0;

    if (text_is_utf8(text))
        return text;
    buf_init(&b, 3 * text.n);
    while (at < text.n) {
        int32_t c = text_next(text, &at);
        text_put(&b, c < 0 ? 0xfffd : c);
    }
    return arena_str(a, buf_str(&b));
}

/* Makes valid UTF-8 of at most `max_chars` characters of text from outside
 * (K24, K29). */
static struct str cut_text(struct str text, size_t max_chars, bool *truncated,
                           struct arena *a)
{
    struct str cut = text_cut(text, max_chars);

    *truncated |= cut.n < text.n;
    return repair(cut, a);
}

static void reply_answer(struct run *r, const struct answer *answer)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, RUN_MESSAGE_MAX_BYTES, 0);
    json_member_string(&w, "answer", answer->text);
    json_member_bool(&w, "exhausted", answer->exhausted);
    json_member_number(&w, "turns", answer->turns);
    json_member_bool(&w, "truncated", answer->truncated);
    json_end_object(&w);
    run_reply(r, &b);
}

void run_on_ask(struct run *r, struct str body)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct runtime_job *job = r->job;
    struct answer answer = {0};
    struct ask ask = {.deadline_ms = r->deadline_ms,
                      .max_chars = (size_t)job->limits->answer_max_chars.value};
    struct err e = {0};
    uint64_t start;
    bool ok;

    if (!take_budget(r, &job->limits->run_max_asks, &r->out->asks, "ask"))
        return;
    ask.number = r->out->asks;
    if (!message_read_ask(body, job->limits, &scratch, &ask)) {
        run_end_broken(r);
        return;
    }
    start = proc_now_ms();
    run_report_step(r, (struct step){.kind = STEP_ASK, .ask = &ask});
    ok = job->host.ask(job->host.ctx, &ask, &scratch, &answer, &e);
    answer.text =
        cut_text(answer.text, ask.max_chars, &answer.truncated, &scratch);
    run_report_step(r, (struct step){.kind = STEP_ASK,
                                     .done = true,
                                     .took_ms = proc_now_ms() - start,
                                     .ask = &ask,
                                     .answer = ok ? &answer : NULL,
                                     .failed = !ok});
    if (!run_is_in_time(r))
        return;
    if (ok)
        reply_answer(r, &answer);
    else
        run_end_error(r, &e);
}

static void reply_outcome(struct run *r, const struct command_result *o)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;
    char code[16];

    snprintf(code, sizeof code, "%d", o->exit_code);
    json_open(&w, &b, RUN_MESSAGE_MAX_BYTES, 0);
    json_member_bool(&w, "ok", o->ok);
    json_member_raw(&w, "exit_code", str_cstr(code));
    json_member_string(&w, "result", o->result);
    json_member_bool(&w, "truncated", o->truncated);
    json_end_object(&w);
    run_reply(r, &b);
}

static bool run_command(struct run *r, const struct command *c, const char *bad,
                        struct arena *a, struct command_result *out,
                        struct err *e)
{
    const struct runtime_host *host = &r->job->host;

    if (!bad)
        return host->command(host->ctx, c, a, out, e);
    *out = (struct command_result){.exit_code = -1,
                                   .result = arena_printf(a, "error: %s", bad)};
    return true;
}

void run_on_command(struct run *r, struct str body)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct limits *l = r->job->limits;
    struct command_result outcome = {.exit_code = -1};
    struct command command = {.deadline_ms = r->deadline_ms,
                              .max_chars = (size_t)l->command_max_chars.value};
    const char *bad = NULL;
    struct err e = {0};
    uint64_t start;
    bool ok;

    if (!take_budget(r, &l->run_max_commands, &r->out->commands, "command"))
        return;
    command.number = r->out->commands;
    if (!message_read_command(body, l, &scratch, &command, &bad)) {
        run_end_broken(r);
        return;
    }
    start = proc_now_ms();
    run_report_step(r,
                    (struct step){.kind = STEP_COMMAND, .command = &command});
    ok = run_command(r, &command, bad, &scratch, &outcome, &e);
    outcome.result = cut_text(outcome.result, command.max_chars,
                              &outcome.truncated, &scratch);
    run_report_step(r, (struct step){.kind = STEP_COMMAND,
                                     .done = true,
                                     .took_ms = proc_now_ms() - start,
                                     .command = &command,
                                     .outcome = ok ? &outcome : NULL,
                                     .failed = !ok});
    if (!run_is_in_time(r))
        return;
    if (ok)
        reply_outcome(r, &outcome);
    else
        run_end_error(r, &e);
}
