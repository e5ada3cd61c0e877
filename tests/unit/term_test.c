#include "base/fs.h"
#include "base/proc.h"
#include "base/term.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

struct seen {
    struct str out, err;
    int status;
};

/* Some containers have no /dev/pts; then there is no terminal to play. */
static bool has_terminals(void)
{
    int master, slave;

    if (openpty(&master, &slave, NULL, NULL, NULL) < 0)
        return false;
    close(master);
    close(slave);
    return true;
}

/* Runs `play` in a child whose stdout and stderr we read, both small. */
static struct seen on_pipes(void (*play)(void), struct arena *a)
{
    struct err e = {0};
    struct seen seen = {0};
    int out[2], errs[2];
    pid_t child;

    if (pipe(out) < 0 || pipe(errs) < 0)
        abort();
    child = fork();
    if (child == 0) {
        dup2(open("/dev/null", O_RDONLY), 0);
        dup2(out[1], 1);
        dup2(errs[1], 2);
        play();
        _exit(0);
    }
    close(out[1]);
    close(errs[1]);
    CHECK(fs_read_fd(out[0], 1 << 20, a, &seen.out, &e));
    CHECK(fs_read_fd(errs[0], 1 << 20, a, &seen.err, &e));
    close(out[0]);
    close(errs[0]);
    waitpid(child, &seen.status, 0);
    return seen;
}

/* The same on a terminal of 30 columns that types `input` once `marker` is
 * seen; "": at once. */
static struct seen on_terminal_after(const char *marker, void (*play)(void),
                                     const char *input, struct arena *a)
{
    bool typed = false;
    struct winsize size = {.ws_row = 24, .ws_col = 30};
    struct seen seen = {0};
    struct buf b;
    char block[4096];
    int master;
    ssize_t n;
    pid_t child = forkpty(&master, NULL, NULL, &size);

    if (child < 0)
        abort();
    if (child == 0) {
        play();
        _exit(0);
    }
    buf_init(&b, 1 << 20);
    for (;;) {
        if (!typed && str_find(buf_str(&b), str_cstr(marker)) != SIZE_MAX) {
            CHECK(write(master, input, strlen(input)) ==
                  (ssize_t)strlen(input));
            typed = true;
        }
        n = read(master, block, sizeof block);
        if (n <= 0)
            break;
        buf_append(&b, str_make(block, (size_t)n));
    }
    seen.out = arena_str(a, buf_str(&b));
    buf_done(&b);
    close(master);
    waitpid(child, &seen.status, 0);
    return seen;
}

static struct seen on_terminal(void (*play)(void), const char *input,
                               struct arena *a)
{
    return on_terminal_after("", play, input, a);
}

static void finish(struct term *t)
{
    struct err e = {0};

    if (!term_done(t, &e) || !term_done(t, &e))
        _exit(1);
}

static void play_all(void)
{
    struct term t;

    term_init(&t, TERM_AUTO, false);
    term_print(&t, "%s|%d\n", "a\x1b[31mb\nc\xe2\x80\xae", 7);
    term_progress(&t, "never seen");
    term_style_print(&t, TERM_GREEN, "green\n");
    term_content(&t, STR("a pipe \x1b\n"));
    term_write(&t, STR("raw\x1b\n"));
    term_note(&t, "note %s", "\x9b");
    term_note(&t, "a line\n");
    term_warn(&t, "careful");
    finish(&t);
}

/* [row 7] everything printed goes through one escaping function. */
TEST(text_from_outside_is_escaped_and_pipes_get_no_colour)
{
    struct arena a = {0};
    struct seen s;

    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    s = on_pipes(play_all, &a);
    CHECK(s.status == 0);
    CHECK_STR(s.out.p,
              "a\\x1b[31mb\nc\\u{202e}|7\ngreen\na pipe \x1b\nraw\x1b\n");
    CHECK_STR(s.err.p, "note \\x9b\na line\nwarning: careful\n");
    arena_done(&a);
}

static void play_error(void)
{
    struct term t;
    struct err e = {0};

    term_init(&t, TERM_AUTO, true);
    term_note(&t, "quiet: not shown");
    err_set(&e, ERR_REF, "HTTP 404 from https://github.com/acme/tools/tree/v2");
    err_wrap(&e, "skills/outline, a dependency of skills/writer");
    err_wrap(&e, "cannot install %s", "skills/writer\n\x1b[2J");
    err_hint(&e, "check that the ref \"v2\" exists");
    term_error(&t, &e);
    err_clear(&e);
    e.code = ERR_REFUSED;
    term_error(&t, &e);
    finish(&t);
}

static void play_lists(void)
{
    struct term t;
    struct err e = {0};

    term_init(&t, TERM_AUTO, false);
    err_also(&e, "skill a");
    err_because(&e, "HTTP 404");
    err_also(&e, "a cycle");
    err_part(&e, "a needs b");
    err_wrap(&e, "cannot install");
    err_hint(&e, "a hint");
    term_error(&t, &e);
    term_hint(&t, &e);
    err_clear(&e);
    err_also(&e, "only one");
    err_because(&e, "its reason");
    err_wrap(&e, "cannot install");
    term_error(&t, &e);
    term_hint(&t, &e);
    err_clear(&e);
    err_also(&e, "x");
    err_because(&e, "no x");
    err_also(&e, "y");
    err_part(&e, "part of y");
    term_error(&t, &e);
    finish(&t);
}

