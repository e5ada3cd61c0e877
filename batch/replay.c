#include "base/proc.h"

#include "batch.h"

/* Performs the model calls and commands of one input. Those recorded in the
 * journal are replayed. For others, the journal gets a record before they are
 * performed and their result afterwards. */

/* --- what the journal has --------------------------------------------------- */

struct gathering {
    const struct batch_line *line;
    struct batch_records *out;
};

static bool gather(void *ctx, uint64_t at, const struct batch_journal_record *r,
                   struct err *e)
{
    struct gathering *g = ctx;
    struct batch_records *out = g->out;

    (void)at, (void)e;
    if (!hash_eq(&r->key, &g->line->key))
        return true;
    if (r->kind == JOURNAL_DID) {
        buf_append(&out->tape, r->text);
        buf_char(&out->tape, '\n');
    }
    out->command_cut = r->kind == JOURNAL_BEGIN && !r->is_ask;
    out->commands += out->command_cut;
    return true;
}

/* Reads the records of an input: those before its end if it has ended. */
bool batch_records_read(const struct batch *b, const struct batch_line *line,
                        struct batch_records *out, struct err *e)
{
    struct gathering g = {line, out};
    const struct batch_journal_each each = {gather, &g};
    uint64_t at = line->start;
    uint64_t end = line->state == BATCH_ENDED ? line->end : b->size;

    *out = (struct batch_records){0};
    buf_init(&out->tape, TAPE_MAX_BYTES);
    return batch_journal_read(&b->journal, &at, end, &each, e) &&
           buf_check(&out->tape, "what the journal has of a run", e);
}

void batch_records_done(struct batch_records *r)
{
    buf_done(&r->tape);
}

/* --- effects ---------------------------------------------------------------- */

/* Stops the batch without completing the input. Returns false. */
static bool stop(struct batch_effects *x, struct err *e)
{
    x->fault = *e;
    return false;
}

static bool begin(struct batch_effects *x, bool is_ask, struct err *e)
{
    const struct batch_journal_record r = {
        .kind = JOURNAL_BEGIN, .key = x->line->key, .is_ask = is_ask};

    return (batch_journal_append(&x->b->journal, &r, e) &&
            batch_journal_sync(&x->b->journal, e)) ||
           stop(x, e);
}

static bool keep(struct batch_effects *x, const struct buf *line, struct err *e)
{
    const struct batch_journal_record r = {
        .kind = JOURNAL_DID, .key = x->line->key, .text = buf_str(line)};

    return (buf_check(line, "a record of the journal", e) &&
            batch_journal_append(&x->b->journal, &r, e)) ||
           stop(x, e);
}

static bool is_played(const struct batch_effects *x)
{
    return x->player.at == x->tape.count;
}

static bool take_ask(struct batch_effects *x, struct err *e)
{
    struct batch_shared *s = x->b->shared;
    uint64_t most = x->b->q->max_asks;

    if (atomic_fetch_add(&s->asks, 1) < most || !most)
        return true;
    atomic_fetch_sub(&s->asks, 1);
    s->out_of_asks = true;
    s->stop = true;
    x->out_of_asks = true;
    return err_set(e, ERR_LIMIT, "the asks of this batch are used");
}

static bool keep_ask(struct batch_effects *x, const struct ask *in,
                     const struct answer *out, const struct err *why,
                     struct err *e)
{
    CLEANUP(buf_done) struct buf line = {0};

    buf_init(&line, BATCH_RECORD_MAX_BYTES - 4096);
    tape_put_ask(&line, in, out, why);
    return keep(x, &line, e);
}

bool batch_ask(void *ctx, struct run_execution *x, const struct ask *in,
               struct arena *a, struct answer *out, struct err *e)
{
    struct batch_effects *effects = ctx;
    struct runtime_host host = tape_replay(&effects->player);
    struct err fault = {0};
    bool ok;

    if (!is_played(effects))
        return host.ask(host.ctx, in, a, out, e);
    if (!take_ask(effects, e) || !begin(effects, true, e))
        return false;
    ok = run_ask(x, in, a, out, e);
    if (!ok && (e->code == ERR_INTERRUPTED || proc_interrupted()))
        return false; /* the next run of the batch repeats the call */
    if (keep_ask(effects, in, ok ? out : NULL, e, &fault))
        return ok;
    *e = fault;
    return false;
}

bool batch_command(void *ctx, struct run_execution *x, const struct command *in,
                   struct arena *a, struct command_result *out, struct err *e)
{
    struct batch_effects *effects = ctx;
    struct runtime_host host = tape_replay(&effects->player);
    CLEANUP(buf_done) struct buf line = {0};

    if (!is_played(effects))
        return host.command(host.ctx, in, a, out, e);
    if (!begin(effects, false, e) || !run_command(x, in, a, out, e))
        return false;
    buf_init(&line, BATCH_RECORD_MAX_BYTES - 4096);
    tape_put_command(&line, in, out);
    return keep(effects, &line, e);
}
