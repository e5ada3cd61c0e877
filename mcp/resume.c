#include <string.h>
#include <time.h>

#include "jobs.h"
#include "shape.h"

/*
 * Multi round-trip requests (stateless). A task with a question answers its
 * call with "input_required" and a requestState; the client comes back with
 * the answers.
 *
 *     the process exists --> it continues
 *     it is at work already   --> this one waits for the same result
 *     it waits for its turn   --> the same
 *     it is over              --> the same result, from the journal
 *     another one was started --> run again, from the journal
 *
 * So a retry that comes twice, at once or later, does nothing twice.
 */

static void put_requests(struct job *j, struct buf *out)
{
    struct json_writer w;

    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    for (size_t i = 0; i < j->question_count; i++) {
        const struct question *q = &j->questions[i];

        if (q->answer.n)
            continue;
        json_key_str(&w, q->key);
        json_begin_object(&w);
        json_member_string(&w, "method", q->method);
        json_member_raw(&w, "params", q->params);
        json_end_object(&w);
    }
    json_end_object(&w);
}

/* Answers all waiting calls with the questions. */
static void request_retries(struct job *j)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf requests = {0};
    struct ticket t = {.round = j->round, .expires_s = j->expires_s};
    struct str state;

    memcpy(t.run, j->entries.run, sizeof t.run);
    state = ticket_format(j->s, &t, &j->digest, &a);
    buf_init(&requests, MCP_TASK_MAX_BYTES * 2);
    put_requests(j, &requests);
    while (j->calls) {
        struct mcp_call *c = j->calls;

        reply_input_required(c, buf_str(&requests), state);
        call_drop(c);
    }
}

void job_suspend(struct job *j)
{
    struct err e = {0};

    j->expires_s = (uint64_t)time(NULL) + MCP_STATE_MAX_SECONDS;
    if (!entries_write(&j->entries, j->expires_s, &e)) {
        job_send_failed(j, e.code, err_first(&e));
        return;
    }
    j->state = JOB_WAITING;
    request_retries(j);
}

/* --- answers ---------------------------------------------------------------------- */

static bool keep_one(struct job *j, unsigned round, struct str key,
                     const struct json *answer, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct json_writer w;

    if (!answer || entries_find(&j->entries, ENTRY_ANSWER, round, key))
        return true;
    buf_init(&text, MCP_TASK_MAX_BYTES);
    json_writer_init(&w, &text, 0);
    json_value(&w, answer);
    if (!buf_check(&text, "an answer of the client, as JSON", e))
        return err_wrap(e, "inputResponses");
    return entries_add(&j->entries,
                       (struct entry){.kind = ENTRY_ANSWER,
                                      .number = round,
                                      .key = key,
                                      .text = buf_str(&text)},
                       e);
}

/* Reads the questions of a round; "*first" is NULL if there are none. */
static bool read_asked(const struct entries *x, unsigned round, struct arena *a,
                       const struct json **first, struct err *e)
{
    static const struct json_options options = {.max_depth =
                                                    MCP_LINE_MAX_DEPTH + 2};
    const struct entry *ask = entries_find(x, ENTRY_ASK, round, STR(""));
    const struct json *questions;

    *first = NULL;
    if (!ask)
        return true;
    if (!json_parse(ask->text, &options, a, &questions, NULL, e))
        return false;
    *first = questions->first;
    return true;
}

bool job_keep_answers(struct job *j, unsigned round,
                      const struct json *responses, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *q;

    if (!responses)
        return true;
    if (!read_asked(&j->entries, round, &a, &q, e))
        return false;
    for (; q; q = q->next) {
        struct str key = json_text(json_get(q, "key"));

        if (!keep_one(j, round, key, json_get_str(responses, key), e))
            return false;
    }
    return true;
}

bool answers_check(const struct entries *x, unsigned round,
                   const struct json *responses, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *q;

    if (!responses)
        return true;
    if (!read_asked(x, round, &a, &q, e))
        return false;
    for (; q; q = q->next) {
        struct str key = json_text(json_get(q, "key"));
        struct str method = json_text(json_get(q, "method"));
        const struct json *answer = json_get_str(responses, key);

        if (!answer || entries_find(x, ENTRY_ANSWER, round, key) ||
            shape_is_answer(method, answer))
            continue;
        return err_set(e, ERR_USAGE,
                       "inputResponses: \"%.*s\" is not a result of %.*s",
                       STR_ARG(key), STR_ARG(method));
    }
    return true;
}

