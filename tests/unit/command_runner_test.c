
#include "base/arena.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "mapm/command_runner.h"
#include "mapm/limits.h"
#include "mapm/runtime.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "command_case.h"

/* What a program gets back from command(): [K25, K26, K27, K29, row 19, row 20]
 * [row 22] of the threats. The isolation itself: sandbox_test. */

TEST(outcomes_of_a_command) /* [K27] */
{
    static const struct {
        const char *line;
        bool ok;
        int code;
        const char *result;
    } rows[] = {
        {"true", true, 0, ""},
        {"exit 3", false, 3, ""},
        {"echo out; echo err >&2; echo out", true, 0, "out\nerr\nout\n"},
        {"echo no; exit 1", false, 1, "no\n"},
        {"kill -KILL $$", false, 128 + SIGKILL, ""},
        {"kill -TERM $$", false, 128 + SIGTERM, ""},
        {"cat; echo end", true, 0, "end\n"}, /* an empty stdin */
        {"exec no-such-program 2>/dev/null", false, 127, ""},
        {"printf 'error: mine'; exit 127", false, 127, "error: mine"},
    };

    for (int way = 0; way < CASE_WAYS; way++) {
        if (!case_set_way(way))
            continue;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct arena a = {0};
            struct case_run r = case_make(&a);
            struct command_result out = case_sh(&r, &a, rows[i].line);

            CHECK(out.ok == rows[i].ok);
            CHECK(out.exit_code == rows[i].code);
            CHECK(!out.truncated && out.rule.n == 0);
            CHECK_STR(out.result.p, rows[i].result);
            arena_done(&a);
        }
    }
}

/* [row 19, K25] by name, from PATH, outside of the workspace. */
TEST(which_program_runs) /* [K25, row 19] */
{
    static const char *const absent[] = {"no-such-program", NULL};
    static const char *const local[] = {"local-tool", NULL};
    static const char *const path[] = {"./local-tool", "x", NULL};
    static const char *const absolute[] = {"/bin/echo", "hi", NULL};
    static const char *const plain[] = {"./plain", NULL};
    static const char *const broken[] = {"./broken", NULL};
    static const char *const none[] = {NULL};
    static const char *const empty[] = {"", NULL};
    struct arena a = {0};
    struct case_run r = case_make(&a);
    struct command_result out;
    struct str nul[] = {STR("echo"), STR("a\0b")};
    struct err e = {0};

    case_shell("printf '#!/bin/sh\\necho local $0 $1' >local-tool; "
               "chmod +x local-tool; echo x >plain; "
               "printf '#!/no/such/shell\\n' >broken; chmod +x broken");
    for (int way = 0; way < CASE_WAYS; way++) {
        if (!case_set_way(way))
            continue;
        setenv("PATH",
               arena_printf(&a, "%s/ws:%s", case_root, getenv("PATH")).p, 1);
        r.o.by_path = false;
        out = case_go(&r, &a, absent);
        CHECK(!out.ok && out.exit_code == -1);
        CHECK_STR(out.result.p,
                  "error: no-such-program: no such program in PATH");
        out = case_go(&r, &a, local);
        CHECK(!out.ok && out.exit_code == -1);
        out = case_go(&r, &a, path);
        CHECK(str_starts(out.result, STR("error: ./local-tool is a path")));
        out = case_go(&r, &a, none);
        CHECK_STR(out.result.p, "error: no program is named");
        out = case_go(&r, &a, empty);
        CHECK_STR(out.result.p, "error: no program is named");

        r.o.by_path = true;
        out = case_go(&r, &a, path);
        CHECK(out.ok);
        CHECK_STR(out.result.p,
                  arena_printf(&a, "local %s/ws/local-tool x\n", case_root).p);
        out = case_go(&r, &a, absolute);
        CHECK_STR(out.result.p, "hi\n");
        out = case_go(&r, &a, plain);
        CHECK_STR(out.result.p, "error: ./plain: Permission denied");
        out = case_go(&r, &a, broken);
        CHECK(!out.ok && out.exit_code == -1);
        CHECK(str_starts(out.result, STR("error: ")));
        CHECK(str_ends(out.result, STR("broken: No such file or directory")));
    }
    r.in.argv = nul;
    r.in.argc = 2;
    CHECK(command_runner_run(&r.o, &r.in, &a, &out, &e));
    CHECK_STR(out.result.p, "error: word 2 of the command holds a NUL");
    arena_done(&a);
}

