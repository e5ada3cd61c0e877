#include "base/proc.h"

#include <string.h>

#include "jobs.h"
#include "worker.h"

/*
 * Questions of a task to the client. Recorded answers come from the entries;
 * the others by requests of the server (sessioned), or by a result that
 * demands a retry (stateless).
 */

/* --- questions -------------------------------------------------------------------- */

/* Without a mode an elicitation is a form. */
static const char *capability_of(struct str method, const struct json *params)
{
    const struct json *mode = json_get(params, "mode");

    if (str_is(method, "sampling/createMessage"))
        return json_get(params, "tools") || json_get(params, "toolChoice")
                   ? "sampling/tools"
                   : "sampling";
    if (str_is(method, "roots/list"))
        return "roots";
    if (!str_is(method, "elicitation/create"))
        return NULL;
    if (!mode || str_is(json_text(mode), "form"))
        return "elicitation/form";
    return str_is(json_text(mode), "url") ? "elicitation/url" : NULL;
}

static void read_questions(struct job *j, struct str text)
{
    static const struct json_options options = {.max_depth =
                                                    MCP_LINE_MAX_DEPTH + 2};
    const struct json *list, *q;
    struct err e;

    arena_done(&j->asked);
    j->question_count = 0;
    text = arena_str(&j->asked, text);
    if (!json_parse(text, &options, &j->asked, &list, NULL, &e))
        return;
    j->questions = arena_array(&j->asked, list->count, sizeof *j->questions);
    for (q = list->first; q; q = q->next) {
        const struct json *params = json_get(q, "params");

        j->questions[j->question_count++] = (struct question){
            .key = json_text(json_get(q, "key")),
            .method = json_text(json_get(q, "method")),
            .params = str_slice(text, params->start, params->end),
            .capability =
                capability_of(json_text(json_get(q, "method")), params),
        };
    }
}

static void take_recorded(struct job *j)
{
    for (size_t i = 0; j->records && i < j->question_count; i++) {
        struct question *q = &j->questions[i];
        const struct entry *n =
            entries_find(&j->entries, ENTRY_ANSWER, j->round, q->key);

        if (n)
            q->answer = n->text;
    }
}

static bool all_answered(const struct job *j)
{
    for (size_t i = 0; i < j->question_count; i++)
        if (!j->questions[i].answer.n)
            return false;
    return true;
}

static void send_answers(struct job *j)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct json_writer w;

    json_open(&w, &out, 2 * (size_t)MCP_TASK_MAX_BYTES, 0);
    for (size_t i = 0; i < j->question_count; i++) {
        json_key_str(&w, j->questions[i].key);
        json_raw(&w, j->questions[i].answer);
    }
    json_end_object(&w);
    j->state = JOB_RUNNING;
    if (out.overflowed)
        job_send_failed(j, ERR_LIMIT, "the client's answers are too long");
    else
        job_send(j, FRAME_ANSWERS, buf_str(&out));
}

bool job_go_on(struct job *j)
{
    take_recorded(j);
    if (!all_answered(j))
        return false;
    send_answers(j);
    return true;
}

/* The client that receives the question: the newest call of the job. */
static bool may_ask(const struct job *j, const char **lacking)
{
    const struct mcp_call *c = j->calls;

    for (size_t i = 0; i < j->question_count; i++) {
        const char *capability = j->questions[i].capability;

        *lacking = capability;
        if (!capability || !c || !mcp_call_client_can(c, capability))
            return false;
    }
    return true;
}

/* --- the sessioned protocol ------------------------------------------------------------------- */

static void send_requests(struct job *j)
{
    struct server *s = j->s;
    unsigned wait = s->is->ask_max_ms ? s->is->ask_max_ms : MCP_ASK_MAX_MS;

    for (size_t i = 0; i < j->question_count; i++) {
        struct question *q = &j->questions[i];
        struct buf *out = &s->out;

        q->id = ++s->asked;
        buf_printf(out,
                   "{\"jsonrpc\":\"2.0\",\"id\":\"mapm-%llu\",\"method\":"
                   "\"%.*s\",\"params\":",
                   (unsigned long long)q->id, STR_ARG(q->method));
        put_json(out, q->params);
        buf_text(out, "}\n");
    }
    j->state = JOB_WAITING;
    j->unsent = false;
    j->ask_ms = proc_now_ms() + wait;
}

