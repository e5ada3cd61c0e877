#include "mapm/command_runner.h"

#include "base/fs.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "protect.h"
#include "sandbox.h"
#include "sandbox_helper.h"

#define POINT_MAX_BYTES   4
#define MESSAGE_MAX_BYTES 8192

/* Stored output: the handshake of mapm-cage, and somewhat more than the result
 * contains. */
struct heard {
    struct buf text;
    bool is_cut;
};

/* State of one command. */
struct call {
    const struct command_runner_options *o;
    const struct command *in;
    struct arena *arena;  /* freed after the call, with the copies of files */
    struct str workspace; /* path with links resolved */
    int fd;               /* descriptor of the workspace, locked */
    char scratch[64];     /* temporary folder to remove; "" if none */
    struct heard heard;
    struct proc_result result;
    unsigned limit_ms;
    struct protect_report report;
    struct command_result out;
};

static void drop_scratch(struct call *c)
{
    struct err ignored = {0};

    if (c->scratch[0])
        (void)!fs_remove_tree_at(AT_FDCWD, c->scratch, &ignored);
    c->scratch[0] = '\0';
}

static void call_done(struct call *c)
{
    drop_scratch(c);
    fs_close(&c->fd); /* also releases the lock */
    buf_done(&c->heard.text);
    arena_done(c->arena);
}

/* --- outcomes --------------------------------------------------------------------- */

/* Sets an error as the result of the command, which was not started. Returns
 * true, since the program continues. */
