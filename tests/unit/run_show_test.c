#include "base/fs.h"
#include "base/proc.h"

#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../cli/run/run_show.h"
#include "tap.h"

/* [K40, K42, row 7, row 22] what a person sees of a run while it runs. */

/* --- playing on pipes and on a terminal -------------------------------------------- */

struct seen {
    struct str out, err; /* on a terminal both are `err` */
    int status;
};

static void play(bool trace, void (*steps)(struct run_show *v))
{
    struct invocation inv = {0};
    struct err e = {0};
    struct run_show v;

    proc_init();
    term_init(&inv.term, TERM_AUTO, false);
    run_show_init(&v, &inv, trace);
    steps(&v);
    run_show_done(&v);
    run_show_done(&v);
    if (!term_done(&inv.term, &e))
        _exit(1);
    arena_done(&inv.cx.arena);
    _exit(0);
}

static struct seen on_pipes(bool trace, void (*steps)(struct run_show *v),
                            struct arena *a)
{
    struct seen seen = {0};
    struct err e = {0};
    int out[2], errs[2];
    pid_t child;

    if (pipe(out) < 0 || pipe(errs) < 0)
        abort();
    child = fork();
    if (child == 0) {
        dup2(out[1], 1);
        dup2(errs[1], 2);
        play(trace, steps);
    }
    close(out[1]);
    close(errs[1]);
    CHECK(fs_read_fd(errs[0], 1 << 24, a, &seen.err, &e));
    CHECK(fs_read_fd(out[0], 1 << 20, a, &seen.out, &e));
    close(out[0]);
    close(errs[0]);
    waitpid(child, &seen.status, 0);
    CHECK(seen.status == 0 && seen.out.n == 0);
    return seen;
}

static bool on_terminal(bool trace, void (*steps)(struct run_show *v),
                        struct arena *a, struct seen *out)
{
    struct winsize size = {.ws_row = 24, .ws_col = 100};
    char block[4096];
    struct buf b;
    int master;
    ssize_t n;
    pid_t child = forkpty(&master, NULL, NULL, &size);

    if (child < 0) {
        tap_skip_part("on a terminal", "no pseudo-terminals here");
        return false;
    }
    if (child == 0)
        play(trace, steps);
    buf_init(&b, 1 << 20);
    while ((n = read(master, block, sizeof block)) > 0)
        buf_append(&b, str_make(block, (size_t)n));
    out->err = arena_str(a, buf_str(&b));
    buf_done(&b);
    close(master);
    waitpid(child, &out->status, 0);
    CHECK(out->status == 0);
    return true;
}

static bool has(struct str s, const char *text)
{
    return str_find(s, str_cstr(text)) != SIZE_MAX;
}

/* --- a run ---------------------------------------------------------------------------- */

static void ask(struct run_show *v, const char *purpose, const char *answer,
                bool failed)
{
    struct ask a = {.number = 1,
                    .prompt = STR("four"),
                    .purpose = str_cstr(purpose),
                    .max_turns = 10};
    struct answer got = {.text = str_cstr(answer), .turns = 3};
    struct step s = {.kind = STEP_ASK, .at_ms = 1500, .ask = &a};

    run_show_step(v, &s);
    run_show_backend(v, STR("claude"));
    for (unsigned i = 0; i < 4; i++) {
        usleep(110000);
        run_show_news(v, i,
                      i == 2 ? STR("\n thinking \x1b[31m\n more") : STR(""));
    }
    s.done = true;
    s.at_ms = 13800;
    s.took_ms = 12300;
    s.failed = failed;
    s.answer = failed ? NULL : &got;
    run_show_step(v, &s);
}

static void command(struct run_show *v, const char *word,
                    struct command_result o)
{
    struct str argv[] = {STR("git"), str_cstr(word)};
    struct command c = {.number = 2, .argv = argv, .argc = 2};
    struct step s = {.kind = STEP_COMMAND, .at_ms = 14000, .command = &c};

    run_show_step(v, &s);
    run_show_tick(v);
    s.done = true;
    s.at_ms = 14100;
    s.took_ms = 100;
    s.outcome = &o;
    run_show_step(v, &s);
}

static void all(struct run_show *v)
{
    struct step s = {.kind = STEP_START, .text = STR("test-fix")};

    run_show_step(v, &s);
    ask(v, "fix-tests", "\n\n  Done with it.\nAnd more.", false);
    command(v, "diff",
            (struct command_result){.ok = true, .result = STR("12345")});
    s = (struct step){.kind = STEP_TRACE,
                      .at_ms = 14200,
                      .text = STR("test-run"),
                      .data = STR("{\"ok\":true}")};
    run_show_step(v, &s);
    s = (struct step){
        .kind = STEP_PRINT, .at_ms = 14201, .text = STR("a line")};
    run_show_step(v, &s);
    s = (struct step){
        .kind = STEP_FINISH, .at_ms = 14300, .text = STR("accepted")};
    run_show_step(v, &s);
}