/* Returns false after answering the call with an error. Nothing was stored
 * then, so a retry with correct answers continues. */
static bool may_come_back(struct mcp_call *c, const struct entries *x,
                          unsigned round)
{
    struct err e = {0};

    if (answers_check(x, round, json_get(c->params, "inputResponses"), &e))
        return true;
    mcp_call_error(c, e.code == ERR_USAGE ? MCP_PARAMS : MCP_INTERNAL, STR(""),
                   "%s", err_first(&e));
    return false;
}

/* --- coming back ------------------------------------------------------------------- */

static struct job *find_job(struct server *s, const char *run)
{
    for (struct job *j = s->jobs; j; j = j->next)
        if (j->records && j->state != JOB_LEAVING &&
            str_is(str_cstr(run), j->entries.run))
            return j;
    return NULL;
}

/* Returns false if the call was answered. */
static bool keep_brought(struct job *j, struct mcp_call *c, unsigned round)
{
    struct err e = {0};

    if (job_keep_answers(j, round, json_get(c->params, "inputResponses"), &e))
        return true;
    mcp_call_error(c, e.code == ERR_LIMIT ? MCP_PARAMS : MCP_INTERNAL, STR(""),
                   "%s", err_first(&e));
    return false;
}

/* True: this call must also carry the function to run, as the call that brought
 * it may be cancelled while the job is queued. */
static bool join(struct job *j, struct mcp_call *c, const struct ticket *t)
{
    if (!may_come_back(c, &j->entries, t->round) ||
        !keep_brought(j, c, t->round))
        return false;
    job_attach(j, c);
    if (j->state == JOB_WAITING && !job_go_on(j))
        request_retries(j);
    return j->state == JOB_QUEUED;
}

/* A job that has ended answers with its result. */
static bool answer_ended(struct mcp_call *c, struct entries *x)
{
    for (size_t i = 0; i < x->count; i++) {
        const struct entry *n = &x->items[i];

        if (n->kind != ENTRY_RESULT && n->kind != ENTRY_ERROR)
            continue;
        call_end(c, n);
        return true;
    }
    return false;
}

/* Returns false if the call was answered. */
static bool take_up(struct mcp_call *c, const struct ticket *t,
                    const struct hash *digest)
{
    struct entries x;
    struct err e = {0};
    struct job *j;

    if (!entries_read(&x, c->s->is->journal, t->run, &e)) {
        if (e.code == ERR_NOT_FOUND)
            mcp_call_error(c, MCP_PARAMS, STR(""),
                           "requestState: it is not known any more");
        else
            mcp_call_error(c, MCP_INTERNAL, STR(""), "requestState: %s",
                           err_first(&e));
        return false;
    }
    if (answer_ended(c, &x) || !may_come_back(c, &x, t->round)) {
        entries_leave(&x);
        entries_done(&x);
        return false;
    }
    j = job_new(c);
    j->records = true;
    j->digest = *digest;
    j->entries = x;
    if (x.count && x.items[0].kind == ENTRY_CALL)
        j->began_s = x.items[0].used;
    return keep_brought(j, c, t->round);
}

bool job_resume(struct mcp_call *c)
{
    const struct json *responses = json_get(c->params, "inputResponses");
    const struct json *state = json_get(c->params, "requestState");
    struct hash digest;
    struct ticket t;
    struct job *j;

    if (responses && responses->kind != JSON_OBJECT) {
        mcp_call_error(c, MCP_PARAMS, STR(""),
                       "inputResponses is not an object");
        return false;
    }
    if (!state)
        return true;
    c->resumed = true;
    digest = ticket_digest(c);
    if (state->kind != JSON_STRING ||
        !ticket_parse(c->s, state->text, &digest, &t)) {
        mcp_call_error(c, MCP_PARAMS, STR(""),
                       "requestState: it is not of this call, or expired");
        return false;
    }
    j = find_job(c->s, t.run);
    if (!j)
        return take_up(c, &t, &digest);
    return join(j, c, &t);
}
