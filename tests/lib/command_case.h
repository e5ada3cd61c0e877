#ifndef TESTS_COMMAND_CASE_H
#define TESTS_COMMAND_CASE_H

/*
 * For tests of command_runner_run: a workspace, a home and a place outside of both,
 * all below one folder that goes at the end.
 *
 *     T/ws        the workspace
 *     T/home      $HOME
 *     T/bin       programs, without bwrap
 */

#include "base/confine.h"
#include "base/fs.h"
#include "base/proc.h"
#include "mapm/command_runner.h"
#include "mapm/runtime.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static char case_root[] = "/tmp/mapm-command-XXXXXX";
static char case_path[1000]; /* PATH as it was */
static unsigned case_notices, case_waits;
static bool case_has_bubblewrap; /* bubblewrap works here */

#define CASE_NAMES_MAX 1000

static struct str case_at(struct arena *a, const char *name)
{
    return arena_printf(a, "%s/%s", case_root, name);
}

/* A line of sh, as the test itself runs it: in T/ws, unconfined. */
__attribute__((unused)) static int case_shell(const char *format, ...)
{
    struct arena a = {0};
    char line[4096];
    va_list args;
    int status;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    status = system(arena_printf(&a, "PATH='%s'; cd '%s/ws' && { %s; }",
                                 case_path, case_root, line)
                        .p);
    arena_done(&a);
    return status;
}

/* The same ones, but no bwrap among them. */
static void case_make_bin(struct arena *a)
{
    static const char *const names[] = {
        "sh",   "cat",    "echo",    "env",   "false",  "head",     "id",
        "kill", "ln",     "ls",      "mkdir", "mv",     "rm",       "sleep",
        "sort", "touch",  "tr",      "true",  "chmod",  "pwd",      "setsid",
        "wc",   "test",   "python3", "git",   "find",   "cp",       "dd",
        "yes",  "printf", "sed",     "stat",  "mkfifo", "readlink", "grep",
    };
    struct err e = {0};

    if (!fs_make_dirs(case_at(a, "bin").p, 0755, &e))
        abort();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str path;

        if (proc_find_program(names[i], case_root, a, &path, &e) &&
            symlink(path.p,
                    arena_printf(a, "%s/bin/%s", case_root, names[i]).p))
            abort();
    }
}

__attribute__((constructor)) static void case_begin(void)
{
    static const char *const folders[] = {"ws", "home"};
    struct arena a = {0};
    struct err e = {0};
    struct sandbox_support support;

    proc_init();
    if (!mkdtemp(case_root) || chmod(case_root, 0755) < 0)
        abort();
    for (size_t i = 0; i < 2; i++)
        if (!fs_make_dirs(case_at(&a, folders[i]).p, 0755, &e))
            abort();
    /* Folders of this machine's own, that nothing here is about, cost time. */
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    snprintf(case_path, sizeof case_path, "%s", getenv("PATH"));
    case_make_bin(&a);
    setenv("HOME", case_at(&a, "home").p, 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("XDG_DATA_HOME");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("XDG_STATE_HOME");
    unsetenv("PYENV_ROOT"); /* of a tool chain: handed on */
    setenv("SECRET_TOKEN", "tell-nobody", 1);
    sandbox_probe(case_at(&a, "ws"), &a, &support);
    case_has_bubblewrap = support.namespaces;
    printf("# bubblewrap: %s (%s); Landlock ABI %d; seccomp: %s; uid %u\n",
           support.bubblewrap.n ? support.bubblewrap.p : "none",
           support.namespaces ? "works" : support.why_not.p,
           support.landlock_abi, support.seccomp ? "yes" : "no",
           (unsigned)geteuid());
    arena_done(&a);
}

__attribute__((destructor)) static void case_end(void)
{
    struct err e = {0};

    if (!fs_remove_tree_at(AT_FDCWD, case_root, &e))
        fprintf(stderr, "# %s\n", err_first(&e));
}

static void case_notice(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
    case_notices++;
}

static void case_waiting(void *ctx)
{
    (void)ctx;
    case_waits++;
    case_shell("touch waits");
}

/* The two ways a command is confined; without bubblewrap only the second. */
enum case_way { CASE_WALLS, CASE_ALONE, CASE_WAYS };

__attribute__((unused)) static bool case_set_way(enum case_way way)
{
    struct arena a = {0};

    setenv("PATH", way == CASE_ALONE ? case_at(&a, "bin").p : case_path, 1);
    arena_done(&a);
    if (way == CASE_WALLS && !case_has_bubblewrap)
        tap_skip_part("with bubblewrap", "bubblewrap does not work here");
    return way == CASE_ALONE || case_has_bubblewrap;
}

struct case_run {
    struct command_runner_options o;
    struct command in;
};

static struct case_run case_make(struct arena *a)
{
    return (struct case_run){
        .o = {.workspace = case_at(a, "ws"),
              .waiting = case_waiting,
              .notice = case_notice},
        .in = {.number = 1,
               .opts = STR("{}"),
               .timeout_s = 60,
               .deadline_ms = proc_now_ms() + 120000,
               .max_chars = COMMAND_MAX_CHARS},
    };
}

/* Words up to NULL. */
static void case_words(struct case_run *r, struct arena *a,
                       const char *const *words)
{
    struct str *argv;
    size_t n = 0;

    while (words[n])
        n++;
    argv = arena_array(a, n, sizeof *argv);
    for (size_t i = 0; i < n; i++)
        argv[i] = str_cstr(words[i]);
    r->in.argv = argv;
    r->in.argc = n;
}

__attribute__((unused)) static struct command_result
case_go(struct case_run *r, struct arena *a, const char *const *words)
{
    struct command_result out = {.exit_code = -2, .result = STR("?")};
    struct err e = {0};

    case_words(r, a, words);
    if (!command_runner_run(&r->o, &r->in, a, &out, &e)) {
        CHECK(false);
        printf("# %s\n", err_first(&e));
    }
    return out;
}

/* A line of sh as the command. */
__attribute__((unused)) static struct command_result
case_sh(struct case_run *r, struct arena *a, const char *line)
{
    const char *const words[] = {"sh", "-c", line, NULL};

    return case_go(r, a, words);
}

#endif
