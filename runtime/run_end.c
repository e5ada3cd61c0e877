#include "base/proc.h"

#include <stdarg.h>
#include <stdio.h>

#include "run.h"

/* Ends a run without a result; only the first reason is kept. */

void run_end_as(struct run *r, enum runtime_end end, const char *why)
{
    if (r->ended)
        return;
    r->ended = true;
    r->out->end = end;
    r->out->text = runtime_error(r->job->name, why, r->a);
    r->out->envelope = STR("");
    r->out->status = STR("error");
}

void run_fail(struct run *r, const char *format, ...)
{
    char why[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    run_end_as(r, RUNTIME_FAILED, why);
}

void run_end_interrupted(struct run *r)
{
    run_end_as(r, RUNTIME_INTERRUPTED, "cancelled by a signal");
}

void run_end_late(struct run *r)
{
    const struct limit *l = &r->job->limits->run_max_seconds;
    struct limit_words words;

    run_fail(r, "timeout: the run took longer than %llu s%s",
             (unsigned long long)l->value, limit_words(l, &words));
}

/* Interpreter and host disagree about the protocol, so the worker must be
 * compromised. */
void run_end_broken(struct run *r)
{
    run_fail(r, "invalid message from the interpreter (keys that "
                "differ only in bytes that are no UTF-8 do that)");
}

/* Joins the messages, outermost first: "cannot ask x: because". */
void run_end_error(struct run *r, const struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 2 * sizeof *e);
    for (const char *m = err_prev(e, NULL); m; m = err_prev(e, m)) {
        buf_text(&b, b.n ? ": " : "");
        buf_text(&b, m);
    }
    if (e->hint[0])
        buf_printf(&b, " (%s)", e->hint);
    run_end_as(
        r, e->code == ERR_INTERRUPTED ? RUNTIME_INTERRUPTED : RUNTIME_FAILED,
        b.n ? b.p : "failed");
}

/* Called before every call of the host (K30). Returns true if the run
 * continues. */
bool run_is_in_time(struct run *r)
{
    if (proc_interrupted())
        run_end_interrupted(r);
    else if (proc_now_ms() >= r->deadline_ms)
        run_end_late(r);
    return !r->ended;
}
