#include "base/hash.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/open_store.h"

#include <string.h>

#include "connection.h"

/*
 * Asks and commands of a program, each executed once. A run may be run again
 * from the start, after a restart of the server: each ask and command then gets
 * the recorded result. An operation that was begun and has no recorded end may
 * have been executed: it fails, and is not repeated (K19).
 *
 * The record is the result that the program gets. The first run reads it back
 * from the record, too, so that both runs are equal.
 */

#define SAMPLING_TOKENS 8192
#define NOTE_MAX_BYTES  MCP_TASK_MAX_BYTES
#define LABEL_MAX_CHARS 60

/* --- progress ------------------------------------------------------------------ */

static void send_progress(struct serve_job *j)
{
    mcp_task_progress(j->task, (double)(proc_now_ms() - j->since_ms) / 1000.0,
                      -1, j->doing);
}

static void set_doing(struct serve_job *j, const char *verb, struct str what)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, sizeof j->doing_text - 1);
    buf_text(&b, verb);
    if (what.n) {
        buf_text(&b, ": ");
        text_visible(&b, text_cut(text_one_line(what, &a), LABEL_MAX_CHARS),
                     false);
    }
    j->doing = str_make(j->doing_text, 0);
    if (!b.overflowed) {
        memcpy(j->doing_text, b.p, b.n);
        j->doing.n = b.n;
    }
    send_progress(j);
}

void serve_step(void *ctx, const struct step *s)
{
    struct serve_job *j = ctx;
    CLEANUP(arena_done) struct arena a = {0};

    if (s->kind == STEP_START)
        set_doing(j, "running", s->text);
    else if (s->kind == STEP_ASK && !s->done)
        set_doing(j, "asking", s->ask->purpose);
    else if (s->kind == STEP_COMMAND && !s->done)
        set_doing(j, "command",
                  policy_line(s->command->argv, s->command->argc, &a));
}

/* --- notes ------------------------------------------------------------------------ */

static struct str what_of(const char *kind, unsigned number,
                          struct hash_state *h, struct arena *a)
{
    struct hash hash = hash_end(h);

    return arena_printf(a, "%s %u %.*s", kind, number,
                        STR_ARG(hash_hex(&hash, a)));
}

static struct str what_is_asked(const struct ask *in, struct arena *a)
{
    struct hash_state h;

    hash_init(&h);
    hash_add(&h, in->prompt);
    hash_add(&h, str_make("", 1));
    hash_add(&h, in->opts);
    return what_of("ask", in->number, &h, a);
}

static struct str what_is_run(const struct command *in, struct arena *a)
{
    struct hash_state h;

    hash_init(&h);
    for (size_t i = 0; i < in->argc; i++) {
        hash_add(&h, in->argv[i]);
        hash_add(&h, str_make("", 1));
    }
    hash_add(&h, in->opts);
    return what_of("command", in->number, &h, a);
}

static const struct json *parse_note(struct str note, struct arena *a,
                                     struct err *e)
{
    static const struct json_options bounds = {.max_bytes = NOTE_MAX_BYTES};
    const struct json *tree;

    if (!json_parse(note, &bounds, a, &tree, NULL, e) ||
        tree->kind != JSON_OBJECT) {
        err_set(e, ERR_DAMAGED, "the log of this run cannot be read");
        return NULL;
    }
    return tree;
}

static uint64_t number_of(const struct json *object, const char *key)
{
    const struct json *j = json_get(object, key);
    uint64_t n = 0;

    if (j && j->kind == JSON_NUMBER)
        str_number(j->text, INT32_MAX, &n);
    return n;
}

/* --- whether it still may ----------------------------------------------------------- */

static bool check_now(struct serve_job *j, struct layer *now, struct err *e)
{
    struct context *cx = j->s->cx;
    struct store *store = NULL;
    bool ok = open_store(cx, &store, e) &&
              layer_open_workspace(cx, LAYER_READ, now, e) &&
              run_check_allowed(cx, store, now, &j->result->found, true, e);

    layer_close(now);
    close_store(cx, store);
    return ok;
}

/* A call may wait for an hour, during which trust and policy may change: a run
 * that is no longer allowed ends here, as it would after a restart (X27). */
static bool check_still_allowed(struct serve_job *j, struct err *e)
{
    struct layer now = {0};
    struct err *refusal;

    if (!j->has_waited)
        return true;
    err_clear(e);
    if (check_now(j, &now, e))
        return true;
    refusal = arena_new(j->a, struct err);
    *refusal = *e;
    j->refusal = refusal;
    return false;
}

