#include "base/fs.h"
#include "base/proc.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* Runs a line of sh. Returns false if proc_run failed. */
static bool run(struct proc_options o, const char *line, struct arena *a,
                struct proc_result *out, struct err *e)
{
    const char *const argv[] = {"/bin/sh", "-c", line, NULL};

    o.argv = argv;
    if (!o.max_output_bytes)
        o.max_output_bytes = 1 << 20;
    return proc_run(&o, a, out, e);
}

TEST(results_of_a_run)
{
    static const struct {
        const char *line;
        int code;
        const char *out, *err;
    } rows[] = {
        {"true", 0, "", ""},
        {"exit 7", 7, "", ""},
        {"echo out; echo err >&2", 0, "out\n", "err\n"},
        {"kill -TERM $$", 128 + SIGTERM, "", ""},
        {"cat", 0, "hello", ""},
        {"exec <&-; echo unread", 0, "unread\n", ""},
    };
    struct arena a = {0};
    struct err e = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct proc_options o = {.input = STR("hello")};
        struct proc_result r = {.exit_code = -1};

        CHECK(run(o, rows[i].line, &a, &r, &e));
        CHECK(r.exit_code == rows[i].code);
        CHECK_STR(r.out.p, rows[i].out);
        CHECK_STR(r.err.p, rows[i].err);
    }
    arena_done(&a);
}

TEST(much_goes_through_both_pipes_at_once)
{
    struct arena a = {0};
    struct err e = {0};
    struct proc_result r = {0};
    struct proc_options o = {0};
    size_t n = 500000;
    char *big = arena_alloc(&a, n);

    memset(big, 'x', n);
    o.input = str_make(big, n);
    CHECK(
        run(o, "cat; head -c 100000 /dev/zero >&2; echo end >&2", &a, &r, &e));
    CHECK(r.out.n == n && str_eq(r.out, o.input));
    CHECK(r.err.n == 4096); /* the last 4 KiB */
    CHECK(str_ends(r.err, STR("\0end\n")));
    arena_done(&a);
}

TEST(output_and_time_are_limited)
{
    struct arena a = {0};
    struct err e = {0};
    struct proc_result r = {.exit_code = 42};
    struct proc_options o = {.max_output_bytes = 10};

    CHECK(run(o, "printf 0123456789", &a, &r, &e) && r.out.n == 10);
    r.exit_code = 42;
    CHECK(!run(o, "printf 0123456789a", &a, &r, &e));
    CHECK(e.code == ERR_LIMIT && r.exit_code == 42);
    CHECK(!run(o, "yes", &a, &r, &e) && e.code == ERR_LIMIT);
    o.timeout_ms = 100;
    CHECK(!run(o, "sleep 1000 & sleep 1000", &a, &r, &e));
    CHECK(e.code == ERR_FAILED && r.exit_code == 42);
    arena_done(&a);
}

TEST(a_daemon_left_behind_is_not_waited_for)
{
    struct arena a = {0};
    struct err e = {0};
    struct proc_result r = {0};
    struct proc_options o = {0};
    int daemon;

    CHECK(run(o, "setsid sleep 1000 & echo $!", &a, &r, &e));
    daemon = atoi(r.out.p);
    CHECK(daemon > 1 && kill(daemon, SIGKILL) == 0);
    arena_done(&a);
}

static bool is_alive(const char *path)
{
    struct arena a = {0};
    struct err e = {0};
    struct str text = STR("");
    uint64_t pid = 0;
    bool alive;

    /* Its number was written before the run could end. */
    CHECK(fs_read_user_file(path, 100, &a, &text, &e));
    CHECK(str_number(str_trim(text), INT32_MAX, &pid) && pid > 1);
    alive = pid > 1 && kill((pid_t)pid, 0) == 0;
    arena_done(&a);
    return alive;
}

/* [row 19] Processes that leave their group, session and parent are also
 * ended. */
