#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../command.h"
#include "star_job.h"

#define SOURCE_MAX_BYTES  ((size_t)16 << 20)
#define PRINTED_MAX_BYTES ((size_t)256 << 20)

/* --- signals ----------------------------------------------------------------------- */

/* Global, because a signal handler receives no other data. */
static struct star *volatile canceled_by_signal;
static volatile sig_atomic_t last_signal;

static void on_signal(int signal)
{
    struct star *s = canceled_by_signal;

    last_signal = signal;
    if (s)
        star_cancel(s);
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};

    /* Without SA_RESTART, so that a signal also interrupts a read from the
     * terminal. */
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

void star_job_cancels(struct star *s)
{
    canceled_by_signal = s;
}

int star_job_signal(void)
{
    return last_signal;
}

void star_job_forget_signal(void)
{
    last_signal = 0;
}

/* --- the command line ---------------------------------------------------------------- */

static bool bad_number(enum option_id id, struct str text, const char *hint,
                       struct err *e)
{
    err_set(e, ERR_USAGE, "--%s: \"%.*s\" is no %s", options[id].name,
            STR_ARG(text), options[id].argument);
    return err_hint(e, "%s", hint);
}

static bool read_size(struct invocation *inv, size_t *out, struct err *e)
{
    struct str text = option_value(inv, OPTION_MAX_MEM), digits = text;
    unsigned shift = 0;
    uint64_t n;

    if (!text.p)
        return true;
    if (text.n) {
        char unit = text.p[text.n - 1];
        shift = unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
        digits = str_slice(text, 0, text.n - (shift ? 1 : 0));
    }
    if (!str_number(digits, (uint64_t)SIZE_MAX >> 1 >> shift, &n) || n == 0)
        return bad_number(OPTION_MAX_MEM, text,
                          "bytes, or with a unit: 500K, 64M, 1G", e);
    *out = (size_t)n << shift;
    return true;
}

static bool read_steps(struct invocation *inv, uint64_t *out, struct err *e)
{
    struct str text = option_value(inv, OPTION_MAX_STEPS);

    if (!text.p)
        return true;
    return (str_number(text, INT64_MAX, out) && *out) ||
           bad_number(OPTION_MAX_STEPS, text, "a number, as 1000000", e);
}

static bool read_timeout(struct invocation *inv, uint64_t *ms, struct err *e)
{
    struct str text = option_value(inv, OPTION_TIMEOUT);

    if (!text.p)
        return true;
    return (text_decimal(option_value(inv, OPTION_TIMEOUT), 3, 1000000000,
                         ms) &&
            *ms) ||
           bad_number(OPTION_TIMEOUT, text, "seconds, as 10 or 0.5", e);
}

static bool read_limits(struct invocation *inv, struct star_limits *out,
                        struct err *e)
{
    out->source_bytes = SOURCE_MAX_BYTES;
    return read_size(inv, &out->memory_bytes, e) &&
           read_steps(inv, &out->steps, e) &&
           read_timeout(inv, &out->timeout_ms, e);
}

/* Returns whether statements are read from a terminal, since no program is
 * given. */
static bool is_session(struct invocation *inv)
{
    return !has_option(inv, OPTION_COMMAND) && !inv->arguments.count &&
           inv->term.is_in;
}

static bool check_usage(struct invocation *inv, struct err *e)
{
    static const enum option_id of_programs[] = {OPTION_CHECK, OPTION_DIS,
                                                 OPTION_JSON};

    if (has_option(inv, OPTION_COMMAND) && inv->arguments.count) {
        err_set(e, ERR_USAGE, "mapm star: both -c and a file");
        return err_hint(e, "a program is given by one of them");
    }
    for (size_t i = 0; i < sizeof of_programs / sizeof *of_programs; i++) {
        if (!is_session(inv) || !has_option(inv, of_programs[i]))
            continue;
        err_set(e, ERR_USAGE, "mapm star: --%s needs a program",
                options[of_programs[i]].name);
        return err_hint(e, "give FILE, - for standard input, or -c TEXT");
    }
    return true;
}

/* Reads the program, and sets its name for reports. */
static bool read_program(struct invocation *inv, struct str *text,
                         const char **name, struct err *e)
{
    struct str file = inv->arguments.count ? inv->arguments.items[0] : STR("-");

    if (has_option(inv, OPTION_COMMAND)) {
        *text = option_value(inv, OPTION_COMMAND);
        *name = "<command>";
        return true;
    }
    if (str_is(file, "-")) {
        *name = "<stdin>";
        return fs_read_fd(STDIN_FILENO, SOURCE_MAX_BYTES, &inv->cx.arena, text,
                          e) ||
               err_wrap(e, "read the program from standard input");
    }
    *name = str_dup0(file, &inv->cx.arena);
    if (fs_read_user_file(*name, SOURCE_MAX_BYTES, &inv->cx.arena, text, e))
        return true;
    if (e->code == ERR_REFUSED)
        err_hint(e, "for a pipe, use - and standard input");
    return false;
}