/* --- ask --------------------------------------------------------------------------- */

static struct str note_failure(const struct err *e, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, NOTE_MAX_BYTES, 0);
    json_member_string(&w, "failed", str_cstr(err_code_name(e->code)));
    json_member_array(&w, "messages");
    for (const char *m = err_next(e, NULL); m; m = err_next(e, m))
        json_string(&w, str_cstr(m));
    json_end_array(&w);
    json_member_string(&w, "hint", str_cstr(e->hint));
    json_end_object(&w);
    return arena_str(a, buf_str(&b));
}

static struct str note_answer(const struct answer *in, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, NOTE_MAX_BYTES, 0);
    json_member_string(&w, "answer", in->text);
    json_member_number(&w, "turns", in->turns);
    json_member_bool(&w, "exhausted", in->exhausted);
    json_member_bool(&w, "truncated", in->truncated);
    json_end_object(&w);
    return arena_str(a, buf_str(&b));
}

static bool fail_as_noted(const struct json *note, struct str code,
                          struct err *e)
{
    const struct json *m = json_get(note, "messages");
    struct str hint = json_text(json_get(note, "hint"));
    enum err_code known = err_code_find(code.p, code.n);
    bool first = true;

    for (m = m ? m->first : NULL; m; m = m->next) {
        if (first)
            err_set(e, known, "%.*s", STR_ARG(m->text));
        else
            err_wrap(e, "%.*s", STR_ARG(m->text));
        first = false;
    }
    if (first)
        err_set(e, known, "the ask failed");
    return hint.n ? err_hint(e, "%.*s", STR_ARG(hint)) : false;
}

static bool read_answer(struct str text, struct arena *a, struct answer *out,
                        struct err *e)
{
    const struct json *note = parse_note(text, a, e);
    struct str code = json_text(json_get(note, "failed"));

    if (!note)
        return false;
    if (code.p)
        return fail_as_noted(note, code, e);
    *out = (struct answer){
        .text = json_text(json_get(note, "answer")),
        .exhausted = json_is_true(json_get(note, "exhausted")),
        .truncated = json_is_true(json_get(note, "truncated")),
        .turns = (unsigned)number_of(note, "turns"),
    };
    return true;
}

/* Records the capability that the client lacks, for the error of the stateless
 * protocol. */
static void note_missing_capability(struct serve_job *j, const struct err *e)
{
    if (j->s->sampling && mcp_call_era(mcp_task_call(j->task)) == MCP_STATELESS)
        j->lacks = arena_str(&j->s->cx->arena, str_cstr(err_first(e)));
}

static bool ask_backend(struct serve_job *j, struct run_execution *x,
                        const struct ask *in, struct arena *a,
                        struct answer *out, struct err *e)
{
    if (run_select_backend(x, e))
        return run_ask(x, in, a, out, e);
    note_missing_capability(j, e);
    return false;
}

static bool ask_once(struct serve_job *j, struct run_execution *x,
                     const struct ask *in, struct arena *a, struct answer *out,
                     struct err *e)
{
    enum mcp_once state;
    struct str note;

    if (!mcp_task_once(j->task, what_is_asked(in, a), a, &state, &note, e))
        return false;
    if (state == MCP_CUT)
        return err_set(e, ERR_FAILED,
                       "ask %u was cut off when the server ended, and is not "
                       "asked again",
                       in->number);
    if (state == MCP_FIRST) {
        if (ask_backend(j, x, in, a, out, e))
            note = note_answer(out, a);
        else if (e->code == ERR_INTERRUPTED)
            return false;
        else
            note = note_failure(e, a);
        if (!mcp_task_noted(j->task, note, e))
            return false;
    }
    return read_answer(note, a, out, e);
}

/* --- the client's own model ------------------------------------------------------------ */

static bool sampling_params(const struct ask *in, struct arena *a,
                            struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, NOTE_MAX_BYTES, 0);
    serve_put_messages(&w, in->prompt);
    json_member_number(&w, "maxTokens", SAMPLING_TOKENS);
    json_end_object(&w);
    *out = arena_str(a, buf_str(&b));
    return buf_check(&b, "the prompt", e);
}

static void put_text(struct buf *b, const struct json *content)
{
    if (str_is(json_text(json_get(content, "type")), "text"))
        buf_append(b, json_text(json_get(content, "text")));
}