TEST(everything_is_ended_daemons_included)
{
    static const char *const lines[] = {
        "sleep 60 & echo $! >FILE",
        "setsid sh -c 'echo $$ >FILE; exec sleep 60' & while [ ! -s FILE ]; do "
        ":; done",
        /* forks twice, starts a session, ignores SIGTERM */
        "(setsid sh -c 'trap \"\" TERM HUP; (sleep 60; :) & echo $! >FILE; "
        "wait' &) ; while [ ! -s FILE ]; do :; done",
        "setsid sh -c 'setsid sh -c \"setsid sleep 60 & echo \\$! >FILE\" &' "
        "& while [ ! -s FILE ]; do :; done",
        /* a name that looks like the fields after a name in /proc */
        "cp /bin/sleep 'FILE) S 1 (x'; setsid 'FILE) S 1 (x' 60 & echo $! "
        ">FILE; sleep 0.05; rm 'FILE) S 1 (x'",
    };
    char path[] = "/tmp/proc_test-XXXXXX", line[1000];
    int fd = mkstemp(path);
    pid_t other = fork();

    if (other == 0) {
        pause();
        _exit(0);
    }
    for (size_t i = 0; i < 2 * sizeof lines / sizeof *lines; i++) {
        struct arena a = {0};
        struct err e = {0};
        struct proc_result r = {0};
        struct proc_options o = {.end_all = true, .report_timeout = true};
        size_t used = 0;

        for (const char *p = lines[i / 2]; *p; p++) {
            bool here = strncmp(p, "FILE", 4) == 0;

            used += (size_t)snprintf(line + used, sizeof line - used, "%.*s",
                                     here ? 100 : 1, here ? path : p);
            p += here ? 3 : 0;
        }
        if (i % 2) { /* ended by us */
            o.timeout_ms = 500;
            snprintf(line + used, sizeof line - used, "; sleep 1000");
        }
        CHECK(ftruncate(fd, 0) == 0);
        CHECK(run(o, line, &a, &r, &e));
        CHECK(r.timed_out == (i % 2 == 1));
        CHECK(r.exit_code == (i % 2 ? 128 + SIGKILL : 0));
        CHECK(!is_alive(path));
        arena_done(&a);
    }
    /* Earlier children are not ended. */
    CHECK(kill(other, 0) == 0 && waitpid(other, NULL, WNOHANG) == 0);
    kill(other, SIGKILL);
    CHECK(waitpid(other, NULL, 0) == other);
    close(fd);
    unlink(path);
}

/* [row 19] This program with CHAINS set: that many chains of processes in
 * separate sessions, each of which ends before it can be observed twice, for
 * some seconds. */
__attribute__((constructor)) static void be_chains(void)
{
    const char *count = getenv("CHAINS");
    uint64_t end = proc_now_ms() + 20000;

    for (int i = count ? atoi(count) : 0; i > 0; i--) {
        if (fork() != 0)
            continue;
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        while (proc_now_ms() < end) {
            if (fork() != 0)
                _exit(0);
            setsid();
        }
        _exit(0);
    }
    if (count)
        _exit(0);
}

TEST(who_forks_quickly_is_ended_too)
{
    static const char *const env[] = {"CHAINS=12", NULL};
    static const char *const argv[] = {"/proc/self/exe", NULL};
    struct arena a = {0};
    struct err e = {0};
    struct proc_result r = {0};
    struct proc_options o = {
        .end_all = true, .env = env, .argv = argv, .max_output_bytes = 1 << 20};

    for (int i = 0; i < 3; i++) {
        CHECK(proc_run(&o, &a, &r, &e));
        CHECK(!r.has_left);
        CHECK(waitpid(-1, NULL, WNOHANG) < 0); /* no process is left */
    }
    arena_done(&a);
}

struct listener {
    size_t out, err, calls, limit;
};

static void hear(void *ctx, bool is_err, struct str block)
{
    struct listener *l = ctx;

    *(is_err ? &l->err : &l->out) += block.n;
}

static bool go_on(void *ctx)
{
    struct listener *l = ctx;

    l->calls++;
    return !l->limit || l->out < l->limit;
}

TEST(output_is_handed_over_as_it_comes)
{
    struct arena a = {0};
    struct err e = {0};
    struct listener l = {0};
    struct proc_result r = {0};
    struct proc_options o = {.output = hear, .go_on = go_on, .ctx = &l};

    o.max_output_bytes = 10;
    CHECK(run(o, "head -c 3000000 /dev/zero; head -c 70000 /dev/zero >&2", &a,
              &r, &e));
    CHECK(l.out == 3000000 && l.err == 70000 && r.out.n == 0 &&
          r.err.n == 4096);
    CHECK(r.exit_code == 0 && !r.stopped && !r.timed_out);

    l = (struct listener){0};
    o.one_stream = true;
    CHECK(run(o, "printf a; printf b >&2", &a, &r, &e));
    CHECK(l.out == 2 && l.err == 0);
    o.output = NULL;
    CHECK(run(o, "printf a; printf b >&2; printf c", &a, &r, &e));
    CHECK_STR(r.out.p, "abc");
    arena_done(&a);
}

