#include "base/fs.h"
#include "base/proc.h"
#include "mapm/clients_preset.h"

#include <string.h>

#include "agent_env.h"
#include "backend.h"
#include "reading.h"

/*
 * Gets an answer from a program: a preset or exec. The prompt is written to its
 * stdin and its output is parsed as it arrives. Its whole process group,
 * daemons included, is killed when the answer is complete, at the limit of
 * turns or time, or on a signal.
 */

#define WHY_MAX_CHARS      600
#define LAST_WORDS_BYTES   500
#define TURNS_TEXT_BYTES   12
#define ARGUMENT_MAX_BYTES (128u * 1024 - 64) /* Linux: MAX_ARG_STRLEN */
#define INTERPRETER_GONE                                                       \
    127 /* exit code of "env: node: No
                                               * such file" */

struct talk {
    const struct backend *k;
    const struct ask *in;
    const struct backend_progress *news;
    struct reading reading;
    struct agent_env env;
    struct arena *arena;
};

static void talk_done(struct talk *t)
{
    reading_done(&t->reading);
}

/* --- starting it ------------------------------------------------------------ */

static struct str argument(const struct talk *t, const char *word)
{
    struct arena *a = t->arena;

    if (strcmp(word, "{turns}") == 0)
        return arena_printf(a, "%u", t->in->max_turns);
    if (strcmp(word, "{model}") == 0)
        return arena_str(a, t->k->model);
    if (strcmp(word, "{prompt}") == 0)
        return str_join(t->in->prompt, STR("\n"), a);
    return str_cstr(word);
}

static bool takes_argument(const struct preset *p)
{
    for (size_t i = 0; p && p->args[i]; i++)
        if (strcmp(p->args[i], "{prompt}") == 0)
            return true;
    return false;
}

static const char *const *make_argv(const struct talk *t)
{
    const struct backend *k = t->k;
    const char *const *args = k->preset ? k->preset->args : NULL;
    const char **argv;
    size_t n = 0;

    argv = arena_array(t->arena, PRESET_MAX_ARGS + k->argc + 2, sizeof *argv);
    argv[n++] = str_dup0(k->program, t->arena);
    for (size_t i = 1; i < k->argc; i++)
        argv[n++] = str_dup0(k->argv[i], t->arena);
    for (size_t i = 0; args && args[i]; i++) {
        if (args[i + 1] && strcmp(args[i + 1], "{model}") == 0 && !k->model.n)
            i++;
        else
            argv[n++] = str_dup0(argument(t, args[i]), t->arena);
    }
    return argv;
}

static bool check_prompt(const struct talk *t, struct err *e)
{
    struct str prompt = t->in->prompt;

    if (!takes_argument(t->k->preset))
        return true;
    if (prompt.n <= ARGUMENT_MAX_BYTES && !str_has_char(prompt, '\0'))
        return true;
    err_set(e, ERR_LIMIT,
            "%.*s takes its prompt as an argument, which has at most %u bytes "
            "and no NUL",
            STR_ARG(t->k->name), ARGUMENT_MAX_BYTES);
    return err_hint(e,
                    "ask for less at once, or choose another one with --ask");
}

/* --- while it runs ------------------------------------------------------------ */

static void take_output(void *ctx, bool is_err, struct str block)
{
    struct talk *t = ctx;

    if (!is_err)
        reading_feed(&t->reading, block);
}

static bool go_on(void *ctx)
{
    const struct talk *t = ctx;

    backend_report_progress(t->news, t->reading.turns,
                            buf_str(&t->reading.text));
    return !t->reading.stop;
}

/* --- the result --------------------------------------------------------- */

/* Returns true if the text contains words of a missing log-in, in any
 * spelling. */
static bool is_about_login(struct str text)
{
    static const char *const words[] = {
        "log in",       "login",   "logged in",   "authenticat",
        "unauthorized", "api key", "auth method", "credential",
        "trusted dir",  "401",     "api_key",     "no auth",
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct str word = str_cstr(words[i]);

        for (size_t at = 0; at + word.n <= text.n; at++)
            if (str_eq_nocase(str_slice(text, at, at + word.n), word))
                return true;
    }
    return false;
}

static bool fail(const struct talk *t, struct str why, struct err *e)
{
    const struct preset *p = t->k->preset;

    why = agent_env_hide(&t->env, why, WHY_MAX_CHARS, t->arena);
    if (!why.n)
        why = STR("it does not say why");
    err_set(e, ERR_FAILED, "%.*s: %.*s", STR_ARG(t->k->name), STR_ARG(why));
    if (p && is_about_login(why))
        return err_hint(e, "%s", p->log_in);
    if (str_is(t->k->why, "--ask"))
        return false;
    return err_hint(e, "chosen by %.*s; --ask chooses another one",
                    STR_ARG(t->k->why));
}

static bool fail_by_code(const struct talk *t, const struct proc_result *ran,
                         struct err *e)
{
    struct str last = str_trim(ran->err);
    struct str text;