TEST(a_time_out_keeps_what_came) /* [K26, row 19] */
{
    for (int way = 0; way < CASE_WAYS; way++) {
        struct arena a = {0};
        struct case_run r = case_make(&a);
        struct command_result out;

        if (!case_set_way(way))
            continue;
        r.in.timeout_s = 1;
        out = case_sh(&r, &a, "echo before; sleep 1000; echo after");
        CHECK(!out.ok && out.exit_code == -1 && !out.truncated);
        CHECK_STR(out.result.p, "error: timed out after 1 s\nbefore\n");

        /* The run itself is over first. */
        r.in.timeout_s = 60;
        r.in.deadline_ms = proc_now_ms() + 1000;
        out = case_sh(&r, &a, "trap '' TERM HUP INT; sleep 1000; sleep 1000");
        CHECK(!out.ok && out.exit_code == -1);
        CHECK_STR(out.result.p, "error: timed out after 1 s");
        arena_done(&a);
    }
}

/* [row 19, row 22, K29] a flood is drained, and cut on a character. */
TEST(much_output_is_cut_and_memory_stays_flat) /* [K29, row 22] */
{
    struct rusage before, after;
    struct arena a = {0};
    struct case_run r = case_make(&a);
    struct command_result out;

    case_set_way(CASE_WALLS);
    getrusage(RUSAGE_SELF, &before);
    out = case_sh(&r, &a, "head -c 100000000 /dev/zero | tr '\\0' a; exit 4");
    getrusage(RUSAGE_SELF, &after);
    CHECK(!out.ok && out.exit_code == 4);
    CHECK(out.truncated && out.result.n == COMMAND_MAX_CHARS);
    CHECK(out.result.p[0] == 'a' && out.result.p[out.result.n - 1] == 'a');
    CHECK(after.ru_maxrss - before.ru_maxrss < 8192);
    printf("# %ld KiB more for 100 MB\n", after.ru_maxrss - before.ru_maxrss);
    arena_done(&a);
}

TEST(output_is_utf_8_and_whole_characters) /* [row 22] */
{
    static const struct {
        const char *line;
        size_t max;
        const char *result;
        bool truncated;
    } rows[] = {
        {"printf 'a\\377b'", 64,
         "a\xEF\xBF\xBD"
         "b",
         false},
        {"printf '\\303'", 64, "\xEF\xBF\xBD", false},
        {"printf '\\303\\244\\303\\266\\303\\274'", 3,
         "\xC3\xA4\xC3\xB6\xC3\xBC", false},
        {"printf '\\303\\244\\303\\266\\303\\274'", 2, "\xC3\xA4\xC3\xB6",
         true},
        {"printf '\\360\\237\\230\\200\\360\\237\\230\\200x'", 2,
         "\xF0\x9F\x98\x80\xF0\x9F\x98\x80", true},
        {"printf '\\355\\240\\200'", 64, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD",
         false}, /* a surrogate */
        /* control characters are for who shows them */
        {"printf 'a\\033[2J\\r\\n'", 64, "a\033[2J\r\n", false},
        {"printf 'abc'; exit 1", 3, "abc", false},
        {"printf 'abcd'; exit 1", 3, "abc", true},
        {"printf '\\377\\377\\377'", 2, "\xEF\xBF\xBD\xEF\xBF\xBD", true},
    };

    case_set_way(CASE_WALLS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct case_run r = case_make(&a);
        struct command_result out;

        r.in.max_chars = rows[i].max;
        out = case_sh(&r, &a, rows[i].line);
        CHECK_STR(out.result.p, rows[i].result);
        CHECK(out.truncated == rows[i].truncated);
        arena_done(&a);
    }
    for (size_t n = 64; n <= 65; n++) {
        struct arena a = {0};
        struct case_run r = case_make(&a);
        struct command_result out;

        r.in.max_chars = 64;
        out = case_sh(
            &r, &a,
            arena_printf(&a, "head -c %zu /dev/zero | tr '\\0' a", n).p);
        CHECK(out.result.n == 64 && out.truncated == (n == 65));
        arena_done(&a);
    }
}

