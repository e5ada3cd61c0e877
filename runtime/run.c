#include "run.h"

#include "base/invariant.h"
#include "base/proc.h"

/*
 * The host's side of a run: waits for messages of the process that runs the
 * program, enforces the budgets, and calls the host. The process is not
 * trusted: budgets, times and sizes are counted again here.
 */

uint64_t run_took(const struct run *r)
{
    return proc_now_ms() - r->start_ms;
}

void run_report_step(const struct run *r, struct step s)
{
    const struct runtime_host *host = &r->job->host;

    s.at_ms = run_took(r);
    if (host->step)
        host->step(host->ctx, &s);
}

static void on_trace(struct run *r, struct str body)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct json *data;
    struct str kind, text;

    if (r->trace.count >= r->job->limits->run_max_traces.value)
        return;
    if (!message_read_trace(body, &scratch, &kind, &data)) {
        run_end_broken(r);
        return;
    }
    if (trace_add(&r->trace, kind, data, &scratch, &text))
        run_report_step(
            r, (struct step){.kind = STEP_TRACE, .text = kind, .data = text});
}

static void on_print(struct run *r, struct str body)
{
    if (body.n > PRINT_MAX_BYTES - r->printed)
        return;
    r->printed += body.n;
    INVARIANT(r->printed <= PRINT_MAX_BYTES);
    if (str_ends(body, STR("\n")))
        body.n--;
    run_report_step(r, (struct step){.kind = STEP_PRINT, .text = body});
}

static void on_result(struct run *r, struct str body)
{
    struct envelope in = {
        .name = r->job->name,
        .limits = r->job->limits,
        .trace = &r->trace,
        .asks = r->out->asks,
        .commands = r->out->commands,
        .took_ms = run_took(r),
    };
    struct err e = {0};

    if (!run_is_in_time(r))
        return;
    if (envelope_make(&in, body, r->a, r->out, &e)) {
        r->out->end = RUNTIME_COMPLETED;
        r->ended = true;
    } else if (e.code == ERR_LIMIT) {
        run_end_error(r, &e);
    } else {
        run_end_broken(r);
    }
}

/* Returns the name of the limit, for the hint how to raise it. */
static const char *failure_limit(const struct run *r, struct str code,
                                 struct limit_words *words)
{
    const struct limits *l = r->job->limits;

    if (str_is(code, "memory"))
        return limit_words(&l->run_max_memory_bytes, words);
    if (str_is(code, "steps"))
        return limit_words(&l->run_max_steps, words);
    return "";
}

static void on_failure(struct run *r, struct str body)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct message_failure f;
    struct limit_words words = {""};

    if (!message_read_failure(body, &scratch, &f)) {
        run_end_broken(r);
        return;
    }
    r->out->report = arena_str(r->a, f.report);
    if (proc_interrupted())
        run_end_interrupted(r);
    else if (str_is(f.code, "timeout") || proc_now_ms() >= r->deadline_ms)
        run_end_late(r);
    else
        run_end_as(r, RUNTIME_FAILED,
                   arena_printf(&scratch, "%.*s%s", STR_ARG(f.why),
                                failure_limit(r, f.code, &words))
                       .p);
}

static void take(struct run *r, const struct message *m)
{
    switch (m->kind) {
    case MESSAGE_ASK:
        run_on_ask(r, m->body);
        break;
    case MESSAGE_COMMAND:
        run_on_command(r, m->body);
        break;
    case MESSAGE_TRACE:
        on_trace(r, m->body);
        break;
    case MESSAGE_PRINT:
        on_print(r, m->body);
        break;
    case MESSAGE_RESULT:
        on_result(r, m->body);
        break;
    case MESSAGE_FAILURE:
        on_failure(r, m->body);
        break;
    case MESSAGE_REPLY:
        run_end_broken(r);
        break;
    }
}

/* --- the run ---------------------------------------------------------------- */

void run_begin(struct run *r, const struct runtime_job *job, struct arena *a,
               struct runtime_result *out)
{
    *out = (struct runtime_result){.envelope = STR(""), .report = STR("")};
    *r = (struct run){
        .job = job,
        .a = a,
        .out = out,
        .worker = {.fd = -1},
        .start_ms = proc_now_ms(),
    };
    r->deadline_ms = r->start_ms + job->limits->run_max_seconds.value * 1000;
    message_input_init(&r->in);
    trace_init(&r->trace, job->limits);
    trace_note(&r->trace, "metaskill_start", envelope_start(job->name, a));
}

void run_serve(struct run *r)
{
    struct message m;

    while (!r->ended && run_receive(r, &m)) {
        take(r, &m);
        /* Checked in each round, so a flood of messages cannot delay the
         * end. */
        if (!r->ended)
            run_is_in_time(r);
    }
}

/* The process exits while the host records the end. */
void run_finish(struct run *r)
{
    int status;

    INVARIANT(r->ended && r->out->status.n);
    INVARIANT(r->trace.count <= r->job->limits->run_max_traces.value);
    worker_kill(&r->worker);
    r->out->traces = r->trace.count;
    r->out->took_ms = run_took(r);
    run_report_step(r,
                    (struct step){.kind = STEP_FINISH,
                                  .text = r->out->status,
                                  .failed = r->out->end != RUNTIME_COMPLETED});
    worker_end(&r->worker, &status);
    trace_done(&r->trace);
    message_input_done(&r->in);
}

void runtime_prepare(const struct runtime_job *job, struct runtime_ahead *out)
{
    struct worker w = {.fd = -1};
    struct err ignored = {0};

    *out = (struct runtime_ahead){0};
    if (worker_start(job, &w, &ignored))
        *out = (struct runtime_ahead){w.pid, w.fd};
}

void runtime_drop(struct runtime_ahead *ahead)
{
    struct worker w = {ahead->pid, ahead->fd};
    int status;

    worker_end(&w, &status);
    *ahead = (struct runtime_ahead){0};
}

/* Uses the process started ahead, or starts one. */
static bool start(struct run *r, struct err *e)
{
    struct runtime_ahead *ahead = r->job->ahead;

    if (ahead && ahead->pid) {
        r->worker = (struct worker){ahead->pid, ahead->fd};
        *ahead = (struct runtime_ahead){0};
    } else if (!worker_start(r->job, &r->worker, e)) {
        return false;
    }
    worker_go(&r->worker, r->deadline_ms);
    return true;
}

/* The program computes while the host is notified; its requests are read
 * afterwards. */
void runtime_run(const struct runtime_job *job, struct arena *a,
                 struct runtime_result *out)
{
    struct err e = {0};
    struct run r;
    bool started;

    run_begin(&r, job, a, out);
    started = run_is_in_time(&r) && start(&r, &e);
    run_report_step(&r, (struct step){.kind = STEP_START, .text = job->name});
    if (started)
        run_serve(&r);
    else
        run_end_error(&r, &e);
    run_finish(&r);
}
