#include "base/context.h"

#include "base/env.h"

#include <stdarg.h>

#define NOTICE_MAX_BYTES (1024u * 1024)

void context_notice(struct context *cx, enum notice_level level,
                    struct str text)
{
    if (cx->host && cx->host->notice)
        cx->host->notice(cx->host->ctx, level, text);
}

static void notice_args(struct context *cx, enum notice_level level,
                        const char *format, va_list args)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, NOTICE_MAX_BYTES);
    buf_vprintf(&b, format, args);
    context_notice(cx, level, buf_str(&b));
}

void context_note(struct context *cx, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    notice_args(cx, NOTICE_INFO, format, args);
    va_end(args);
}

void context_warn(struct context *cx, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    notice_args(cx, NOTICE_WARNING, format, args);
    va_end(args);
}

void context_progress(struct context *cx, const struct progress *p)
{
    if (cx->host && cx->host->progress)
        cx->host->progress(cx->host->ctx, p);
}

bool context_check_cancelled(const struct context *cx, struct err *e)
{
    if (cx->host && cx->host->cancelled && cx->host->cancelled(cx->host->ctx))
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    return true;
}

bool context_is_ci(void)
{
    struct str ci = env_get("CI");

    return ci.n && !str_is(ci, "false") && !str_is(ci, "0");
}

bool context_can_ask(const struct context *cx)
{
    return cx->host && cx->host->can_ask && cx->host->can_ask(cx->host->ctx);
}

static bool cannot_ask(const char *question, struct err *e)
{
    return err_set(e, ERR_REFUSED, "%s There is nobody to ask", question);
}

bool context_confirm(struct context *cx, enum question_kind kind,
                     const char *question, bool *yes, struct err *e)
{
    *yes = false;
    if (!cx->host || !cx->host->confirm)
        return cannot_ask(question, e);
    return cx->host->confirm(cx->host->ctx, kind, question, yes, e);
}

bool context_choose(struct context *cx, const char *question,
                    const char *const *choices, size_t count,
                    uint64_t deadline_ms, size_t *chosen, struct err *e)
{
    if (!cx->host || !cx->host->choose)
        return cannot_ask(question, e);
    return cx->host->choose(cx->host->ctx, question, choices, count,
                            deadline_ms, chosen, e);
}

bool context_consent(struct context *cx, const char *question, struct err *e)
{
    bool yes = false;

    if (!context_confirm(cx, QUESTION_CONSENT, question, &yes, e))
        return false;
    return yes || err_set(e, ERR_REFUSED, "nothing was changed");
}