/* Reads one content item or, since 2025-11-25, a list of them. */
static bool read_sample(const struct json *sample, const struct ask *in,
                        struct arena *a, struct answer *out, struct err *e)
{
    const struct json *content = json_get(sample, "content");
    struct str stop = json_text(json_get(sample, "stopReason"));
    CLEANUP(buf_done) struct buf b = {0};
    bool cut = str_is(stop, "maxTokens");
    struct str text;

    if (!content)
        return err_set(e, ERR_FORMAT, "the client's answer has no content");
    buf_init(&b, MCP_LINE_MAX_BYTES);
    if (content->kind == JSON_ARRAY)
        for (const struct json *m = content->first; m; m = m->next)
            put_text(&b, m);
    else
        put_text(&b, content);
    text = text_cut(buf_str(&b), in->max_chars);
    *out = (struct answer){
        .text = arena_str(a, text),
        .exhausted = cut,
        .truncated = cut || text.n < b.n || b.overflowed,
        .turns = 1,
    };
    return true;
}

static bool ask_client(struct serve_job *j, struct run_execution *x,
                       const struct ask *in, struct arena *a,
                       struct answer *out, struct err *e)
{
    struct mcp_question q = {
        .key = arena_printf(a, "ask%u", in->number),
        .method = STR("sampling/createMessage"),
    };

    run_name_backend(x, STR("sampling"));
    if (sampling_params(in, a, &q.params, e) &&
        mcp_task_ask(j->task, &q, 1, a, e) && q.answer) {
        j->has_waited = true;
        return check_still_allowed(j, e) &&
               read_sample(q.answer, in, a, out, e);
    }
    if (e->code == ERR_NONE)
        err_set(e, ERR_FAILED, "the client did not respond");
    if (e->code == ERR_REFUSED) /* a retry that declares fewer capabilities
                                 * than the call */
        note_missing_capability(j, e);
    if (e->code != ERR_INTERRUPTED)
        err_wrap(e, "--ask sampling: the client's model was asked");
    return false;
}

/* --ask sampling: a client that cannot answer is as one of another --ask. */
bool serve_ask(void *ctx, struct run_execution *x, const struct ask *in,
               struct arena *a, struct answer *out, struct err *e)
{
    struct serve_job *j = ctx;

    if (j->s->sampling &&
        mcp_call_client_can(mcp_task_call(j->task), "sampling"))
        return ask_client(j, x, in, a, out, e);
    return ask_once(j, x, in, a, out, e);
}

/* --- command ----------------------------------------------------------------------------- */

static struct str note_outcome(const struct command_result *in, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, NOTE_MAX_BYTES, 0);
    json_member_bool(&w, "ok", in->ok);
    if (in->exit_code >= 0)
        json_member_number(&w, "exit_code", (uint64_t)in->exit_code);
    json_member_string(&w, "result", in->result);
    json_member_bool(&w, "truncated", in->truncated);
    json_member_string(&w, "rule", in->rule);
    json_end_object(&w);
    return arena_str(a, buf_str(&b));
}

static bool read_outcome(struct str text, struct arena *a,
                         struct command_result *out, struct err *e)
{
    const struct json *note = parse_note(text, a, e);

    if (!note)
        return false;
    *out = (struct command_result){
        .ok = json_is_true(json_get(note, "ok")),
        .exit_code = json_get(note, "exit_code")
                         ? (int)number_of(note, "exit_code")
                         : -1,
        .result = json_text(json_get(note, "result")),
        .truncated = json_is_true(json_get(note, "truncated")),
        .rule = json_text(json_get(note, "rule")),
    };
    return true;
}

bool serve_command(void *ctx, struct run_execution *x, const struct command *in,
                   struct arena *a, struct command_result *out, struct err *e)
{
    struct serve_job *j = ctx;
    enum mcp_once state;
    struct str note;

    if (!mcp_task_once(j->task, what_is_run(in, a), a, &state, &note, e))
        return false;
    if (state == MCP_CUT) {
        *out = (struct command_result){
            .exit_code = -1,
            .result = STR("error: it was cut off when the server ended, and "
                          "is not run again"),
        };
        return true;
    }
    if (state == MCP_FIRST) {
        if (!check_still_allowed(j, e) || !run_command(x, in, a, out, e))
            return false;
        note = note_outcome(out, a);
        if (!mcp_task_noted(j->task, note, e))
            return false;
    }
    return read_outcome(note, a, out, e);
}
