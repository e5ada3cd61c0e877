#ifndef TESTS_RUNTIME_HOST_H
#define TESTS_RUNTIME_HOST_H

#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "mapm/runtime.h"

#include <fcntl.h>
#include <stdlib.h>

#include "tap.h"

/*
 * A host that plays a script: the n-th ask gets the n-th answer, the n-th
 * command the n-th outcome, the last one again when there are no more. What
 * was called, and each step, is written down as lines.
 */

struct script {
    const struct answer *answers;
    size_t answer_count;
    const struct command_result *outcomes;
    size_t outcome_count;
    bool ask_fails; /* "the model is ill" */
    unsigned delay_ms;
    size_t asked, commanded;
    struct buf log;
};

static bool script_ask(void *ctx, const struct ask *in, struct arena *a,
                       struct answer *out, struct err *e)
{
    struct script *s = ctx;
    size_t n = s->asked++;

    (void)a;
    buf_printf(&s->log, "ask %u [%.*s] %u %.*s: %.*s\n", in->number,
               STR_ARG(in->purpose), in->max_turns, STR_ARG(in->opts),
               STR_ARG(in->prompt));
    if (s->ask_fails) {
        err_set(e, ERR_FAILED, "the model is ill");
        err_wrap(e, "ask nobody");
        return err_hint(e, "name another");
    }
    if (s->answer_count)
        *out = s->answers[n < s->answer_count ? n : s->answer_count - 1];
    return true;
}

static bool script_command(void *ctx, const struct command *in, struct arena *a,
                           struct command_result *out, struct err *e)
{
    struct script *s = ctx;
    size_t n = s->commanded++;

    (void)e;
    buf_printf(&s->log, "command %u %us %.*s: %.*s\n", in->number,
               in->timeout_s, STR_ARG(in->opts), (int)in->argc, "********");
    for (size_t i = 0; i < in->argc; i++)
        buf_printf(&s->log, "  %.*s\n", STR_ARG(in->argv[i]));
    (void)a;
    if (s->outcome_count)
        *out = s->outcomes[n < s->outcome_count ? n : s->outcome_count - 1];
    return true;
}

static void script_step(void *ctx, const struct step *step)
{
    static const char *const names[] = {"start", "ask",   "command",
                                        "trace", "print", "finish"};
    struct script *s = ctx;

    buf_printf(&s->log, "step %s%s%s", names[step->kind],
               step->done ? " done" : "", step->failed ? " failed" : "");
    if (step->text.n)
        buf_printf(&s->log, " %.*s", STR_ARG(step->text));
    if (step->data.n)
        buf_printf(&s->log, " %.*s", STR_ARG(step->data));
    buf_char(&s->log, '\n');
}

/* One run: everything in it, freed by run_done. */
struct tried {
    struct arena arena;
    struct limits limits;
    struct script script;
    struct runtime_result r;
};

static struct runtime_job job_of(struct tried *t, const char *program,
                                 const char *input)
{
    return (struct runtime_job){
        .name = STR("x"),
        .file = STR("SKILL.star"),
        .program = str_cstr(program),
        .input = str_cstr(input),
        .limits = &t->limits,
        .host = {script_ask, script_command, script_step, &t->script},
    };
}

static void try_init(struct tried *t)
{
    *t = (struct tried){.limits = limits_default};
    buf_init(&t->script.log, 64u << 20);
}

static void try_run(struct tried *t, const char *program, const char *input)
{
    struct runtime_job job = job_of(t, program, input);

    runtime_run(&job, &t->arena, &t->r);
}

static void try_done(struct tried *t)
{
    buf_done(&t->script.log);
    arena_done(&t->arena);
}

static bool text_has(struct str text, const char *what)
{
    return str_find(text, str_cstr(what)) != SIZE_MAX;
}

static bool log_has(const struct tried *t, const char *what)
{
    return text_has(buf_str(&t->script.log), what);
}

/* The envelope as a tree; NULL when it is none. */
static const struct json *envelope_of(struct tried *t)
{
    const struct json_options options = {.max_depth = 250};
    const struct json *j;
    struct err e = {0};

    if (!json_parse(t->r.envelope, &options, &t->arena, &j, NULL, &e)) {
        printf("# envelope: %s\n", err_first(&e));
        return NULL;
    }
    return j;
}

/* A member of the envelope as text: a string's, or the value as written. */
static const char *member_of(struct tried *t, const char *key)
{
    const struct json *j = json_get(envelope_of(t), key);

    if (!j)
        return "(none)";
    return str_dup0(j->kind == JSON_STRING
                        ? j->text
                        : str_slice(t->r.envelope, j->start, j->end),
                    &t->arena);
}

#endif