    if (!last.n)
        last = str_trim(
            buf_str(t->reading.rules ? &t->reading.why : &t->reading.text));
    text = arena_printf(t->arena, "ended with exit code %d%s", ran->exit_code,
                        last.n ? ": " : ", and without a word");
    /* Keep the end of stderr, which usually has the reason. */
    if (last.n > LAST_WORDS_BYTES)
        last = str_from_index(last, last.n - LAST_WORDS_BYTES);
    if (ran->exit_code == INTERPRETER_GONE && !last.n)
        last = STR("a program that it needs is not there");
    return fail(t, str_join(text, last, t->arena), e);
}

static bool fail_by_time(const struct talk *t, struct err *e)
{
    struct str why = agent_env_hide(&t->env, buf_str(&t->reading.why),
                                    WHY_MAX_CHARS, t->arena);

    return err_set(e, ERR_FAILED,
                   "%.*s: not done when the time of the run was over%s%.*s",
                   STR_ARG(t->k->name), why.n ? ": " : "", STR_ARG(why));
}

static bool ended_at_limit(const struct talk *t, int code)
{
    const struct preset *p = t->k->preset;

    if (t->reading.exhausted)
        return true;
    for (size_t i = 0; p && p->exhausted_codes[i]; i++)
        if (p->exhausted_codes[i] == code)
            return true;
    return t->reading.flooded && p;
}

static unsigned turns_used(const struct talk *t)
{
    unsigned turns = t->reading.turns, cap = t->in->max_turns;

    /* If the backend does not report turns, the specification uses the granted
     * number. */
    return turns && turns < cap ? turns : cap;
}

static bool read_reply(const struct talk *t, const struct proc_result *ran,
                       struct answer *out, struct err *e)
{
    const struct reading *r = &t->reading;
    bool at_limit = ended_at_limit(t, ran->exit_code);
    struct str text = buf_str(&r->text);

    if (ran->timed_out)
        return fail_by_time(t, e);
    if (!at_limit && r->failed)
        return fail(t, buf_str(&r->why), e);
    if (!at_limit && !r->stop && ran->exit_code != 0)
        return fail_by_code(t, ran, e);
    if (!at_limit && r->rules && !r->answered && !text.n)
        return fail(t,
                    r->had_event ? STR("it ended without an answer")
                                 : STR("what it prints is not what this "
                                       "release of mapm reads"),
                    e);
    *out = (struct answer){.exhausted = at_limit, .turns = turns_used(t)};
    out->truncated = r->flooded;
    if (!r->rules)
        while (text.n && strchr("\r\n", text.p[text.n - 1]))
            text.n--;
    out->text = backend_text(text, t->in->max_chars, t->arena, &out->truncated);
    return true;
}

static bool ask_program(struct backend *k, struct str dir, const struct ask *in,
                        const struct backend_progress *news, struct arena *a,
                        struct answer *out, struct err *e)
{
    const struct preset *p = k->preset;
    CLEANUP(talk_done)
    struct talk t = {.k = k, .in = in, .news = news, .arena = a};
    uint64_t now = proc_now_ms();
    struct proc_options o = {
        .dir = str_dup0(dir, a),
        .output = take_output,
        .go_on = go_on,
        .ctx = &t,
        .end_all = true,
        .report_timeout = true,
    };
    struct proc_result ran;

    if (in->deadline_ms <= now)
        return err_set(e, ERR_FAILED, "no time is left to ask");
    if (!check_prompt(&t, e))
        return false;
    reading_init(&t.reading, p ? p->rules : NULL,
                 p && p->keeps_cap ? 0 : in->max_turns, in->max_chars);
    agent_env_build(&t.env, p, in, a);
    o.timeout_ms = in->deadline_ms - now > UINT32_MAX
                       ? 0
                       : (unsigned)(in->deadline_ms - now);
    o.argv = make_argv(&t);
    o.env = t.env.vars;
    if (!takes_argument(p))
        o.input = in->prompt;
    if (!proc_run(&o, a, &ran, e))
        return err_wrap(e, "%.*s did not answer", STR_ARG(k->name));
    reading_end(&t.reading);
    return read_reply(&t, &ran, out, e);
}

/* --- which program ---------------------------------------------------------- */

static bool find_preset(struct backend *k, const struct backend_request *w,
                        struct err *e)
{
    const struct preset *p = k->preset;

    if (w->configured)
        k->model = w->configured->model;
    if (backend_find_program(w->all, p->program, k->arena, &k->program, e))
        return true;
    err_wrap(e, "%.*s, chosen by %.*s, is not there", STR_ARG(k->name),
             STR_ARG(k->why));
    return err_hint(e, "%s", p->install);
}

/* Finds the program of a path on the command line, or of an absolute one in the
 * user's file. */
static bool find_exec(struct backend *k, const struct backend_request *w,
                      struct err *e)
{
    struct str program = k->argv[0];

    if (str_has_char(program, '/')) {
        k->program = program;
        return true;
    }
    if (backend_find_program(w->all, str_dup0(program, k->arena), k->arena,
                             &k->program, e))
        return true;
    err_wrap(e, "the program chosen by %.*s is not there", STR_ARG(k->why));
    return err_hint(e, "name it by its path: exec:/path/to/it");
}

static bool prepare_program(struct backend *k, const struct backend_request *w,
                            struct err *e)
{
    return k->preset ? find_preset(k, w, e) : find_exec(k, w, e);
}

const struct backend_kind backend_cli_kind = {prepare_program, ask_program};