/* [D18] A list is a list, one member is a reason, and without a head each is
 * an error. */
TEST(lists_of_failures_are_lists)
{
    struct arena a = {0};
    struct seen s = on_pipes(play_lists, &a);

    CHECK_STR(s.out.p, "");
    CHECK_STR(s.err.p, "mapm: cannot install\n"
                       "  - skill a\n"
                       "    because: HTTP 404\n"
                       "  - a cycle\n"
                       "    - a needs b\n"
                       "  hint: a hint\n"
                       "hint: a hint\n"
                       "mapm: cannot install\n"
                       "  because: only one\n"
                       "  because: its reason\n"
                       "mapm: x\n"
                       "  because: no x\n"
                       "mapm: y\n"
                       "  - part of y\n");
    arena_done(&a);
}

/* STYLE.md 4: the shape of an error. */
TEST(errors_go_from_the_outermost_message_inwards)
{
    struct arena a = {0};
    struct seen s = on_pipes(play_error, &a);

    CHECK_STR(s.out.p, "");
    CHECK_STR(s.err.p,
              "mapm: cannot install skills/writer\\x0a\\x1b[2J\n"
              "  because: skills/outline, a dependency of skills/writer\n"
              "  because: HTTP 404 from "
              "https://github.com/acme/tools/tree/v2\n"
              "  hint: check that the ref \"v2\" exists\n"
              "mapm: refused\n");
    arena_done(&a);
}

static void play_colors(void)
{
    static const enum term_when when[] = {TERM_AUTO, TERM_NEVER, TERM_ALWAYS};
    struct term t;

    for (size_t i = 0; i < 3; i++) {
        term_init(&t, when[i], false);
        term_print(&t, "%d%d ", t.color_out, t.color_err);
        finish(&t);
    }
}

TEST(colour_needs_a_terminal_that_can)
{
    if (!has_terminals())
        SKIP("no pseudo-terminals here");

    static const struct {
        const char *term, *no_color, *on_pipes, *on_terminal;
    } rows[] = {
        {"xterm", NULL, "00 00 11 ", "11 00 11 "},
        {"xterm", "", "00 00 11 ", "11 00 11 "},
        {"xterm", "1", "00 00 11 ", "00 00 11 "},
        {"dumb", NULL, "00 00 11 ", "00 00 11 "},
        {NULL, NULL, "00 00 11 ", "00 00 11 "},
    };
    struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsetenv("TERM");
        unsetenv("NO_COLOR");
        if (rows[i].term)
            setenv("TERM", rows[i].term, 1);
        if (rows[i].no_color)
            setenv("NO_COLOR", rows[i].no_color, 1);
        CHECK_STR(on_pipes(play_colors, &a).out.p, rows[i].on_pipes);
        CHECK_STR(on_terminal(play_colors, "", &a).out.p, rows[i].on_terminal);
    }
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    arena_done(&a);
}

static void play_width(void)
{
    struct term t;

    term_init(&t, TERM_AUTO, false);
    term_print(&t, "%u", t.width);
    finish(&t);
}

TEST(width_comes_from_the_terminal_or_columns)
{
    if (!has_terminals())
        SKIP("no pseudo-terminals here");

    static const struct {
        const char *columns, *width;
    } rows[] = {{"100", "100"}, {"x", "80"}, {"", "80"},
                {"0", "80"},    {"1", "20"}, {"99999999999999999999", "80"}};
    struct arena a = {0};

    unsetenv("COLUMNS");
    CHECK_STR(on_pipes(play_width, &a).out.p, "80");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("COLUMNS", rows[i].columns, 1);
        CHECK_STR(on_pipes(play_width, &a).out.p, rows[i].width);
    }
    CHECK_STR(on_terminal(play_width, "", &a).out.p, "30");
    unsetenv("COLUMNS");
    arena_done(&a);
}

static void play_progress(void)
{
    struct term t;

    term_init(&t, TERM_NEVER, false);
    term_progress(&t, "fetching %s and more and more and more", "a\tb\nc");
    term_progress(&t, "too soon");
    term_print(&t, "result\n");
    t.progress_at_ms = 1;
    term_progress(&t, "last");
    finish(&t);
}

TEST(progress_is_one_line_that_goes_away)
{
    if (!has_terminals())
        SKIP("no pseudo-terminals here");

    struct arena a = {0};
    struct seen s = on_terminal(play_progress, "", &a);

    CHECK(s.status == 0);
    /* 29 of 30 columns: a full line would wrap */
    CHECK_STR(s.out.p, "\r\x1b[K"
                       "fetching a b\\x0ac and more an\r\x1b[K"
                       "result\r\n\r\x1b[Klast\r\x1b[K");
    setenv("TERM", "dumb", 1);
    s = on_terminal(play_progress, "", &a);
    CHECK_STR(s.out.p, "result\r\n");
    setenv("TERM", "xterm", 1);
    CHECK_STR(on_pipes(play_progress, &a).err.p, "");
    arena_done(&a);
}