/* No request may be sent before notifications/initialized. Clients that do not
 * send it count as ready after their next request or some time. */
static void ask_when_ready(struct job *j)
{
    if (j->s->ready) {
        send_requests(j);
        return;
    }
    j->state = JOB_WAITING;
    j->unsent = true;
    j->ask_ms = proc_now_ms() + MCP_READY_MAX_MS;
}

void jobs_ask(struct server *s)
{
    s->ready = true;
    for (struct job *j = s->jobs; j; j = j->next)
        if (j->unsent && j->state == JOB_WAITING)
            send_requests(j);
}

void jobs_on_client_ready(struct server *s)
{
    for (struct job *j = s->jobs; j && !s->ready; j = j->next)
        if (j->unsent)
            jobs_ask(s);
}

void job_withdraw(struct job *j)
{
    if (j->state != JOB_WAITING || j->records)
        return;
    j->unsent = false;
    for (size_t i = 0; i < j->question_count; i++) {
        struct question *q = &j->questions[i];

        if (q->id && !q->answer.n)
            buf_printf(&j->s->out,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
                       "cancelled\",\"params\":{\"requestId\":\"mapm-%llu\","
                       "\"reason\":\"No answer is needed any more\"}}\n",
                       (unsigned long long)q->id);
        q->id = 0;
    }
}

static void ask_failed(struct job *j, enum err_code code, const char *why)
{
    job_withdraw(j);
    j->state = JOB_RUNNING;
    job_send_failed(j, code, why);
}

void job_ask_late(struct job *j)
{
    if (j->unsent) {
        jobs_ask(j->s);
        return;
    }
    ask_failed(j, ERR_FAILED, "the client did not answer in time");
}

static struct question *find_asked(struct server *s, uint64_t id,
                                   struct job **of)
{
    for (struct job *j = s->jobs; j; j = j->next) {
        if (j->state != JOB_WAITING || j->records)
            continue;
        *of = j;
        for (size_t i = 0; i < j->question_count; i++)
            if (j->questions[i].id == id)
                return &j->questions[i];
    }
    return NULL;
}

static void take_refusal(struct job *j, struct question *q,
                         const struct json *error)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *code = json_get(error, "code");
    struct str message = json_text(json_get(error, "message"));
    bool refused = code && str_eq(code->text, STR("-1")); /* the user did */

    q->id = 0;
    ask_failed(j, refused ? ERR_REFUSED : ERR_FAILED,
               arena_printf(&a, "the client refused: %.*s",
                            (int)(message.n < 500 ? message.n : 500),
                            message.p ? message.p : "")
                   .p);
}

static void take_result(struct job *j, struct question *q,
                        const struct json *result)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct json_writer w;

    buf_init(&text, MCP_TASK_MAX_BYTES);
    json_writer_init(&w, &text, 0);
    json_value(&w, result);
    if (text.overflowed) {
        q->id = 0;
        ask_failed(j, ERR_LIMIT, "the client's answer is too long");
        return;
    }
    q->answer = arena_str(&j->asked, buf_str(&text));
    if (all_answered(j))
        send_answers(j);
}

void job_take_answer(struct server *s, const struct json *message)
{
    struct str id = json_text(json_get(message, "id"));
    const struct json *result = json_get(message, "result");
    const struct json *error = json_get(message, "error");
    struct question *q;
    struct job *j = NULL;
    uint64_t number;

    if (!str_starts(id, STR("mapm-")) ||
        !str_number(str_from_index(id, 5), UINT64_MAX, &number) || !number)
        return;
    q = find_asked(s, number, &j);
    if (!q || q->answer.n)
        return;
    if (error) {
        take_refusal(j, q, error);
    } else if (!result || result->kind != JSON_OBJECT) {
        q->id = 0;
        ask_failed(j, ERR_FAILED, "the client's answer is not an object");
    } else {
        take_result(j, q, result);
    }
}

