#include "base/proc.h"
#include "mapm/limits.h"
#include "mapm/open_store.h"

#include <errno.h>
#include <poll.h>

#include "engine.h"

_Static_assert((int)MAPM_QUESTION == (int)NOTICE_QUESTION &&
                   (int)MAPM_TRUST == (int)QUESTION_TRUST,
               "kinds of base/context.h");

/* --- messages ----------------------------------------------------------------------- */

const char *engine_text(struct engine *g, struct str s)
{
    return str_dup0(s, &g->cx.arena);
}

struct str engine_str(const char *text)
{
    return text ? str_cstr(text) : STR("");
}

bool engine_send(struct engine *g, enum wire_kind kind, enum wire_type type,
                 const void *records, size_t count, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, WIRE_MAX_BYTES);
    wire_put(&b, kind, type, records, count);
    return wire_send(g->fd, &b, e);
}

/* Polls the lifeline together with the socket, so that no
 * interruption is missed. */
static bool wait_for_message(struct engine *g, uint64_t deadline_ms,
                             struct err *e)
{
    struct pollfd fds[] = {{g->fd, POLLIN, 0}, {g->lifeline, POLLIN, 0}};

    for (;;) {
        uint64_t now = proc_now_ms();
        int wait_ms = -1;

        if (deadline_ms)
            wait_ms = deadline_ms > now ? (int)(deadline_ms - now) : 0;
        if (poll(fds, 2, wait_ms) < 0 && errno != EINTR)
            return err_errno(e, "wait for the host");
        if (fds[1].revents || proc_interrupted())
            return err_set(e, ERR_INTERRUPTED, "interrupted");
        if (fds[0].revents)
            return true;
        if (deadline_ms && proc_now_ms() >= deadline_ms)
            return err_set(e, ERR_FAILED, "the host did not answer in time");
    }
}

bool engine_wait(struct engine *g, uint64_t deadline_ms,
                 struct wire_answer *out, struct err *e)
{
    struct wire_message in;

    if (!wait_for_message(g, deadline_ms, e))
        return false;
    if (!wire_receive(g->fd, &g->cx.arena, &in, e))
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    if (in.kind != WIRE_REPLY || in.type != WIRE_ANSWER || in.count != 1)
        return err_set(e, ERR_FORMAT, "libmapm sent no reply");
    *out = *(const struct wire_answer *)in.records;
    return true;
}

/* --- the host of the context ----------------------------------------------------------- */

/* Errors are ignored: if the host has ended, the lifeline interrupts
 * the engine. */
static void send_line(struct engine *g, enum wire_kind kind, unsigned level,
                      const char *text)
{
    const struct wire_line l = {level, text};
    struct err ignored = {0};

    if (!engine_send(g, kind, WIRE_LINE, &l, 1, &ignored))
        err_clear(&ignored);
}

static void notice(void *ctx, enum notice_level level, struct str text)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, WIRE_MAX_BYTES);
    buf_append(&b, text);
    send_line(ctx, WIRE_NOTICE, level, b.p ? b.p : "");
}

static void progress(void *ctx, const struct progress *p)
{
    struct engine *g = ctx;
    struct mapm_progress r = {0};
    struct err ignored = {0};

    if (p)
        r = (struct mapm_progress){.done = p->done,
                                   .total = p->total,
                                   .is_waiting = p->is_waiting,
                                   .bytes = p->bytes,
                                   .elapsed_ms = p->elapsed_ms};
    if (!engine_send(g, WIRE_PROGRESS, WIRE_PROGRESS_RECORD, &r, p ? 1 : 0,
                     &ignored))
        err_clear(&ignored);
}

static bool confirm(void *ctx, enum question_kind kind, const char *question,
                    bool *yes, struct err *e)
{
    struct engine *g = ctx;
    struct wire_answer a;

    send_line(g, WIRE_CONFIRM, kind, question);
    if (!engine_wait(g, 0, &a, e))
        return false;
    *yes = a.is_yes;
    return true;
}

static bool choose(void *ctx, const char *question, const char *const *choices,
                   size_t count, uint64_t deadline_ms, size_t *chosen,
                   struct err *e)
{
    struct engine *g = ctx;
    const struct wire_choice c = {question, choices, count};
    struct wire_answer a;

    *chosen = count - 1;
    if (!g->can_choose)
        return true;
    if (!engine_send(g, WIRE_CHOOSE, WIRE_CHOICE, &c, 1, e) ||
        !engine_wait(g, deadline_ms, &a, e))
        return false;
    if (a.chosen < count)
        *chosen = a.chosen;
    return true;
}

static bool can_ask(void *ctx)
{
    (void)ctx;
    return true;
}

static bool cancelled(void *ctx)
{
    (void)ctx;
    return proc_interrupted();
}

void engine_host(struct engine *g, const struct wire_options *o)
{
    g->can_choose = o->can_choose;
    g->host = (struct host){.notice = notice,
                            .progress = progress,
                            .cancelled = cancelled,
                            .ctx = g};
    if (o->can_confirm) {
        g->host.confirm = confirm;
        g->host.choose = choose;
        g->host.can_ask = can_ask;
    }
    g->cx.host = &g->host;
    g->cx.use_global = o->use_global;
    g->cx.is_offline = o->is_offline;
}

bool engine_store(struct engine *g, struct err *e)
{
    return g->store || open_store(&g->cx, &g->store, e);
}
