#include <signal.h>

#include "star_job.h"

#define TYPED_MAX_BYTES ((size_t)1 << 20)

static const char greeting[] =
    "mapm " MAPM_VERSION
    ", Starlark. Ctrl-D ends, a blank line ends a block.\n";

/* Returns whether the line is a command that ends the prompts of other
 * languages. */
static bool wants_to_leave(struct str typed)
{
    static const char *const words[] = {"exit", "exit()", "quit", "quit()"};
    struct str line = str_trim(typed);

    return STR_IS_ONE_OF(line, words);
}

/* Reads lines until they form a complete statement. */
static enum star_line_kind read_statement(struct star_line *l,
                                          struct buf *typed)
{
    enum star_line_kind kind = star_line_read(l, false, typed);

    while (kind == LINE_READ && star_is_incomplete(typed->p, typed->n) &&
           !typed->overflowed)
        kind = star_line_read(l, true, typed);
    return kind;
}

static bool show_value(struct star_job *job, star_value v)
{
    const char *text;
    size_t length;
    star_value shown;

    if (!v || star_type(v) == STAR_NONE)
        return true;
    shown = star_repr(job->star, v);
    if (!shown || !star_as_text(shown, &text, &length))
        return false;
    term_write(&job->inv->term, str_make(text, length));
    term_write(&job->inv->term, STR("\n"));
    return true;
}

/* Ctrl-C cancels the line or the program; other signals end the session. */
static bool forget_interrupt(struct star_job *job, struct err *e)
{
    int signal = star_job_signal();

    star_job_forget_signal();
    star_cancel_clear(job->star);
    return !signal || signal == SIGINT ||
           err_set(e, ERR_INTERRUPTED, "interrupted");
}

static bool run_statement(struct star_job *job, struct str typed, struct err *e)
{
    struct star *s = job->star;
    size_t scope = star_scope_begin(s);
    star_value v = STAR_INVALID;

    star_job_cancels(s);
    struct star_program *p = star_compile(s, "<stdin>", typed.p, typed.n);
    bool ok = p && star_run_interactive(s, p, &v) && show_value(job, v);
    star_job_cancels(NULL);
    bool shown = ok || star_job_report(job, e);
    star_scope_end(s, scope);
    return shown && forget_interrupt(job, e) && term_flush(&job->inv->term, e);
}

bool star_repl(struct star_job *job, struct err *e)
{
    struct star_line *l = star_line_open(job->inv);
    enum star_line_kind kind;
    struct buf typed;
    bool ok = true;

    buf_init(&typed, TYPED_MAX_BYTES);
    if (!job->inv->term.quiet)
        term_write(&job->inv->term, str_cstr(greeting));
    while (ok) {
        ok = term_flush(&job->inv->term, e);
        buf_clear(&typed);
        kind = ok ? read_statement(l, &typed) : LINE_END;
        if (kind == LINE_INTERRUPTED) {
            term_write(&job->inv->term, STR("\n"));
            ok = forget_interrupt(job, e);
            continue;
        }
        if (typed.overflowed)
            term_warn(&job->inv->term, "a statement that long is not run");
        else if (kind == LINE_READ && !wants_to_leave(buf_str(&typed)))
            ok = run_statement(job, buf_str(&typed), e);
        else
            break;
    }
    if (ok && kind == LINE_END)
        term_write(&job->inv->term, STR("\n"));
    star_line_close(l);
    buf_done(&typed);
    return ok;
}