TEST(without_a_terminal_it_is_silent)
{
    struct arena a = {0};

    CHECK(on_pipes(false, all, &a).err.n == 0);
    arena_done(&a);
}

TEST(a_trace_is_a_line_for_each_step)
{
    static const char *const lines =
        "   0.000  start\n"
        "   1.500  ask 1: fix-tests, at most 10 turns, a prompt of 4 bytes\n"
        "  13.800  ask 1: fix-tests \xc2\xb7 3 turns \xc2\xb7 12.3 s \xc2\xb7 "
        "27 B \xc2\xb7 \"Done with it.\"\n"
        "  14.000  command 2: git diff\n"
        "  14.100  command 2: git diff \xc2\xb7 exit 0 \xc2\xb7 100 ms "
        "\xc2\xb7 "
        "5 B\n"
        "  14.200  trace test-run {\"ok\":true}\n"
        "  14.201  print a line\n"
        "  14.300  finish accepted\n";
    struct arena a = {0};

    CHECK_STR(on_pipes(true, all, &a).err.p, lines);
    arena_done(&a);
}

TEST(a_terminal_shows_what_is_under_way_and_a_line_when_it_is_done)
{
    struct arena a = {0};
    struct seen s = {0};

    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    if (on_terminal(false, all, &a, &s)) {
        CHECK(has(s.err, "asking: fix-tests \xc2\xb7 0 s"));
        CHECK(has(s.err, "asking claude: fix-tests"));
        CHECK(has(s.err, "2 turns"));
        CHECK(has(s.err, "thinking \\x1b[31m"));
        CHECK(has(s.err, "running: git diff"));
        CHECK(has(s.err, "\x1b[2mask 1: fix-tests \xc2\xb7 3 turns"));
        CHECK(has(s.err, "\x1b[2mcommand 2: git diff \xc2\xb7 exit 0"));
        CHECK(!has(s.err, "a line") && !has(s.err, "trace"));
    }
    arena_done(&a);
}

/* Once a run has ended, nothing of the progress stays on its line. */
TEST(the_progress_line_goes)
{
    struct arena a = {0};
    struct seen s = {0};

    setenv("TERM", "xterm", 1);
    if (on_terminal(true, all, &a, &s)) {
        size_t last = str_find_last(s.err, '\n');

        CHECK(last != SIZE_MAX && last + 1 == s.err.n);
        CHECK(has(s.err, "  14.300  finish accepted"));
    }
    arena_done(&a);
}

TEST(a_dumb_terminal_is_none)
{
    struct arena a = {0};
    struct seen s = {0};

    setenv("TERM", "dumb", 1);
    if (on_terminal(false, all, &a, &s))
        CHECK(s.err.n == 0);
    arena_done(&a);
}

static void hostile(struct run_show *v)
{
    static const char text[] = "a\x1b[2J\n   9.999  finish accepted\r\x07\xff"
                               "\xe2\x80\xae";
    struct step s = {
        .kind = STEP_TRACE, .text = str_cstr(text), .data = str_cstr(text)};

    ask(v, text, text, false);
    ask(v, text, text, true);
    command(v, text,
            (struct command_result){.exit_code = -1, .result = str_cstr(text)});
    command(v, text,
            (struct command_result){.exit_code = -1, .rule = STR("git *")});
    run_show_step(v, &s);
    s.kind = STEP_PRINT;
    run_show_step(v, &s);
}

/* [row 7, row 22] no text makes a line of its own, or anything but text. */
TEST(hostile_text_stays_on_its_line)
{
    struct arena a = {0};
    struct str err = on_pipes(true, hostile, &a).err, rest = err, line;
    size_t lines = 0;

    CHECK(!has(err, "\x1b") && !has(err, "\r") && !has(err, "\x07"));
    CHECK(!has(err, "\xff") && !has(err, "\xe2\x80\xae"));
    while (str_line(&rest, &line)) {
        CHECK(!str_starts(line, STR("   9.999")));
        lines++;
    }
    CHECK(lines == 10);
    CHECK(has(err, "failed") && has(err, "refused"));
    arena_done(&a);
}

static void long_ones(struct run_show *v)
{
    static char text[1 << 20];
    struct step s = {.kind = STEP_TRACE, .text = STR("k")};

    memset(text, 'x', sizeof text - 1);
    ask(v, text, text, false);
    command(v, text,
            (struct command_result){.exit_code = -1, .result = STR("")});
    run_show_news(v, 1, str_cstr(text));
    s.data = str_make(text, TRACE_MAX_BYTES);
    run_show_step(v, &s);
}

TEST(long_texts_are_cut)
{
    struct arena a = {0};

    CHECK(on_pipes(true, long_ones, &a).err.n < 8192);
    arena_done(&a);
}