static void play_ask(void)
{
    struct term t;
    struct err e = {0};
    bool yes = false;

    term_init(&t, TERM_NEVER, false);
    if (!term_ask(&t, "Trust \x1b[1mit?", &yes, &e))
        _exit(2);
    _exit(yes ? 0 : 1);
}

static int exit_of(struct seen s)
{
    return WIFEXITED(s.status) ? WEXITSTATUS(s.status) : -1;
}

TEST(only_yes_is_yes_and_only_a_terminal_is_asked)
{
    if (!has_terminals())
        SKIP("no pseudo-terminals here");

    static const struct {
        const char *typed;
        int code;
    } rows[] = {
        {"y\n", 0},  {"YES\n", 0}, {" yes \n", 0}, {"n\n", 1},      {"\n", 1},
        {"\x04", 1}, {"yep\n", 1}, {"ye\n", 1},    {"yes no\n", 1},
    };
    struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct seen s = on_terminal(play_ask, rows[i].typed, &a);

        CHECK(exit_of(s) == rows[i].code);
        CHECK(str_find(s.out, STR("Trust \\x1b[1mit? [y/N] ")) != SIZE_MAX);
    }
    CHECK(exit_of(on_pipes(play_ask, &a)) == 2);
    arena_done(&a);
}

static void play_choose(void)
{
    static const char *const choices[] = {"once", "this run", "always", "no"};
    struct term t;
    struct err e = {0};
    size_t chosen = 42;

    term_init(&t, TERM_NEVER, false);
    if (!term_choose(&t, "Run\n  a\x1b[1m\nonce?", choices, 4, 0, &chosen, &e))
        _exit(e.code == ERR_REFUSED ? 9 : 10);
    _exit((int)chosen);
}

static void play_choose_late(void)
{
    static const char *const choices[] = {"once", "no"};
    struct term t;
    struct err e = {0};
    size_t chosen = 42;
    uint64_t start = proc_now_ms();

    term_init(&t, TERM_NEVER, false);
    if (!term_choose(&t, "Run?", choices, 2, start + 50, &chosen, &e))
        _exit(9);
    _exit(proc_now_ms() - start < 50 ? 10 : (int)chosen);
}

TEST(a_choice_is_made_by_its_letter_and_else_it_is_the_last) /* [row 7] */
{
    if (!has_terminals())
        SKIP("no pseudo-terminals here");

    static const struct {
        const char *typed;
        int code;
    } rows[] = {
        {"o\n", 0},       {"ONCE\n", 0},  {" t \n", 1},   {"this run\n", 1},
        {"a\n", 2},       {"no\n", 3},    {"\n", 3},      {"\x04", 3},
        {"o\x04\x04", 3}, {"yes\n\n", 3}, {"on\no\n", 0}, {"o no\n1\nT\n", 1},
        {"y\n?\n1\n", 3}, {"y\n\x04", 3},
    };
    struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct seen s =
            on_terminal_after("(n)o: ", play_choose, rows[i].typed, &a);

        CHECK(exit_of(s) == rows[i].code);
        CHECK(str_find(s.out, STR("Run\r\n  a\\x1b[1m\r\nonce? (o)nce, (t)his "
                                  "run, (a)lways, (n)o: ")) != SIZE_MAX);
    }
    CHECK(exit_of(on_pipes(play_choose, &a)) == 9);
    CHECK(exit_of(on_terminal_after("never", play_choose_late, "", &a)) == 1);
    CHECK(exit_of(on_terminal_after("Run?", play_choose_late, "o", &a)) == 1);
    arena_done(&a);
}

/* [row 27] success is not claimed for what was not written. */
TEST(a_full_or_closed_output_is_an_error)
{
    struct arena a = {0};
    struct err e = {0};
    struct term t;
    int saved = dup(1), full = open("/dev/full", O_WRONLY), ends[2];
    bool flushed, done, broken;

    CHECK(pipe(ends) == 0);
    close(ends[0]);
    fflush(stdout);
    signal(SIGPIPE, SIG_IGN);
    dup2(full, 1);
    term_init(&t, TERM_NEVER, false);
    term_print(&t, "text");
    flushed = term_flush(&t, &e);
    done = term_done(&t, &e);
    dup2(ends[1], 1);
    term_init(&t, TERM_NEVER, false);
    for (int i = 0; i < 30000; i++)
        term_print(&t, "text %d\n", i);
    broken = term_done(&t, &e);
    dup2(saved, 1);
    close(saved);
    close(full);
    close(ends[1]);
    CHECK(!flushed && !done && !broken);
    CHECK(e.code == ERR_IO);
    CHECK_STR(err_first(&e), "write to standard output: Broken pipe");
    arena_done(&a);
}