TEST(the_caller_can_end_a_run)
{
    struct arena a = {0};
    struct err e = {0};
    struct listener l = {.limit = 1000};
    struct proc_result r = {0};
    struct proc_options o = {.output = hear, .go_on = go_on, .ctx = &l};

    CHECK(run(o, "yes", &a, &r, &e));
    CHECK(r.stopped && !r.timed_out && r.exit_code == 128 + SIGKILL);
    CHECK(e.code == ERR_NONE);

    /* The callback is also called without output, four times a second. */
    l = (struct listener){0};
    o.timeout_ms = 1000;
    o.report_timeout = true;
    CHECK(run(o, "echo before; sleep 1000", &a, &r, &e));
    CHECK(r.timed_out && !r.stopped && l.calls >= 3);
    o.output = NULL;
    CHECK(run(o, "echo before; sleep 1000", &a, &r, &e));
    CHECK_STR(r.out.p, "before\n"); /* the output so far */
    arena_done(&a);
}

TEST(what_cannot_be_started_says_why)
{
    static const char *const absent[] = {"/no/such/program", NULL};
    static const char *const relative[] = {"sh", NULL};
    static const char *const folder[] = {"/tmp", NULL};
    static const char *const shell[] = {"/bin/sh", "-c", "true", NULL};
    struct arena a = {0};
    struct err e = {0};
    struct proc_result r;
    struct proc_options o = {.argv = absent};

    CHECK(!proc_run(&o, &a, &r, &e) && e.code == ERR_NOT_FOUND);
    o.argv = relative;
    CHECK(!proc_run(&o, &a, &r, &e) && e.code == ERR_REFUSED);
    o.argv = folder;
    CHECK(!proc_run(&o, &a, &r, &e) && e.code == ERR_IO);
    o.argv = shell;
    o.dir = "/no/such/folder";
    CHECK(!proc_run(&o, &a, &r, &e) && e.code == ERR_IO);
    CHECK(strstr(err_first(&e), "/no/such/folder") != NULL);
    arena_done(&a);
}

/* [row 20] No descriptor is inherited by accident. */
TEST(environment_folder_and_descriptors_are_as_asked)
{
    static const char *const env[] = {"ONLY=this", "PATH=/usr/bin:/bin", NULL};
    struct arena a = {0};
    struct err e = {0};
    struct proc_result r = {0};
    struct proc_options o = {.env = env, .dir = "/"};
    int leaked = open("/dev/null", O_RDONLY); /* no O_CLOEXEC */

    setenv("SECRET", "key", 1);
    CHECK(run(o, "echo $ONLY $SECRET; pwd; ls /proc/self/fd | wc -l", &a, &r,
              &e));
    /* 0, 1, 2 and the folder that ls reads */
    CHECK_STR(r.out.p, "this\n/\n4\n");
    o.env = NULL;
    CHECK(run(o, "readlink /proc/self/fd/0", &a, &r, &e));
    CHECK_STR(r.out.p, "/dev/null\n");
    CHECK(run(o, "echo $SECRET", &a, &r, &e));
    CHECK_STR(r.out.p, "key\n");
    unsetenv("SECRET");
    close(leaked);
    arena_done(&a);
}