/* [row 20] by name; no token, no key, nothing that loads code. */
TEST(the_environment_is_a_short_list) /* [row 20] */
{
    static const char *const allowed[] = {
        "PATH",
        "HOME",
        "TMPDIR",
        "TERM",
        "MAPM_DEPTH",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "USER",
        "LOGNAME",
        /* of the shell, and of bubblewrap */
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
    };

    setenv("AWS_SECRET_ACCESS_KEY", "x", 1);
    setenv("LD_PRELOAD_CHECK", "x", 1);
    setenv("LD_LIBRARY_PATH", "/tmp", 1);
    setenv("BASH_ENV", "/tmp/x", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    for (int mode = SANDBOX_ON; mode <= SANDBOX_OFF; mode++) {
        for (int way = 0; way < CASE_WAYS; way++) {
            struct arena a = {0};
            struct case_run r = case_make(&a);
            struct command_result out;
            struct str rest, line;

            if (!case_set_way(way))
                continue;
            r.o.sandbox = (enum sandbox)mode;
            out = case_sh(&r, &a, "env");
            CHECK(out.ok);
            rest = out.result;
            while (str_line(&rest, &line)) {
                bool found = false;

                for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
                    found = found ||
                            str_is(str_slice(line, 0, str_find_char(line, '=')),
                                   allowed[i]);
                if (!found)
                    printf("# %.*s\n", STR_ARG(line));
                CHECK(found);
            }
            CHECK(str_find(out.result, STR("TERM=dumb\n")) != SIZE_MAX);
            CHECK(str_find(out.result, STR("LC_ALL=C.UTF-8\n")) != SIZE_MAX);
            CHECK(str_find(out.result, STR("MAPM_DEPTH=1\n")) != SIZE_MAX);
            CHECK((str_find(out.result, arena_printf(&a, "HOME=%s/home\n",
                                                     case_root)) != SIZE_MAX) ==
                  (mode != SANDBOX_ON));
            arena_done(&a);
        }
    }
    unsetenv("AWS_SECRET_ACCESS_KEY");
    unsetenv("LD_PRELOAD_CHECK");
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("BASH_ENV");
}

/* Processes whose current folder is the workspace, or none any more. */
static int count_in_workspace(void)
{
    struct arena a = {0};
    struct str ws = case_at(&a, "ws");
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    int count = 0;

    while (processes && (entry = readdir(processes))) {
        char path[300], to[sizeof case_root + 100];
        ssize_t n;

        snprintf(path, sizeof path, "/proc/%s/cwd", entry->d_name);
        n = readlink(path, to, sizeof to);
        if (n > 0 && str_starts(str_make(to, (size_t)n), ws))
            count++;
    }
    if (processes)
        closedir(processes);
    arena_done(&a);
    return count;
}

/* [row 19] nothing outlives a command; it could write after the check. */
TEST(nothing_outlives_a_command) /* [row 19] */
{
    static const char *const lines[] = {
        "(while :; do echo x >>grow; sleep 0.02; done) & until test -s grow; "
        "do sleep 0.01; done",
        "setsid sh -c 'trap \"\" TERM HUP; while :; do echo x >>grow; "
        "sleep 0.02; done' </dev/null >/dev/null 2>&1 & until test -s grow; "
        "do sleep 0.01; done",
        "(setsid sh -c 'while :; do echo x >>grow; sleep 0.02; done' &) ; "
        "until test -s grow; do sleep 0.01; done; kill -KILL $$",
    };

    for (int mode = 0; mode <= SANDBOX_OFF; mode += SANDBOX_OFF) {
        for (int way = 0; way < CASE_WAYS; way++) {
            if (!case_set_way(way))
                continue;
            for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
                struct arena a = {0};
                struct case_run r = case_make(&a);

                r.o.sandbox = (enum sandbox)mode;
                case_shell("rm -f grow");
                (void)case_sh(&r, &a, lines[i]);
                CHECK(case_shell("test -s grow") == 0);
                CHECK(count_in_workspace() == 0);
                arena_done(&a);
            }
        }
    }
    case_shell("rm -f grow");
}

