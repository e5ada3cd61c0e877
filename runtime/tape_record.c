#include "base/digest.h"
#include "base/hash.h"
#include "mapm/runtime.h"
#include "mapm/tape.h"

#include "tape.h"

/* Records a tape, with one line for each request and its result. */

struct str tape_digest(struct str program, struct arena *a)
{
    return digest_of(program, a);
}

/* Writes JSON on one line. */
static void put_json(struct json_writer *w, const char *key, struct str json)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct json_options options = {.max_depth = TAPE_MAX_DEPTH};
    const struct json *j;
    struct err ignored = {0};

    json_key(w, key);
    if (json_parse(json, &options, &scratch, &j, NULL, &ignored))
        json_value(w, j);
    else
        json_null(w); /* not JSON: reported by tape_parse */
}

static void put_limits(struct json_writer *w, const struct limits *limits)
{
    bool any = false;

    for (size_t i = 0; i < tape_limit_count; i++) {
        /* a copy, since limits_find returns a writable limit */
        struct limits now = *limits, usual = limits_default;
        struct str name = str_cstr(tape_limits[i]);
        uint64_t value = limits_find(&now, name)->value;

        if (value == limits_find(&usual, name)->value)
            continue;
        if (!any) {
            json_member_object(w, "limits");
        }
        any = true;
        json_member_number(w, tape_limits[i], value);
    }
    if (any)
        json_end_object(w);
}

void tape_begin(struct tape_recorder *r, struct str name, struct str digest,
                struct str input, const struct limits *limits)
{
    struct json_writer w;

    json_open(&w, &r->lines, TAPE_MAX_BYTES, 0);
    json_member_number(&w, "tape", TAPE_VERSION);
    json_member_string(&w, "name", name);
    json_member_string(&w, "digest", digest);
    put_json(&w, "input", input);
    put_limits(&w, limits);
    json_end_object(&w);
    buf_char(&r->lines, '\n');
}

/* --- ask and command ---------------------------------------------------------- */

static void put_answer(struct json_writer *w, const struct answer *answer)
{
    json_member_string(w, "answer", answer->text);
    json_member_bool(w, "exhausted", answer->exhausted);
    json_member_number(w, "turns", answer->turns);
    json_member_bool(w, "truncated", answer->truncated);
}

static void put_failure(struct json_writer *w, const struct err *e)
{
    CLEANUP(buf_done) struct buf text;

    buf_init(&text, 2 * sizeof *e);
    for (const char *m = err_prev(e, NULL); m; m = err_prev(e, m)) {
        if (text.n)
            buf_text(&text, ": ");
        buf_text(&text, m);
    }
    /* formatted like an error of a run */
    if (e->hint[0])
        buf_printf(&text, " (%s)", e->hint);
    json_member_string(w, "error", buf_str(&text));
}

void tape_put_ask(struct buf *lines, const struct ask *in,
                  const struct answer *out, const struct err *e)
{
    struct json_writer w;

    json_writer_init(&w, lines, 0);
    json_begin_object(&w);
    json_member_object(&w, "ask");
    json_member_string(&w, "prompt", in->prompt);
    put_json(&w, "opts", in->opts);
    json_end_object(&w);
    json_member_object(&w, "result");
    if (out)
        put_answer(&w, out);
    else
        put_failure(&w, e);
    json_end_object(&w);
    json_end_object(&w);
}

static bool record_ask(void *ctx, const struct ask *in, struct arena *a,
                       struct answer *out, struct err *e)
{
    struct tape_recorder *r = ctx;
    bool ok = r->inner.ask(r->inner.ctx, in, a, out, e);

    tape_put_ask(&r->lines, in, ok ? out : NULL, e);
    buf_char(&r->lines, '\n');
    return ok;
}

static void put_argv(struct json_writer *w, const struct command *in)
{
    json_member_strings(w, "argv", in->argv, in->argc);
}

static void put_outcome(struct json_writer *w, const struct command_result *out)
{
    json_member_bool(w, "ok", out->ok);
    json_key(w, "exit_code");
    if (out->exit_code < 0)
        json_raw(w, STR("-1"));
    else
        json_number(w, (uint64_t)out->exit_code);
    json_member_string(w, "result", out->result);
    json_member_bool(w, "truncated", out->truncated);
}

void tape_put_command(struct buf *lines, const struct command *in,
                      const struct command_result *out)
{
    struct json_writer w;

    json_writer_init(&w, lines, 0);
    json_begin_object(&w);
    json_member_object(&w, "command");
    put_argv(&w, in);
    put_json(&w, "opts", in->opts);
    json_end_object(&w);
    json_member_object(&w, "result");
    put_outcome(&w, out);
    json_end_object(&w);
    json_end_object(&w);
}

/* An interrupted run fails with its command and writes no tape. */
static bool record_command(void *ctx, const struct command *in, struct arena *a,
                           struct command_result *out, struct err *e)
{
    struct tape_recorder *r = ctx;

    if (!r->inner.command(r->inner.ctx, in, a, out, e))
        return false;
    tape_put_command(&r->lines, in, out);
    buf_char(&r->lines, '\n');
    return true;
}

static void pass_step(void *ctx, const struct step *s)
{
    struct tape_recorder *r = ctx;

    if (r->inner.step)
        r->inner.step(r->inner.ctx, s);
}

struct runtime_host tape_record(struct tape_recorder *r)
{
    return (struct runtime_host){record_ask, record_command, pass_step, r};
}

/* --- the end ------------------------------------------------------------------- */

static void put_end(struct buf *out, const struct runtime_result *result)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct json_writer w;

    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    if (result->end == RUNTIME_COMPLETED)
        put_json(&w, "envelope", result->envelope);
    else
        json_member_string(&w, "error", tape_error(result->text, &scratch));
    json_end_object(&w);
}

bool tape_end(struct tape_recorder *r, const struct runtime_result *result,
              struct err *e)
{
    if (result->end == RUNTIME_INTERRUPTED)
        return err_set(e, ERR_INTERRUPTED,
                       "no tape was written: the run was interrupted");
    put_end(&r->lines, result);
    buf_char(&r->lines, '\n');
    if (!r->lines.overflowed)
        return true;
    return err_set(e, ERR_LIMIT,
                   "no tape was written: it has more than %u bytes",
                   TAPE_MAX_BYTES);
}

struct str tape_update(struct str text, const struct tape *t,
                       const struct runtime_result *r, struct arena *a)
{
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, (size_t)2 * TAPE_MAX_BYTES);
    buf_append(&out, str_slice(text, 0, t->end_from));
    put_end(&out, r);
    buf_append(&out, str_from_index(text, t->end_to));
    return arena_str(a, buf_str(&out));
}