/* --- running -------------------------------------------------------------------------- */

static bool print_text(void *ctx, const char *text, size_t length)
{
    struct star_job *job = ctx;
    struct term *t = &job->inv->term;
    struct err ignored = {0};

    if (has_option(job->inv, OPTION_JSON)) {
        buf_append(&job->printed, str_make(text, length));
        return !job->printed.overflowed;
    }
    term_content(t, str_make(text, length));
    if (t->is_out)
        return term_flush(t, &ignored);
    return t->out_errno == 0;
}

bool star_job_report(struct star_job *job, struct err *e)
{
    const char *report = star_error_report(job->star);

    return term_flush(&job->inv->term, e) &&
           fs_write_all(STDERR_FILENO, str_cstr(report), e);
}

static bool run_program(struct star_job *job, struct str text, const char *name)
{
    struct star_program *p = star_compile(job->star, name, text.p, text.n);
    const char *shown;

    if (!p || has_option(job->inv, OPTION_CHECK))
        return p;
    if (!has_option(job->inv, OPTION_DIS))
        return star_run(job->star, p);
    shown = star_disassemble(job->star, p);
    return shown && print_text(job, shown, strlen(shown));
}

static void put_error(struct json_writer *w, struct star *s)
{
    struct star_place place;

    json_member_object(w, "error");
    json_member_string(w, "code", str_cstr(star_error_name(star_error(s))));
    json_member_string(w, "message", str_cstr(star_error_message(s)));
    if (star_error_place(s, &place)) {
        json_member_string(w, "file", str_cstr(place.file));
        json_member_number(w, "line", place.line);
        json_member_number(w, "column", place.column);
    }
    json_member_string(w, "report", str_cstr(star_error_report(s)));
    json_end_object(w);
}

static void put_document(struct star_job *job, bool ok)
{
    struct star_usage usage = star_usage(job->star);
    struct json_writer *w = print_json_begin(job->inv, "mapm.star/1", NULL);

    json_member_bool(w, "ok", ok);
    json_member_string(w, "output", buf_str(&job->printed));
    json_member_number(w, "steps", usage.steps);
    json_member_number(w, "memory_peak_bytes", usage.memory_peak_bytes);
    if (!ok)
        put_error(w, job->star);
    print_json_end(job->inv);
}

static bool finish(struct star_job *job, bool ok, int *exit_code, struct err *e)
{
    *exit_code = ok ? EXIT_DONE : EXIT_FAILED;
    if (star_job_signal() && !ok)
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    if (has_option(job->inv, OPTION_JSON)) {
        put_document(job, ok);
        return true;
    }
    /* main reports a closed stdout. */
    return ok || job->inv->term.out_errno || star_job_report(job, e);
}

static bool run(struct star_job *job, int *exit_code, struct err *e)
{
    struct str text;
    const char *name;
    bool ok;

    if (is_session(job->inv)) {
        *exit_code = EXIT_DONE;
        return star_repl(job, e);
    }
    if (!read_program(job->inv, &text, &name, e))
        return false;
    star_job_cancels(job->star);
    ok = run_program(job, text, name);
    star_job_cancels(NULL);
    return finish(job, ok, exit_code, e);
}

COMMAND(command_star)
{
    struct star_job job = {.inv = inv};
    bool ok;

    if (!check_usage(inv, e))
        return false;
    job.options = (struct star_options){
        .print = print_text,
        .ctx = &job,
        .json = true,
        .load_refusal = "load is not available: programs are hermetic, "
                        "one file each",
        .interactive = is_session(inv),
    };
    if (!read_limits(inv, &job.options.limits, e))
        return false;
    job.star = star_open(&job.options);
    if (!job.star) {
        err_set(e, ERR_LIMIT, "no memory for an interpreter");
        return err_hint(e, "--max-mem: 256K is enough for small programs");
    }
    buf_init(&job.printed, PRINTED_MAX_BYTES);
    catch_signals();
    ok = run(&job, exit_code, e);
    star_job_cancels(NULL);
    buf_done(&job.printed);
    star_close(job.star);
    return ok;
}