/* --- frames from the task ----------------------------------------------- */

static bool take_used(struct str *body, uint64_t *used)
{
    if (body->n < sizeof *used)
        return false;
    memcpy(used, body->p, sizeof *used);
    *body = str_from_index(*body, sizeof *used);
    return true;
}

/* Compares the question with the journal; false after an error was sent. */
static bool repeat(struct job *j, enum entry_kind kind, unsigned number,
                   struct str text, uint64_t used)
{
    const struct entry *before =
        entries_find(&j->entries, kind, number, STR(""));
    struct err e = {0};

    if (before && str_eq(before->text, text))
        return true;
    if (before) {
        job_send_failed(j, ERR_DAMAGED,
                        "this is not what was done the last time");
        return false;
    }
    if (entries_add(&j->entries,
                    (struct entry){.kind = kind,
                                   .number = number,
                                   .key = STR(""),
                                   .text = text,
                                   .used = used},
                    &e))
        return true;
    job_send_failed(j, e.code, err_first(&e));
    return false;
}

/* The first request may contain answers to questions that are known in advance.
 * Invalid ones are ignored, and the question is sent. */
static void take_brought(struct job *j)
{
    struct err e;

    for (struct mcp_call *c = j->calls; c; c = c->next_of_job) {
        const struct json *responses = json_get(c->params, "inputResponses");

        if (!c->resumed &&
            (!answers_check(&j->entries, j->round, responses, &e) ||
             !job_keep_answers(j, j->round, responses, &e)))
            return;
    }
    take_recorded(j);
}

void job_on_ask(struct job *j, struct str body)
{
    CLEANUP(arena_done) struct arena a = {0};
    const char *lacking = NULL;
    uint64_t used;

    if (!take_used(&body, &used))
        return;
    j->round++;
    if (j->records && !repeat(j, ENTRY_ASK, j->round, body, used))
        return;
    read_questions(j, body);
    take_recorded(j);
    if (j->records && !all_answered(j))
        take_brought(j);
    if (job_go_on(j))
        return;
    if (!may_ask(j, &lacking))
        job_send_failed(j, ERR_REFUSED,
                        arena_printf(&a, "the client cannot be asked (%s)",
                                     lacking ? lacking : "no such question")
                            .p);
    else if (j->records)
        job_suspend(j);
    else if (mcp_call_era(j->calls) == MCP_SESSIONED)
        ask_when_ready(j);
    else
        job_send_failed(j, ERR_REFUSED,
                        "nothing can be asked in answer to this method");
}

static void send_state(struct job *j, enum mcp_once state, struct str text)
{
    CLEANUP(buf_done) struct buf out = {0};

    buf_init(&out, 2 * (size_t)MCP_TASK_MAX_BYTES);
    buf_char(&out, (char)state);
    buf_append(&out, text);
    job_send(j, FRAME_STATE, buf_str(&out));
}

void job_on_once(struct job *j, struct str body)
{
    const struct entry *note;
    bool before;
    uint64_t used;

    if (!take_used(&body, &used))
        return;
    j->onces++;
    if (!j->records) {
        send_state(j, MCP_FIRST, STR(""));
        return;
    }
    before = entries_find(&j->entries, ENTRY_BEGIN, j->onces, STR(""));
    if (!repeat(j, ENTRY_BEGIN, j->onces, body, used))
        return;
    note = entries_find(&j->entries, ENTRY_NOTE, j->onces, STR(""));
    if (note)
        send_state(j, MCP_DONE, note->text);
    else
        send_state(j, before ? MCP_CUT : MCP_FIRST, STR(""));
}

void job_on_noted(struct job *j, struct str body)
{
    uint64_t used;

    if (!take_used(&body, &used))
        return;
    if (j->records && !repeat(j, ENTRY_NOTE, j->onces, body, used))
        return;
    job_send(j, FRAME_KEPT, STR(""));
}