TEST(two_runs_at_once_do_not_disturb_each_other)
{
    static const char *const line =
        "test ! -e busy && touch busy && until test -e waits; do sleep 0.01; "
        "done && rm busy";
    pid_t child;
    int status = -1;
    struct arena a = {0};
    struct case_run r = case_make(&a);
    struct command_result out;

    case_set_way(CASE_WALLS);
    child = fork();
    if (child == 0) {
        out = case_sh(&r, &a, line);
        _exit(out.ok ? (case_waits ? 10 : 0) : 1);
    }
    case_waits = 0;
    out = case_sh(&r, &a, line);
    CHECK(out.ok);
    waitpid(child, &status, 0);
    case_shell("rm -f waits");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) % 10 == 0);
    /* One of the two waited, and said so once. */
    CHECK((WEXITSTATUS(status) == 10) + case_waits == 1);

    /* mapm install has the workspace, for longer than there is time. */
    {
        CLEANUP_FD int fd = -1;
        struct err e = {0};

        CHECK(fs_open_dir(case_at(&a, "ws").p, &fd, &e));
        CHECK(fs_lock(fd, true, 0, NULL, NULL, &e));
        r.in.deadline_ms = proc_now_ms() + 200;
        out = case_sh(&r, &a, "true");
        CHECK(!out.ok && out.exit_code == -1);
        CHECK_STR(out.result.p, "error: the workspace was in use by another "
                                "mapm all the time");
    }
    arena_done(&a);
}

TEST(a_signal_ends_a_command_at_once)
{
    for (int way = 0; way < CASE_WAYS; way++) {
        int status = -1, ends[2];
        pid_t child;
        char byte;

        if (!case_set_way(way))
            continue;
        CHECK(pipe(ends) == 0);
        child = fork();
        if (child == 0) {
            struct arena a = {0};
            struct case_run r = case_make(&a);
            static const char *const words[] = {
                "sh", "-c", "touch started; sleep 1000", NULL};
            struct command_result out;
            struct err e = {0};

            signal(SIGINT, SIG_DFL);
            proc_catch_signals();
            case_words(&r, &a, words);
            if (command_runner_run(&r.o, &r.in, &a, &out, &e))
                _exit(1);
            _exit(e.code == ERR_INTERRUPTED ? 0 : 2);
        }
        close(ends[1]);
        AWAIT(case_shell("test -e started") == 0);
        kill(child, SIGINT);
        /* The command had no copy of the pipe, or it is gone. */
        CHECK(read(ends[0], &byte, 1) == 0);
        waitpid(child, &status, 0);
        CHECK(status == 0);
        close(ends[0]);
        case_shell("rm -f started");
    }
}

TEST(what_a_person_is_told)
{
    struct arena a = {0};
    struct case_run r = case_make(&a);

    case_set_way(CASE_ALONE);
    case_notices = 0;
    CHECK(case_sh(&r, &a, "true").ok && case_notices == 1);
    if (case_set_way(CASE_WALLS)) {
        case_notices = 0;
        CHECK(case_sh(&r, &a, "true").ok && case_notices == 0);
    }
    r.o.sandbox = SANDBOX_OFF;
    case_notices = 0;
    CHECK(case_sh(&r, &a, "true").ok && case_notices == 0);
    arena_done(&a);
}

TEST(workspaces_that_are_no_place_for_a_command)
{
    struct arena a = {0};
    struct case_run r = case_make(&a);
    struct command_result out;

    case_set_way(CASE_WALLS);
    r.o.workspace = case_at(&a, "nowhere");
    out = case_sh(&r, &a, "true");
    CHECK(!out.ok && str_ends(out.result, STR("nowhere is not a folder")));
    r.o.workspace = case_at(&a, "home");
    out = case_sh(&r, &a, "true");
    CHECK(!out.ok && out.exit_code == -1);
    CHECK(str_starts(out.result, STR("error: commands do not run in ")));
    r.o.workspace = STR("/");
    out = case_sh(&r, &a, "true");
    CHECK(!out.ok && out.exit_code == -1);
    r.o.workspace = case_at(&a, "home");
    r.o.sandbox = SANDBOX_OFF;
    CHECK(case_sh(&r, &a, "true").ok);
    arena_done(&a);
}

/* What a command costs, for a reader. */
TEST(the_cost_of_a_command)
{
    uint64_t times[21];
    enum { N = sizeof times / sizeof *times };

    for (int way = 0; way < CASE_WAYS; way++) {
        struct arena a = {0};
        struct case_run r = case_make(&a);

        if (!case_set_way(way))
            continue;
        for (size_t i = 0; i < N; i++) {
            uint64_t start = proc_now_ms(), took;
            size_t at = i;

            CHECK(case_sh(&r, &a, "true").ok);
            took = proc_now_ms() - start;
            for (; at && times[at - 1] > took; at--)
                times[at] = times[at - 1];
            times[at] = took;
        }
        printf("# %s: median %u ms, best %u ms\n",
               way == CASE_ALONE ? "alone" : "bubblewrap",
               (unsigned)times[N / 2], (unsigned)times[0]);
        arena_done(&a);
    }
}
