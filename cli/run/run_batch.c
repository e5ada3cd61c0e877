#include "run_batch.h"

#include "base/proc.h"
#include "mapm/batch.h"

/* --- options ---------------------------------------------------------------- */

/* Returns the first of these options that is given, or OPTION_COUNT. */
static enum option_id first_given(const struct invocation *inv,
                                  const enum option_id *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has_option(inv, list[i]))
            return list[i];
    return OPTION_COUNT;
}

bool run_without_batch(const struct invocation *inv, struct err *e)
{
    static const enum option_id list[] = {
        OPTION_OUT,   OPTION_JOBS,     OPTION_SHARD, OPTION_JOURNAL,
        OPTION_RETRY, OPTION_MAX_COST, OPTION_MERGE,
    };
    enum option_id id = first_given(inv, list, sizeof list / sizeof *list);

    if (id == OPTION_COUNT)
        return true;
    err_set(e, ERR_USAGE, "mapm run: --%s without --batch", options[id].name);
    return err_hint(e, "--batch FILE has one input per line");
}

static bool check_usage(const struct invocation *inv, struct err *e)
{
    static const enum option_id list[] = {OPTION_INPUT, OPTION_REPLAY,
                                          OPTION_TRACE};
    enum option_id id = first_given(inv, list, sizeof list / sizeof *list);

    if (id != OPTION_COUNT)
        return err_set(e, ERR_USAGE, "mapm run: --%s with --batch",
                       options[id].name);
    if (has_option(inv, OPTION_JSON) && !has_option(inv, OPTION_OUT)) {
        err_set(e, ERR_USAGE, "mapm run: --json with --batch needs --out");
        return err_hint(e,
                        "without it the results go to standard output, which "
                        "are JSON, one a line");
    }
    if (has_option(inv, OPTION_MERGE))
        return inv->arguments.count > 1 ||
               err_set(e, ERR_USAGE,
                       "mapm run: --merge needs the names of the outputs");
    if (inv->arguments.count == 1)
        return true;
    err_set(e, ERR_USAGE, "mapm run: \"%.*s\" with --batch",
            STR_ARG(inv->arguments.items[1]));
    return err_hint(e, "inputs are in the file, one a line");
}

static bool read_shard(const struct invocation *inv, struct batch_request *q,
                       struct err *e)
{
    struct str rest = option_value(inv, OPTION_SHARD), part;
    uint64_t shard, shards;

    q->shards = 1;
    if (!rest.p)
        return true;
    if (!str_cut(&rest, '/', &part) || !rest.p ||
        !str_number(part, BATCH_MAX_SHARDS, &shard) ||
        !str_number(rest, BATCH_MAX_SHARDS, &shards) || shard >= shards) {
        err_set(e, ERR_USAGE, "--shard must be I/N, I from 0 to N - 1");
        return err_hint(e, "the first of four is 0/4, the last one 3/4");
    }
    q->shard = (unsigned)shard;
    q->shards = (unsigned)shards;
    return true;
}

static void read_retry(const struct invocation *inv, struct batch_request *q)
{
    struct str_list list = option_list(inv, OPTION_RETRY);

    for (size_t i = 0; i < list.count; i++) {
        q->retry_failed |= str_is(list.items[i], "failed");
        q->retry_interrupted |= str_is(list.items[i], "interrupted");
    }
}

static bool read_options(struct invocation *inv, struct batch_request *q,
                         struct err *e)
{
    uint64_t jobs = 1;

    read_retry(inv, q);
    if (!option_number(inv, OPTION_JOBS, BATCH_MAX_JOBS, &jobs, e) ||
        !option_number(inv, OPTION_MAX_COST, UINT32_MAX, &q->max_asks, e) ||
        !read_shard(inv, q, e))
        return false;
    q->jobs = (unsigned)jobs;
    return true;
}

static bool set_limits(void *ctx, struct limits *l, struct err *e)
{
    return run_set_limits(ctx, l, e);
}

/* --- what is shown ---------------------------------------------------------- */

static size_t ended(const struct batch_counts *c)
{
    return c->completed + c->failed + c->interrupted;
}

static void show_progress(void *ctx, const struct batch_counts *c)
{
    struct invocation *inv = ctx;

    term_progress(&inv->term, "%zu of %zu inputs, %zu failed", ended(c),
                  c->total, c->failed + c->interrupted);
}

static void show_counts(struct invocation *inv, const struct batch_counts *c)
{
    if (!c->total)
        return;
    term_note(&inv->term,
              "%zu input%s: %zu completed, %zu failed, %zu interrupted",
              c->total, c->total == 1 ? "" : "s", c->completed, c->failed,
              c->interrupted);
    if (ended(c) < c->total)
        term_note(&inv->term, "%zu not ended", c->total - ended(c));
}

static void print_counts(struct invocation *inv, const struct batch_counts *c)
{
    struct json_writer *w = print_json_begin(inv, "mapm.batch/1", "run");

    json_member_number(w, "inputs", c->total);
    json_member_number(w, "completed", c->completed);
    json_member_number(w, "failed", c->failed);
    json_member_number(w, "interrupted", c->interrupted);
    json_member_string(w, "out", option_value(inv, OPTION_OUT));
    print_json_end(inv);
}

static int exit_code_for(const struct batch_counts *c)
{
    return ended(c) == c->completed ? EXIT_DONE : EXIT_FINDINGS;
}

/* --- the command ------------------------------------------------------------ */

static bool merge(struct invocation *inv, struct batch_counts *c, struct err *e)
{
    const struct batch_merge q = {
        .cx = &inv->cx,
        .file = option_value(inv, OPTION_BATCH),
        .out = option_value(inv, OPTION_OUT),
        .outputs = {inv->arguments.items + 1, inv->arguments.count - 1},
    };

    return batch_merge(&q, c, e);
}

static bool run(struct invocation *inv, struct batch_counts *c, struct err *e)
{
    struct batch_request q = {
        .cx = &inv->cx,
        .name = inv->arguments.items[0],
        .file = option_value(inv, OPTION_BATCH),
        .out = option_value(inv, OPTION_OUT),
        .journal = option_value(inv, OPTION_JOURNAL),
        .record = option_value(inv, OPTION_RECORD),
        .backend = option_value(inv, OPTION_ASK),
        .allow = option_list(inv, OPTION_ALLOW),
        .limits = set_limits,
        .progress = show_progress,
        .ctx = inv,
    };

    if (!read_options(inv, &q, e))
        return false;
    proc_catch_signals();
    return batch_run(&q, c, e);
}

bool run_batch(struct invocation *inv, int *exit_code, struct err *e)
{
    struct batch_counts c = {0};
    bool ok =
        check_usage(inv, e) &&
        (has_option(inv, OPTION_MERGE) ? merge(inv, &c, e) : run(inv, &c, e));

    term_progress_clear(&inv->term);
    if (ok && has_option(inv, OPTION_JSON))
        print_counts(inv, &c);
    else if (!has_option(inv, OPTION_MERGE) || ok)
        show_counts(inv, &c);
    *exit_code = exit_code_for(&c);
    return ok;
}