TEST(spawn_hands_over_one_socket)
{
    static const char *const argv[] = {
        "/bin/sh", "-c", "ls /proc/self/fd | wc -l >&3; exit 3", NULL};
    static const char *const absent[] = {"/no/such/program", NULL};
    struct err e = {0};
    char text[16] = "";
    int ends[2], code = -1;
    pid_t pid = 0;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    CHECK(proc_spawn(argv, ends[1], &pid, &e));
    close(ends[1]);
    CHECK(read(ends[0], text, sizeof text - 1) > 0);
    CHECK_STR(text, "5\n");
    CHECK(proc_wait(pid, &code, &e) && code == 3);
    CHECK(!proc_wait(pid, &code, &e) && e.code == ERR_IO);
    CHECK(!proc_spawn(absent, ends[0], &pid, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    close(ends[0]);
}

TEST(spawned_programs_die_with_us)
{
    static const char *const argv[] = {"/bin/sleep", "60", NULL};
    struct err e = {0};
    int ends[2];
    char byte;
    pid_t us;

    /* The sleeper holds the socket: its end is the end of the file. */
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    us = fork();
    if (us == 0) {
        pid_t pid;

        _exit(proc_spawn(argv, ends[1], &pid, &e) ? 0 : 1);
    }
    close(ends[1]);
    CHECK(read(ends[0], &byte, 1) == 0);
    waitpid(us, NULL, 0);
    close(ends[0]);
}

/* [row 15, row 29] Relative elements of PATH are ignored. */
TEST(programs_are_found_outside_of_a_folder)
{
    struct arena a = {0};
    struct err e = {0};
    struct str path = STR("");
    char dir[] = "/tmp/proc_test-XXXXXX", *before = strdup(getenv("PATH"));
    int fd = -1;

    CHECK(mkdtemp(dir) && fs_open_dir(dir, &fd, &e));
    CHECK(fs_make_dirs_at(fd, "bin/folder", 0755, &e));
    CHECK(fs_make_dirs_at(fd, "out", 0755, &e));
    CHECK(fs_create_at(fd, "bin/tool", 0755, STR("#!/bin/sh\n"), &e));
    CHECK(fs_create_at(fd, "bin/plain", 0644, STR(""), &e));
    CHECK(symlinkat("../bin/tool", fd, "out/sly") == 0);
    CHECK(chdir(dir) == 0);

    setenv("PATH", arena_printf(&a, "bin:.::%s/bin:%s/out", dir, dir).p, 1);
    CHECK(proc_find_program("tool", NULL, &a, &path, &e));
    CHECK_STR(path.p, arena_printf(&a, "%s/bin/tool", dir).p);
    CHECK(!proc_find_program("folder", NULL, &a, &path, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    CHECK(!proc_find_program("plain", NULL, &a, &path, &e));
    CHECK(!proc_find_program("tool", dir, &a, &path, &e));
    CHECK(e.code == ERR_NOT_FOUND);
    CHECK(proc_find_program("sly", "/nowhere", &a, &path, &e));
    CHECK(proc_find_program("tool", arena_printf(&a, "%s/bi", dir).p, &a, &path,
                            &e));
    CHECK(!proc_find_program("sly", arena_printf(&a, "%s/bin", dir).p, &a,
                             &path, &e)); /* by what it leads to */
    CHECK(!proc_find_program("bin/tool", NULL, &a, &path, &e));
    CHECK(e.code == ERR_REFUSED);
    CHECK(!proc_find_program("", NULL, &a, &path, &e));
    setenv("PATH", "", 1);
    CHECK(!proc_find_program("tool", NULL, &a, &path, &e));
    unsetenv("PATH");
    CHECK(proc_find_program("sh", NULL, &a, &path, &e));

    setenv("PATH", before, 1);
    free(before);
    CHECK(chdir("/") == 0);
    fs_close(&fd);
    CHECK(fs_remove_tree_at(AT_FDCWD, dir, &e));
    arena_done(&a);
}

TEST(our_own_folder)
{
    struct arena a = {0};
    struct err e = {0};
    struct str dir = STR("");

    CHECK(proc_self_dir(&a, &dir, &e));
    CHECK(fs_exists_at(AT_FDCWD, fs_join(dir, STR("proc_test"), &a).p));
    arena_done(&a);
}

/* [row 29] descriptors 0 to 2 closed. */
TEST(closed_descriptors_become_dev_null)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        int fd;

        close(0);
        close(2);
        proc_init();
        fd = open("/", O_RDONLY);
        _exit(fd > 2 && write(2, "x", 1) == 1 && read(0, &fd, 1) == 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

TEST(signals_set_a_flag_and_end_a_run)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        struct arena a = {0};
        struct err e = {0};
        struct proc_result r;
        struct proc_options o = {0};
        int ends[2];

        signal(SIGINT, SIG_DFL);
        proc_catch_signals();
        if (proc_interrupted() || pipe(ends) < 0)
            _exit(1);
        close(ends[0]);
        if (write(ends[1], "x", 1) != -1) /* EPIPE, and no signal */
            _exit(2);
        if (run(o, "kill -INT $PPID; sleep 60", &a, &r, &e))
            _exit(3);
        if (e.code != ERR_INTERRUPTED)
            _exit(4);
        _exit(proc_interrupted() ? 0 : 5);
    }
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

/* A signal ends the run at once at any moment, also between the check of the
 * flag and the wait. */
TEST(no_signal_is_lost)
{
    for (unsigned i = 0; i < 60; i++) {
        int status = -1;
        pid_t child = fork();

        if (child == 0) {
            struct arena a = {0};
            struct err e = {0};
            struct proc_result r;
            struct proc_options o = {.end_all = i % 2};

            signal(SIGTERM, SIG_DFL);
            proc_catch_signals();
            if (run(o, "sleep 1000", &a, &r, &e))
                _exit(1);
            _exit(e.code == ERR_INTERRUPTED ? 0 : 2);
        }
        usleep(15000 + i * 37); /* at an arbitrary moment */
        kill(child, SIGTERM);
        waitpid(child, &status, 0);
        CHECK(status == 0 || status == SIGTERM); /* before it was caught */
    }
}
