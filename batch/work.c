#include "base/fs.h"
#include "base/map.h"
#include "base/proc.h"
#include "mapm/open_store.h"

#include <unistd.h>

#include "batch.h"

/* Implements a worker, which runs one input after the other. */

#define WARNINGS_MAX 64

struct worker {
    struct batch *b;
    struct store *store;
    struct host quiet; /* host that asks no questions and prints each warning
                        * once */
    struct arena warned_in;
    struct map warned;
};

/* The run of one input. */
struct job {
    struct worker *w;
    struct batch_line *line;
    struct batch_item item;
    struct batch_effects effects;
    struct batch_records records;
    struct context cx; /* context with an arena of its own */
    struct arena *a;   /* the arena of `cx` */
    struct run_result result;
    struct str tape; /* path of the tape; `p` is NULL if none is written */
};

/* --- the host --------------------------------------------------------------- */

static void warn(void *ctx, enum notice_level level, struct str text)
{
    struct worker *w = ctx;
    const struct host *outer = w->b->q->cx->host;

    if (level != NOTICE_WARNING || !outer || !outer->notice ||
        w->warned.count >= WARNINGS_MAX)
        return;
    if (map_put(&w->warned, arena_str(&w->warned_in, text), w))
        outer->notice(outer->ctx, level, text);
}

static bool cancelled(void *ctx)
{
    (void)ctx;
    return proc_interrupted();
}

/* --- the end of an input ---------------------------------------------------- */

static bool put_end(struct job *j, const struct batch_result *r, struct err *e)
{
    struct batch *b = j->w->b;
    CLEANUP(buf_done) struct buf line = {0};
    struct batch_journal_record record = {
        .kind = JOURNAL_END, .key = j->line->key, .how = r->how};

    if (!batch_put_result(&line, r, e))
        return false;
    record.text = buf_str(&line);
    if (!batch_journal_append(&b->journal, &record, e))
        return false;
    (void)!write(b->wake[1], "", 1); /* a full pipe wakes the reader as well */
    return true;
}

static bool end_cut(struct job *j, struct err *e)
{
    const struct batch_result r = {
        .id = j->item.id,
        .shard = j->w->b->q->shard,
        .how = BATCH_INTERRUPTED,
        .error = runtime_error(
            j->w->b->skill.skill.document.name,
            arena_printf(j->a,
                         "command %u was under way when its worker ended, and "
                         "is not run again (--retry interrupted runs it)",
                         j->records.commands)
                .p,
            j->a),
    };

    return put_end(j, &r, e);
}

static bool end_run(struct job *j, struct err *e)
{
    const struct runtime_result *p = &j->result.program;
    bool completed = j->result.status == RUN_COMPLETED;
    const struct batch_result r = {
        .id = j->item.id,
        .shard = j->w->b->q->shard,
        .how = completed ? BATCH_COMPLETED : BATCH_FAILED,
        .tape =
            j->tape.p && j->result.record.code == ERR_NONE ? j->tape : STR(""),
        .envelope = p->envelope,
        .error = p->text,
    };

    if (j->result.record.code != ERR_NONE)
        context_warn(&j->cx, "%s", err_first(&j->result.record));
    return put_end(j, &r, e);
}

/* --- a run ------------------------------------------------------------------ */

static bool take_limits(void *ctx, struct limits *l, struct err *e)
{
    struct batch_effects *x = ctx;

    (void)e;
    *l = x->b->limits;
    return true;
}

static bool begin(struct job *j, struct err *e)
{
    const struct batch_journal_record r = {
        .kind = JOURNAL_START, .key = j->line->key, .input = j->line->input};

    return batch_journal_append(&j->w->b->journal, &r, e);
}

static bool is_fresh(const struct batch_line *l)
{
    return l->state == BATCH_NEW ||
           (l->state == BATCH_ENDED && l->how == BATCH_FAILED);
}

/* Builds a tape from its head and the recorded lines in the journal. */
static bool read_tape(struct job *j, struct err *e)
{
    const struct batch *b = j->w->b;
    struct tape_recorder head = {0};
    struct str text;
    bool ok;

    tape_begin(&head, b->skill.skill.document.name, STR(""), j->item.input,
               &b->limits);
    text = str_join(buf_str(&head.lines), buf_str(&j->records.tape), j->a);
    buf_done(&head.lines);
    ok = tape_parse_begun(text, b->journal.path, j->a, &j->effects.tape, e);
    if (!ok)
        e->code = ERR_DAMAGED;
    return ok;
}

