#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "mapm/open_store.h"
#include "mapm/run_history.h"
#include "mapm/state_runs.h"

#include "../command.h"
#include "runs_show.h"

#define LIST_DEFAULT      20
#define LIST_MAX          100000
#define NAME_COLUMNS      40
#define STATUS_COLUMNS    16
#define WORKSPACE_COLUMNS 60

/* --- the list --------------------------------------------------------------------- */

/* Escapes and truncates a text to at most `columns`. Allocated in `a`. */
static struct str shown(struct str s, size_t columns, struct arena *a)
{
    struct str text;
    struct buf b;

    buf_init(&b, 1024 * 1024);
    text_visible(&b, s, false);
    text = arena_str(a, buf_str(&b));
    buf_done(&b);
    if (text_count(text) <= columns)
        return text;
    return arena_printf(a, "%.*s...", STR_ARG(text_cut(text, columns - 3)));
}

static void pad(struct term *t, struct str s, size_t columns)
{
    size_t wide = text_width(s);

    term_print(t, "%.*s%*s", STR_ARG(s),
               (int)(wide < columns ? columns - wide : 0), "");
}

static void print_rows(struct invocation *inv, const struct state_run *runs,
                       size_t count)
{
    size_t wide = 0, wide_status = 0;
    struct term *t = &inv->term;
    struct arena *a = &inv->cx.arena;
    char when[TEXT_TIME_BYTES], seconds[32];

    for (size_t i = 0; i < count; i++) {
        size_t n = text_width(shown(runs[i].name, NAME_COLUMNS, a));
        size_t m = text_width(shown(runs[i].status, STATUS_COLUMNS, a));

        wide = n > wide ? n : wide;
        wide_status = m > wide_status ? m : wide_status;
    }
    for (size_t i = 0; i < count; i++) {
        const struct state_run *r = &runs[i];
        struct str status = shown(r->status, STATUS_COLUMNS, a);

        term_print(t, "%5llu  %s  ", (unsigned long long)r->id,
                   run_when(r->started_ms, false, when));
        pad(t, shown(r->name, NAME_COLUMNS, a), wide + 2);
        term_style_print(t, runs_style_of(r->status), "%.*s", STR_ARG(status));
        pad(t, STR(""), wide_status - text_width(status) + 2);
        term_print(t, "%2u ask%s %3u command%s %12s", r->asks,
                   r->asks == 1 ? ", " : "s,", r->commands,
                   r->commands == 1 ? ", " : "s,",
                   r->took_ms ? run_seconds(r->took_ms, seconds) : "-");
        if (has_option(inv, OPTION_ALL_RUNS))
            term_print(t, "  %.*s",
                       STR_ARG(shown(r->workspace, WORKSPACE_COLUMNS, a)));
        term_print(t, "\n");
    }
}

static void print_list_json(struct invocation *inv, struct str workspace,
                            const struct state_run *runs, size_t count)
{
    struct json_writer *w = print_json_begin(inv, "mapm.runs/1", NULL);

    json_member_optional(w, "workspace", workspace);
    json_member_array(w, "runs");
    for (size_t i = 0; i < count; i++) {
        json_begin_object(w);
        runs_put_json(w, &runs[i]);
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(inv);
}

static bool list(struct invocation *inv, struct store *store, struct err *e)
{
    struct state_run *runs;
    struct str workspace;
    uint64_t max = LIST_DEFAULT;
    size_t count;

    if (!option_number(inv, OPTION_LIMIT, LIST_MAX, &max, e) ||
        !run_history_workspace(&inv->cx, has_option(inv, OPTION_ALL_RUNS),
                               &workspace, e) ||
        !state_list_runs(store_state(store), workspace, (size_t)max,
                         &inv->cx.arena, &runs, &count, e))
        return false;
    if (has_option(inv, OPTION_JSON)) {
        print_list_json(inv, workspace, runs, count);
        return true;
    }
    print_rows(inv, runs, count);
    if (count == 0 && workspace.n)
        term_note(&inv->term, "nothing was run in %.*s so far",
                  STR_ARG(workspace));
    else if (count == 0)
        term_note(&inv->term, "nothing was run so far");
    else if (count == max && !option_value(inv, OPTION_LIMIT).p)
        term_note(&inv->term, "these are the last %zu: --limit shows more",
                  count);
    return true;
}

/* --- one -------------------------------------------------------------------------------- */

/* The page is private to the user. */
#define PAGE_MODE      0600
#define PAGE_MAX_BYTES (64u * 1024 * 1024)

static bool write_page(struct invocation *inv, const struct state_run *run,
                       const struct run_detail *detail, struct err *e)
{
    CLEANUP(buf_done) struct buf page = {0};

    buf_init(&page, PAGE_MAX_BYTES);
    report_page(run, detail, &page);
    return buf_check(&page, "the page of the run", e) &&
           print_to_file(inv, OPTION_HTML, PAGE_MODE, buf_str(&page), e);
}

static bool show(struct invocation *inv, struct store *store, struct err *e)
{
    struct str page = option_value(inv, OPTION_HTML);
    struct err broken = {0};
    struct run_detail detail;
    struct state_run run;

    if (page.p && page.n == 0)
        return err_set(e, ERR_USAGE, "--html: the file's name is empty");
    if (str_is(page, "-") && has_option(inv, OPTION_JSON))
        return err_set(e, ERR_USAGE,
                       "--html - and --json both write to standard output");
    if (!run_history_find(&inv->cx, store, argument(inv, 1),
                          has_option(inv, OPTION_ALL_RUNS), &run, e))
        return false;
    /* Show the rest of the row even if the detail is damaged. */
    if (!run_detail_parse(run.detail, &inv->cx.arena, &detail, &broken))
        term_warn(&inv->term, "%s: %s", err_prev(&broken, NULL),
                  err_first(&broken));
    if (page.p && !write_page(inv, &run, &detail, e))
        return false;
    if (has_option(inv, OPTION_JSON))
        runs_print_json(inv, &run, &detail);
    else if (!page.p)
        runs_print(inv, &run, &detail);
    return true;
}

COMMAND(command_runs)
{
    bool one = inv->word != NULL, ok;
    struct store *store = NULL;

    if (!one && has_option(inv, OPTION_HTML)) {
        err_set(e, ERR_USAGE, "--html is for one run");
        return err_hint(e, "mapm runs show last --html FILE");
    }
    if (!open_store(&inv->cx, &store, e))
        return false;
    ok = one ? show(inv, store, e) : list(inv, store, e);
    close_store(&inv->cx, store);
    return ok;
}