static bool fail(struct call *c, const char *format, ...) PRINTF(2, 3);
static bool fail(struct call *c, const char *format, ...)
{
    char text[MESSAGE_MAX_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->out = (struct command_result){
        .exit_code = -1,
        .result = arena_printf(c->arena, "error: %s", text),
    };
    return false;
}

/* Does the same for the message of an err with its hint. */
static bool fail_err(struct call *c, const struct err *e)
{
    return fail(c, "%s%s%s", err_first(e), e->hint[0] ? ": " : "", e->hint);
}

/* Row 22: makes valid UTF-8 of whole characters, up to a limit, and changes
 * nothing else. */
static struct str repair(struct str raw, size_t max_points, bool *is_cut,
                         struct arena *a)
{
    struct buf b;
    struct str result;
    size_t at = 0, points = 0;

    buf_init(&b, raw.n * 3 + 1);
    while (at < raw.n && points < max_points) {
        int32_t c = text_next(raw, &at);

        text_put(&b, c < 0 ? 0xFFFD : c);
        points++;
    }
    *is_cut = *is_cut || at < raw.n;
    result = arena_str(a, buf_str(&b));
    buf_done(&b);
    return result;
}

static struct str ready_mark(void)
{
    return str_make(HELPER_READY, sizeof HELPER_READY - 1);
}

static struct str failed_mark(void)
{
    return str_make(HELPER_FAILED, sizeof HELPER_FAILED - 1);
}

/* Sets the result to the output after "error: …"; the total is bounded. */
static void set_result(struct call *c, const char *error, struct str printed)
{
    struct arena *a = c->arena;
    bool is_cut = c->heard.is_cut;
    struct str text = printed;

    if (*error)
        text = arena_printf(a, "error: %s%s%.*s", error, printed.n ? "\n" : "",
                            STR_ARG(printed));
    c->out.result = repair(text, c->in->max_chars, &is_cut, a);
    c->out.truncated = is_cut;
}

static void read_result(struct call *c)
{
    struct str printed =
        str_from_index(buf_str(&c->heard.text), ready_mark().n);
    struct protect_report *r = &c->report;
    struct str names = r->undone.n ? r->undone : r->left;

    c->out = (struct command_result){.exit_code = c->result.exit_code};
    if (str_starts(printed, failed_mark()) &&
        c->result.exit_code == HELPER_EXIT) {
        fail(c, "%.*s",
             STR_ARG(str_trim(str_from_index(printed, failed_mark().n))));
    } else if (c->result.has_left) {
        set_result(c, "it left processes that could not be ended", printed);
    } else if (r->left.n) {
        set_result(c,
                   arena_printf(c->arena,
                                "it changed files that it may not change, "
                                "and they could not be put back: %.*s",
                                STR_ARG(r->left))
                       .p,
                   printed);
    } else if (names.n) {
        set_result(c,
                   arena_printf(c->arena,
                                "it changed files that it may not change; "
                                "they are as before: %.*s",
                                STR_ARG(names))
                       .p,
                   printed);
    } else if (c->result.timed_out) {
        c->out.exit_code = -1;
        set_result(c,
                   arena_printf(c->arena, "timed out after %u s",
                                (c->limit_ms + 500) / 1000)
                       .p,
                   printed);
    } else {
        c->out.ok = c->result.exit_code == 0;
        set_result(c, "", printed);
    }
}

/* --- the program -------------------------------------------------------- */

static bool check_words(struct call *c)
{
    const struct command *in = c->in;
    size_t bytes = 0;

    if (in->argc == 0 || in->argv[0].n == 0)
        return fail(c, "no program is named");
    for (size_t i = 0; i < in->argc; i++) {
        bytes += in->argv[i].n + 1;
        if (str_has_char(in->argv[i], '\0'))
            return fail(c, "word %zu of the command holds a NUL", i + 1);
    }
    if (in->argc > COMMAND_MAX_WORDS || bytes > COMMAND_WORDS_MAX_BYTES)
        return fail(c, "the command is longer than %d words or %u KiB",
                    COMMAND_MAX_WORDS, COMMAND_WORDS_MAX_BYTES >> 10);
    return true;
}

/* Rows 15 and 19: a name is looked up on PATH, never in the workspace; a path
 * is used only if the rule has a path. */
static bool find_program(struct call *c, struct str *program)
{
    struct arena *a = c->arena;
    struct str word = c->in->argv[0];
    struct err e = {0};

    if (!str_has_char(word, '/')) {
        if (!proc_find_program(str_dup0(word, a), c->workspace.p, a, program,
                               &e))
            return fail_err(c, &e);
        return true;
    }
    if (!c->o->by_path)
        return fail(c, "%.*s is a path: it runs when a rule names it as such",
                    STR_ARG(word));
    *program = fs_normalize(fs_join(c->workspace, word, a), a);
    if (access(program->p, X_OK) < 0)
        return fail(c, "%.*s: %s", STR_ARG(word), strerror(errno));
    return true;
}

static bool open_workspace(struct call *c, struct err *e)
{
    uint64_t now = proc_now_ms();
    uint64_t wait = c->in->deadline_ms > now ? c->in->deadline_ms - now : 0;
    struct str home = sandbox_home(c->arena);

    c->workspace = path_real(c->o->workspace, c->arena);
    if (!c->workspace.n || !fs_open_dir(c->workspace.p, &c->fd, e))
        return fail(c, "%.*s is not a folder", STR_ARG(c->o->workspace));
    if (c->o->sandbox != SANDBOX_OFF &&
        (str_is(c->workspace, "/") || str_eq(c->workspace, home)))
        return fail(c,
                    "commands do not run in %s itself, where keys and start "
                    "files are: use a folder below it",
                    c->workspace.p);
    /* Take the lock of mapm install, so that neither runs during the other. */
    if (fs_lock(c->fd, true, wait > UINT32_MAX ? UINT32_MAX : (unsigned)wait,
                c->o->waiting, c->o->ctx, e))
        return true;
    if (e->code == ERR_INTERRUPTED)
        return false;
    return fail(c, "the workspace was in use by another mapm all the time");
}

/* --- running it --------------------------------------------------------------------------- */

static void on_output(void *ctx, bool is_err, struct str block)
{
    struct call *c = ctx;
    struct heard *h = &c->heard;
    size_t room = h->text.max - h->text.n;

    (void)is_err;
    if (block.n > room) {
        block = str_slice(block, 0, room);
        h->is_cut = true;
    }
    buf_append(&h->text, block);
}

static bool tick(void *ctx)
{
    struct call *c = ctx;

    if (c->o->tick)
        c->o->tick(c->o->ctx);
    return true;
}

/* Without bubblewrap /tmp is shared, so a private folder in it is used. */
static bool make_scratch(struct call *c, struct sandbox_job *job)
{
    static const char *const roots[] = {"/tmp", "/var/tmp"};

    if (job->way == SANDBOX_BOTH)
        return true;
    for (size_t i = 0; !c->scratch[0] && i < 2; i++) {
        snprintf(c->scratch, sizeof c->scratch, "%s/mapm-XXXXXX", roots[i]);
        if (!mkdtemp(c->scratch))
            c->scratch[0] = '\0';
    }
    if (!c->scratch[0])
        return fail(c, "no folder for its own files in /tmp or /var/tmp");
    job->scratch = path_real(str_cstr(c->scratch), c->arena);
    return true;
}

/* Snapshots the protected files of the workspace and adds their places. */
static bool protect_workspace(struct call *c, struct sandbox_job *job,
                              struct protect **p, struct err *e)
{
    struct protect_job look = {
        .folder = c->workspace,
        .fd = c->fd,
        .isolated = job->way == SANDBOX_BOTH,
        .more = c->o->skills,
        .more_count = c->o->skill_count,
    };

    if (!protect_scan(&look, c->arena, p, e))
        return fail_err(c, e);
    protect_places(*p, &job->places);
    return true;
}

/* The time limit of the command, at most the time that the run has left. */
static unsigned limit_ms(const struct call *c)
{
    uint64_t now = proc_now_ms();
    uint64_t left = c->in->deadline_ms > now ? c->in->deadline_ms - now : 1;
    unsigned limit = c->in->timeout_s * 1000;

    return left < limit ? (unsigned)left : limit;
}

/*
 * One attempt. False: the result is complete, or `e` when the run must end.
 * `*went` false: the isolation failed; the reason is in the output.
 */
static bool go(struct call *c, struct sandbox_job job, bool *went,
               struct err *e)
{
    struct sandbox_start start;
    struct protect *p = NULL;
    struct proc_options o = {
        .dir = c->workspace.p,
        .output = on_output,
        .go_on = tick,
        .ctx = c,
        .one_stream = true,
        .own_session = true,
        .end_all = true,
        .report_timeout = true,
    };
    bool ran;

    job.places = (struct places){.arena = c->arena};
    if (!make_scratch(c, &job))
        return false;
    if (job.way != SANDBOX_NONE && !protect_workspace(c, &job, &p, e))
        return false;
    sandbox_build(&job, c->arena, &start);
    c->limit_ms = limit_ms(c);
    o.argv = start.argv;
    o.env = start.env;
    o.timeout_ms = c->limit_ms;
    buf_clear(&c->heard.text);
    c->heard.is_cut = false;
    ran = proc_run(&o, c->arena, &c->result, e);
    if (p)
        protect_restore(p, c->arena, &c->report);
    if (!ran && e->code == ERR_INTERRUPTED)
        return false;
    if (!ran)
        return fail_err(c, e);
    *went = str_starts(buf_str(&c->heard.text), ready_mark());
    return true;
}

/* Returns the first line that bwrap or mapm-cage printed in place of the
 * handshake. */
static struct str failure_line(const struct call *c)
{
    struct str text = buf_str(&c->heard.text), line = STR("");
    bool is_cut = false;

    if (str_starts(text, failed_mark()))
        text = str_from_index(text, failed_mark().n);
    (void)str_line(&text, &line);
    return repair(line, 300, &is_cut, c->arena);
}

static void notify(const struct call *c, const char *text)
{
    if (c->o->notice)
        c->o->notice(c->o->ctx, text);
}

/* Retries without bubblewrap after it failed, and decides whether the machine
 * or the workspace is the cause. */
static bool go_alone(struct call *c, struct sandbox_job job, bool *went,
                     struct err *e)
{
    struct str why = failure_line(c);
    struct sandbox_support support;

    sandbox_probe(c->workspace, c->arena, &support);
    if (support.namespaces)
        return fail(c, "the sandbox could not be built: %.*s", STR_ARG(why));
    if (!support.enough)
        return fail(c,
                    "commands cannot be confined on this machine (bubblewrap: "
                    "%.*s; Landlock ABI %d, %d is needed): %.*s; or "
                    "\"policy: {sandbox: off}\" in your own configuration",
                    STR_ARG(support.why_not), support.landlock_abi,
                    HELPER_ALONE_ABI, STR_ARG(support.hint));
    notify(c,
           arena_printf(c->arena,
                        "commands run behind Landlock and seccomp alone, where "
                        "modes and times of files outside of the workspace can "
                        "be changed (bubblewrap: %.*s): %.*s",
                        STR_ARG(support.why_not), STR_ARG(support.hint))
               .p);
    job.way = SANDBOX_HELPER;
    return go(c, job, went, e);
}

static bool run(struct call *c, struct err *e)
{
    struct sandbox_job job = {
        .way = c->o->sandbox == SANDBOX_OFF ? SANDBOX_NONE : SANDBOX_BOTH,
        .mode = c->o->sandbox,
        .network = c->o->network,
        .sized = true,
        .workspace = c->workspace,
        .argv = c->in->argv,
        .argc = c->in->argc,
    };
    bool went = false;

    if (!find_program(c, &job.program))
        return false;
    if (!sandbox_find_helper(c->arena, &job.helper, e))
        return fail_err(c, e);
    if (job.way == SANDBOX_BOTH)
        job.bubblewrap = sandbox_find_bubblewrap(c->workspace, c->arena);
    if (job.way == SANDBOX_NONE || job.bubblewrap.n) {
        if (!go(c, job, &went, e))
            return false;
        if (!went && job.way == SANDBOX_BOTH &&
            str_find(buf_str(&c->heard.text), STR("--size")) != SIZE_MAX) {
            job.sized = false; /* bubblewrap older than 0.7 lacks --size */
            if (!go(c, job, &went, e))
                return false;
        }
    }
    if (!went && !c->result.timed_out && job.way == SANDBOX_BOTH &&
        !go_alone(c, job, &went, e))
        return false;
    if (!went && !c->result.timed_out)
        return fail(c, "it could not be started: %.*s",
                    STR_ARG(failure_line(c)));
    return true;
}

bool command_runner_run(const struct command_runner_options *o,
                        const struct command *in, struct arena *a,
                        struct command_result *out, struct err *e)
{
    struct arena work = {0};
    CLEANUP(call_done)
    struct call c = {.o = o, .in = in, .arena = &work, .fd = -1};
    struct err why = {0};

    buf_init(&c.heard.text,
             ready_mark().n + (in->max_chars + 2) * POINT_MAX_BYTES);
    if (check_words(&c) && open_workspace(&c, &why) && run(&c, &why))
        read_result(&c);
    if (why.code == ERR_INTERRUPTED) {
        *e = why;
        return false;
    }
    if (c.result.has_left)
        notify(&c, "a command left processes that could not be ended: they may "
                   "still change files of the workspace");
    if (c.report.others.n)
        notify(&c,
               arena_printf(&work,
                            "changed by another program while a command ran: "
                            "%.*s",
                            STR_ARG(c.report.others))
                   .p);
    *out = c.out;
    out->result = arena_str(a, c.out.result);
    return true;
}