/* Prepares a run. Sets `*cut` if a command was interrupted, in which case the
 * input is not run again. */
static bool prepare(struct job *j, bool *cut, struct err *e)
{
    struct batch *b = j->w->b;

    *cut = false;
    j->effects = (struct batch_effects){.b = b, .line = j->line};
    if (is_fresh(j->line)) {
        if (!begin(j, e))
            return false;
    } else if (!batch_records_read(b, j->line, &j->records, e)) {
        return false;
    }
    *cut = j->records.command_cut && j->line->state != BATCH_ENDED;
    if (!*cut && !read_tape(j, e))
        return false;
    j->effects.player =
        (struct tape_player){.tape = &j->effects.tape, .arena = j->a};
    return true;
}

static void name_tape(struct job *j)
{
    const struct batch_request *q = j->w->b->q;
    struct hash key = j->line->key;

    if (q->record.p)
        j->tape = fs_join(
            q->record,
            arena_printf(j->a, "%.*s.jsonl", STR_ARG(hash_hex(&key, j->a))),
            j->a);
}

static bool execute(struct job *j, struct err *e)
{
    struct batch *b = j->w->b;
    const struct run_request q = {
        .cx = &j->cx,
        .store = j->w->store,
        .layer = &b->layer,
        .found = &b->skill,
        .input = j->item.input,
        .backend = b->q->backend,
        .allow = b->q->allow,
        .record = j->tape,
        .unlisted = true,
        .hooks = {.ask = batch_ask,
                  .command = batch_command,
                  .limits = take_limits,
                  .ctx = &j->effects},
    };

    return run_execute(&q, j->a, &j->result, e);
}

static bool finish(struct job *j, struct err *e)
{
    const struct run_result *r = &j->result;

    if (j->effects.fault.code != ERR_NONE) {
        *e = j->effects.fault;
        return false;
    }
    if (j->effects.out_of_asks)
        return true;
    if (r->status == RUN_INTERRUPTED)
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    if (r->status == RUN_COMPLETED || r->status == RUN_FAILED)
        return end_run(j, e);
    *e = r->why;
    return e->code != ERR_NONE
               ? false
               : err_set(e, ERR_FAILED, "%.*s", STR_ARG(r->program.text));
}

static bool run_input(struct job *j, struct err *e)
{
    bool cut;

    if (!batch_input_read(&j->w->b->input, j->line, j->a, &j->item, e))
        return false;
    name_tape(j);
    if (!prepare(j, &cut, e))
        return false;
    if (cut)
        return end_cut(j, e);
    return execute(j, e) && finish(j, e);
}

static bool do_line(struct worker *w, struct batch_line *line, struct err *e)
{
    struct job j = {.w = w, .line = line, .cx = *w->b->cx};
    bool ok;

    j.cx.arena = (struct arena){0};
    j.cx.host = &w->quiet;
    j.cx.may_prompt = false;
    j.a = &j.cx.arena;
    ok = run_input(&j, e);
    batch_records_done(&j.records);
    arena_done(&j.cx.arena);
    return ok;
}

/* --- the worker ------------------------------------------------------------- */

static bool work(struct worker *w, struct err *e)
{
    struct batch *b = w->b;

    while (!b->shared->stop) {
        size_t i = atomic_fetch_add(&b->shared->next, 1);

        if (i >= b->todo_count)
            return true;
        if (proc_interrupted())
            return err_set(e, ERR_INTERRUPTED, "interrupted");
        if (!do_line(w, &b->input.lines[b->todo[i]], e))
            return false;
    }
    return true;
}

/* Stores the error unless there is one already. */
static void report(struct batch_shared *s, const struct err *e)
{
    int expected = BATCH_NO_FAULT;

    s->stop = true;
    if (!atomic_compare_exchange_strong(&s->failed, &expected,
                                        BATCH_FAULT_COMES))
        return;
    s->error = *e;
    s->failed = BATCH_FAULT;
}

void batch_work(struct batch *b)
{
    struct worker w = {.b = b,
                       .quiet = {.notice = warn, .cancelled = cancelled}};
    struct err e = {0};

    w.quiet.ctx = &w;
    map_init(&w.warned, &w.warned_in);
    if (!open_store(b->cx, &w.store, &e) || !work(&w, &e))
        report(b->shared, &e);
    close_store(b->cx, w.store);
}
