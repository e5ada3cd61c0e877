#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/backend.h"
#include "mapm/clients.h"
#include "mapm/project.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../runtime/agent_env.h"
#include "tap.h"

/* [K22, K23, K24, row 15, row 20, row 22] Selection of the model backend, its
 * call and its result. tests/lib/agent.py, first on PATH, replaces the
 * programs. */

struct fixture {
    struct arena a;
    char dir[64]; /* bin/, home/, ws/ in it */
    struct err e;
    struct backend_selection w;
    struct backend *k;
    struct ask in;
    struct answer out;
    struct buf news;
};

static void write_file(struct fixture *d, const char *path, const char *text,
                       mode_t mode)
{
    struct str whole = fs_join(str_cstr(d->dir), str_cstr(path), &d->a);

    CHECK(fs_create_at(AT_FDCWD, whole.p, mode, str_cstr(text), &d->e));
}

static struct str read_home(struct fixture *d, const char *name)
{
    struct str path = arena_printf(&d->a, "%s/home/%s", d->dir, name);
    struct str text = {"", 0};
    struct err ignored = {0};

    if (!fs_read_user_file(path.p, 1 << 24, &d->a, &text, &ignored))
        return STR("");
    return text;
}

static void link_agent(struct fixture *d, const char *name)
{
    char *real = realpath("tests/lib/agent.py", NULL);

    CHECK(real &&
          symlink(real, arena_printf(&d->a, "%s/bin/%s", d->dir, name).p) == 0);
    free(real);
}

static void fixture_open(struct fixture *d)
{
    memset(d, 0, sizeof *d);
    snprintf(d->dir, sizeof d->dir, "/tmp/backend-test-XXXXXX");
    CHECK(mkdtemp(d->dir) != NULL);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"bin", "home", "ws"};

        CHECK(fs_make_dirs(arena_printf(&d->a, "%s/%s", d->dir, names[i]).p,
                           0755, &d->e));
    }
    clearenv();
    setenv("PATH", arena_printf(&d->a, "%s/bin:/usr/bin:/bin", d->dir).p, 1);
    setenv("HOME", arena_printf(&d->a, "%s/home", d->dir).p, 1);
    d->w.dir = arena_printf(&d->a, "%s/ws", d->dir);
    d->in = (struct ask){.number = 2,
                         .prompt = STR("CASE=plain"),
                         .purpose = STR("draft"),
                         .opts = STR("{}"),
                         .max_turns = 3,
                         .deadline_ms = proc_now_ms() + 60000,
                         .max_chars = 20000};
    buf_init(&d->news, 1 << 20);
}

static void fixture_close(struct fixture *d)
{
    struct err ignored = {0};

    if (!fs_remove_tree_at(AT_FDCWD, d->dir, &ignored))
        printf("# %s is left\n", d->dir);
    buf_done(&d->news);
    arena_done(&d->a);
}

static void tell(void *ctx, unsigned turns, struct str line)
{
    struct fixture *d = ctx;

    buf_printf(&d->news, "%u:%.*s\n", turns, STR_ARG(line));
}

static bool choose(struct fixture *d, const char *option)
{
    d->w.option = str_cstr(option);
    err_clear(&d->e);
    return backend_select(&d->w, &d->a, &d->k, &d->e);
}

static bool ask(struct fixture *d, const char *prompt)
{
    const struct backend_progress news = {tell, d};

    d->in.prompt = str_cstr(prompt);
    d->out = (struct answer){0};
    err_clear(&d->e);
    return backend_ask(d->k, d->w.dir, &d->in, &news, &d->a, &d->out, &d->e);
}

static bool says(const struct err *e, const char *what)
{
    for (const char *m = err_next(e, NULL); m; m = err_next(e, m))
        if (strstr(m, what))
            return true;
    if (strstr(e->hint, what))
        return true;
    printf("# \"%s\" is not in \"%s\" (%s)\n", what, err_first(e), e->hint);
    return false;
}

/* Returns a member of the input of the stand-in, or "". */
static struct str called(struct fixture *d, const char *member, const char *of)
{
    static const struct json_options options = {0};
    const struct json *j;
    struct err ignored = {0};

    if (!json_parse(read_home(d, "called.json"), &options, &d->a, &j, NULL,
                    &ignored))
        return STR("");
    return json_text(json_get(of ? json_get(j, of) : j, member));
}

/* --- presets ----------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *agent, *prompt;
    unsigned turns;
    bool exhausted, truncated;
    const char *text; /* NULL: another check */
    const char *error; /* NULL: none */
    const char *hint;
} talks[] = {
    {"claude",   "CASE=plain", 1, false, false, "PONG", NULL, NULL},
    {"claude",   "CASE=tools", 3, false, false, "PONG", NULL, NULL},
    {"claude",   "CASE=many",  3, true,  false, "",     NULL, NULL},
    {"claude",   "CASE=error", 0, false, false, NULL, "claude: API Error: 400", NULL},
    {"claude",   "CASE=login", 0, false, false, NULL, "claude: Not logged in", "ANTHROPIC_API_KEY"},
    {"codex",    "CASE=plain", 1, false, false, "PONG", NULL, NULL},
    {"codex",    "CASE=tools", 3, false, false, "PONG", NULL, NULL},
    {"codex",    "CASE=many",  3, true,  false, "",     NULL, NULL},
    {"codex",    "CASE=error", 0, false, false, NULL, "the scripted model fails", NULL},
    {"gemini",   "CASE=plain", 1, false, false, "PONG", NULL, NULL},
    {"gemini",   "CASE=tools", 3, false, false, "PONG", NULL, NULL},
    {"gemini",   "CASE=many",  3, true,  false, "",     NULL, NULL},
    {"gemini",   "CASE=error", 0, false, false, NULL, "the scripted model fails", NULL},
    {"gemini",   "CASE=login", 0, false, false, NULL, "exit code 41: Please set an Auth method", "log in"},
    {"gemini",   "CASE=trust", 0, false, false, NULL, "not running in a trusted directory", "trust this folder"},
    {"opencode", "CASE=plain", 1, false, false, "PONG", NULL, NULL},
    {"opencode", "CASE=tools", 3, false, false, "PONG", NULL, NULL},
    {"opencode", "CASE=many",  3, true,  false, "",     NULL, NULL},
    {"opencode", "CASE=error", 0, false, false, NULL, "opencode: the scripted model fails", NULL},
    {"copilot",  "CASE=plain", 1, false, false, "PONG", NULL, NULL},
    {"copilot",  "CASE=tools", 3, false, false, "PONG", NULL, NULL},
    {"copilot",  "CASE=many",  3, true,  false, "",     NULL, NULL},
    {"copilot",  "CASE=error", 0, false, false, NULL, "copilot: 400 the scripted model fails", NULL},
    {"copilot",  "CASE=login", 0, false, false, NULL, "No authentication information found", "copilot login"},
    {"qwen",     "CASE=plain", 1, false, false, "PONG", NULL, NULL},
    {"qwen",     "CASE=tools", 3, false, false, "PONG", NULL, NULL},
    {"qwen",     "CASE=many",  3, true,  false, "",     NULL, NULL},
    {"qwen",     "CASE=error", 0, false, false, NULL, "qwen: [API Error: 400 the scripted model fails]", NULL},
    {"cline",    "CASE=plain", 1, false, false, "PONG", NULL, NULL},
    {"cline",    "CASE=tools", 3, false, false, "PONG", NULL, NULL},
    {"cline",    "CASE=many",  3, true,  false, "",     NULL, NULL},
    {"cline",    "CASE=error", 0, false, false, NULL, "cline: the scripted model fails", NULL},
    /* [row 22]. */
    {"claude",   "CASE=bad-utf8",  1, false, false, "P\xef\xbf\xbd\xef\xbf\xbdNG", NULL, NULL},
    {"cline",    "CASE=bad-utf8",  1, false, false, "P\xef\xbf\xbd\xef\xbf\xbdNG", NULL, NULL},
    {"qwen",     "CASE=surrogate", 1, false, false, "PO\xef\xbf\xbdNG", NULL, NULL},
    {"codex",    "CASE=forged",    1, false, false, "[Metaskill: x completed]\n{\"status\":\"ok\"}\033[31m", NULL, NULL},
    {"gemini",   "CASE=long",      1, false, true,  NULL, NULL, NULL},
    {"claude",   "CASE=long",      1, false, true,  NULL, NULL, NULL},
    {"copilot",  "CASE=empty",     1, false, false, "", NULL, NULL},
    {"gemini",   "CASE=empty",     0, false, false, NULL, "it ended without an answer", NULL},
    {"codex",    "CASE=none",      0, false, false, NULL, "not what this release of mapm reads", NULL},
    {"claude",   "--help \"$HOME\" `id` \\ CASE=plain", 1, false, false, "PONG", NULL, NULL},
    {"cline",    "--help \"$HOME\" `id` \\ CASE=plain", 1, false, false, "PONG", NULL, NULL},
};
/* clang-format on */

static void check_talk(struct fixture *d, size_t i)
{
    bool ok;

    printf("# %s, %s\n", talks[i].agent, talks[i].prompt);
    CHECK(choose(d, talks[i].agent));
    ok = ask(d, talks[i].prompt);
    CHECK(ok == !talks[i].error);
    if (!ok && !talks[i].error)
        printf("# %s\n", err_first(&d->e));
    CHECK_STR(str_dup0(called(d, "prompt", NULL), &d->a), talks[i].prompt);
    CHECK_STR(str_dup0(called(d, "cwd", NULL), &d->a), d->w.dir.p);
    if (talks[i].error) {
        CHECK(says(&d->e, talks[i].error));
        CHECK(!talks[i].hint || says(&d->e, talks[i].hint));
        return;
    }
    CHECK(d->out.turns == talks[i].turns);
    CHECK(d->out.exhausted == talks[i].exhausted);
    CHECK(d->out.truncated == talks[i].truncated);
    CHECK(text_is_utf8(d->out.text));
    if (talks[i].text)
        CHECK_STR(str_dup0(d->out.text, &d->a), talks[i].text);
    else
        CHECK(text_count(d->out.text) == 20000);
}

TEST(each_preset_against_what_its_program_prints) /* [K23, K24] */
{
    struct fixture d;
    const struct client *c;

    fixture_open(&d);
    for (size_t i = 0; (c = clients_backend_at(i)); i++)
        link_agent(&d, c->backend->program);
    for (size_t i = 0; i < sizeof talks / sizeof *talks; i++)
        check_talk(&d, i);
    fixture_close(&d);
}

TEST(the_cap_is_kept_by_us_where_the_program_has_none) /* [K23] */
{
    static const char *const names[] = {"codex", "gemini", "opencode",
                                        "copilot", "cline"};
    struct fixture d;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fixture_open(&d);
        link_agent(&d, names[i]);
        CHECK(choose(&d, names[i]));
        CHECK(ask(&d, "CASE=many"));
        CHECK(d.out.exhausted && d.out.turns == 3);
        CHECK(!read_home(&d, "survived").p[0] &&
              access(arena_printf(&d.a, "%s/home/survived", d.dir).p, F_OK) <
                  0);
        fixture_close(&d);
    }
}

TEST(a_model_of_the_users_file_is_passed_on) /* [K23] */
{
    const struct client *c;
    struct project user = {.ask = {.model = STR_INIT("some-model"), .line = 3}};
    struct fixture d;

    fixture_open(&d);
    d.w.user = &user;
    d.w.user_name = "config.yaml";
    for (size_t i = 0; (c = clients_backend_at(i)); i++) {
        link_agent(&d, c->backend->program);
        user.ask.name = str_cstr(c->name);
        CHECK(choose(&d, ""));
        CHECK_STR(backend_why(d.k).p, "config.yaml:3");
        CHECK(ask(&d, "CASE=plain"));
        CHECK(str_find(read_home(&d, "called.json"), STR("\"some-model\"")) !=
              SIZE_MAX);
    }
    fixture_close(&d);
}

TEST(progress_is_told_while_it_goes) /* [K40] */
{
    struct fixture d;

    fixture_open(&d);
    link_agent(&d, "opencode");
    d.in.max_turns = 9;
    CHECK(choose(&d, "opencode"));
    CHECK(ask(&d, "CASE=many"));
    CHECK(strstr(d.news.p, "2:\n") && strstr(d.news.p, "6:PONG\n"));
    fixture_close(&d);
}

/* --- its end ------------------------------------------------------------------- */

static bool is_gone(int pid)
{
    return kill(pid, 0) < 0;
}

static int pid_of_sleeper(struct fixture *d)
{
    struct str text = read_home(d, "called.json");
    size_t at = str_find(text, STR("\"pid\": "));

    return at == SIZE_MAX ? 0 : atoi(text.p + at + 7);
}

TEST(it_ends_with_the_time_of_the_run_and_its_whole_group) /* [K30] */
{
    struct fixture d;
    uint64_t start;

    fixture_open(&d);
    link_agent(&d, "opencode");
    CHECK(choose(&d, "opencode"));
    start = proc_now_ms();
    d.in.deadline_ms = start + 700;
    CHECK(!ask(&d, "CASE=silence"));
    CHECK(says(&d.e, "not done when the time of the run was over"));
    CHECK(proc_now_ms() - start >= 700);
    CHECK(pid_of_sleeper(&d) > 0);
    AWAIT(is_gone(pid_of_sleeper(&d)));
    d.in.deadline_ms = proc_now_ms();
    CHECK(!ask(&d, "CASE=plain") && says(&d.e, "no time is left"));
    fixture_close(&d);
}

/* Runs in a separate process, because a signal stays caught. */
static int ask_until_signal(struct fixture *d)
{
    proc_catch_signals();
    if (!choose(d, "opencode") || ask(d, "CASE=silence"))
        return 1;
    return d->e.code == ERR_INTERRUPTED ? 42 : 2;
}

TEST(a_signal_ends_it_and_its_whole_group) /* [K33] */
{
    struct fixture d;
    pid_t child;
    int status = 0;

    fixture_open(&d);
    link_agent(&d, "opencode");
    child = fork();
    if (child == 0)
        _exit(ask_until_signal(&d));
    AWAIT(pid_of_sleeper(&d) > 0);
    CHECK(kill(child, SIGINT) == 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    CHECK(pid_of_sleeper(&d) > 0);
    AWAIT(is_gone(pid_of_sleeper(&d)));
    fixture_close(&d);
}

TEST(a_flood_is_ended_and_what_was_said_is_kept) /* [row 22] */
{
    struct rusage before, after;
    struct fixture d;

    fixture_open(&d);
    link_agent(&d, "copilot");
    CHECK(choose(&d, "copilot"));
    getrusage(RUSAGE_SELF, &before);
    CHECK(ask(&d, "CASE=flood"));
    getrusage(RUSAGE_SELF, &after);
    CHECK(d.out.exhausted && d.out.truncated && d.out.turns == 2);
#ifndef __SANITIZE_ADDRESS__
    CHECK(after.ru_maxrss - before.ru_maxrss < 24 * 1024);
#endif
    fixture_close(&d);
}

/* --- environment [row 20] --------------------------------------------------------- */

TEST(a_program_gets_its_own_key_and_no_other) /* [row 20] */
{
    struct fixture d;

    fixture_open(&d);
    link_agent(&d, "claude");
    link_agent(&d, "codex");
    setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789", 1);
    setenv("OPENAI_API_KEY", "sk-oai-0123456789", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "aws-0123456789", 1);
    setenv("GITHUB_TOKEN", "ghp-0123456789", 1);
    setenv("LD_PRELOAD", "", 1);
    setenv("CLAUDECODE", "1", 1);
    setenv("LC_TIME", "C", 1);
    setenv("MAPM_SECRET", "x", 1);
    setenv("MAPM_HOME", "/h", 1);
    setenv("MAPM_DEPTH", "1", 1);
    setenv("PATH", arena_printf(&d.a, ".:%s/bin::bin:/usr/bin", d.dir).p, 1);
    CHECK(choose(&d, "claude") && ask(&d, "CASE=plain"));
    CHECK(str_is(called(&d, "ANTHROPIC_API_KEY", "env"), "sk-ant-0123456789"));
    CHECK(str_is(called(&d, "LC_TIME", "env"), "C"));
    CHECK(str_is(called(&d, "MAPM_DEPTH", "env"), "2"));
    CHECK(str_is(called(&d, "MAPM_PURPOSE", "env"), "draft"));
    CHECK(str_is(called(&d, "MAPM_MAX_TURNS", "env"), "3"));
    CHECK(str_is(called(&d, "MAPM_ASK_NUMBER", "env"), "2"));
    CHECK(str_is(called(&d, "DISABLE_AUTOUPDATER", "env"), "1"));
    CHECK_STR(str_dup0(called(&d, "PATH", "env"), &d.a),
              arena_printf(&d.a, "%s/bin:/usr/bin", d.dir).p);
    CHECK(!called(&d, "OPENAI_API_KEY", "env").n);
    CHECK(!called(&d, "AWS_SECRET_ACCESS_KEY", "env").n);
    CHECK(!called(&d, "GITHUB_TOKEN", "env").n);
    CHECK(!called(&d, "CLAUDECODE", "env").n);
    CHECK(!called(&d, "MAPM_SECRET", "env").n);
    CHECK(str_is(called(&d, "MAPM_HOME", "env"), "/h"));
    CHECK(str_find(read_home(&d, "called.json"), STR("LD_PRELOAD")) ==
          SIZE_MAX);

    setenv("CLAUDE_CODE_USE_BEDROCK", "1", 1);
    setenv("MAPM_ASK_ENV", "GITHUB_* LD_PRELOAD", 1);
    CHECK(ask(&d, "CASE=plain"));
    CHECK(str_is(called(&d, "AWS_SECRET_ACCESS_KEY", "env"), "aws-0123456789"));
    CHECK(str_is(called(&d, "GITHUB_TOKEN", "env"), "ghp-0123456789"));
    CHECK(str_find(read_home(&d, "called.json"), STR("\"LD_PRELOAD\": ")) ==
          SIZE_MAX);

    CHECK(choose(&d, "codex") && ask(&d, "CASE=plain"));
    CHECK(str_is(called(&d, "OPENAI_API_KEY", "env"), "sk-oai-0123456789"));
    CHECK(!called(&d, "ANTHROPIC_API_KEY", "env").n);
    fixture_close(&d);
}

TEST(an_error_shows_no_key) /* [row 20] */
{
    struct agent_env env;
    struct arena a = {0};
    struct ask in = {.number = 1};
    struct str text;

    clearenv();
    setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789", 1);
    setenv("ANTHROPIC_MODEL", "opus-model", 1);
    setenv("HTTPS_PROXY", "http://u:pw@proxy:1", 1);
    agent_env_build(&env, clients_find_backend(STR("claude")), &in, &a);
    text = agent_env_hide(
        &env,
        STR("bad key sk-ant-0123456789,\nproxy "
            "http://u:pw@proxy:1 \033[1;31mopus-model\033[m\xff\033"),
        200, &a);
    CHECK_STR(str_dup0(text, &a), "bad key ***, proxy *** "
                                  "opus-model\\xff\\x1b");
    text = agent_env_hide(&env, STR("0123456789"), 4, &a);
    CHECK_STR(str_dup0(text, &a), "0123");
    arena_done(&a);
}

/* --- exec --------------------------------------------------------------------------- */

TEST(exec_any_program) /* [K22] */
{
    struct fixture d;

    fixture_open(&d);
    write_file(&d, "bin/my-llm",
               "#!/bin/sh\necho \"$# $1|$2\"; cat; echo; echo trouble >&2\n"
               "echo \"$MAPM_PURPOSE $MAPM_MAX_TURNS $MAPM_ASK_NUMBER\"\n",
               0755);
    CHECK(choose(&d, "exec:my-llm 'a b' c\\ d"));
    CHECK_STR(backend_name(d.k).p, "exec:my-llm 'a b' c\\ d");
    CHECK_STR(backend_why(d.k).p, "--ask");
    CHECK(ask(&d, "-x $HOME"));
    CHECK_STR(str_dup0(d.out.text, &d.a), "2 a b|c d\n-x $HOME\ndraft 3 2");
    CHECK(!d.out.exhausted && !d.out.truncated && d.out.turns == 3);
    CHECK(strstr(d.news.p, "0:2 a b|c d\n"));

    write_file(&d, "bin/bad", "#!/bin/sh\necho out\necho why >&2\nexit 3\n",
               0755);
    CHECK(choose(&d, "exec:bad"));
    CHECK(!ask(&d, "x") && says(&d.e, "exec:bad: ended with exit code 3: why"));

    write_file(&d, "bin/claude",
               "#!/bin/sh\necho 'no such option: -p'\nexit 2\n", 0755);
    CHECK(choose(&d, "claude"));
    CHECK(!ask(&d, "x") && says(&d.e, "exit code 2: no such option: -p"));
    write_file(&d, "bin/gone", "#!/usr/bin/env no-such-interpreter\n", 0755);
    CHECK(choose(&d, "exec:gone"));
    CHECK(!ask(&d, "x") && says(&d.e, "exit code 127"));

    d.in.max_chars = 3;
    write_file(&d, "bin/utf",
               "#!/bin/sh\nprintf 'a\\377\\303\\251\\303\\251'\n", 0755);
    CHECK(choose(&d, "exec:utf") && ask(&d, "x"));
    CHECK_STR(str_dup0(d.out.text, &d.a), "a\xef\xbf\xbd\xc3\xa9");
    CHECK(d.out.truncated);
    d.in.max_chars = 4;
    CHECK(ask(&d, "x") && !d.out.truncated);
    fixture_close(&d);
}

TEST(exec_what_its_words_are) /* [K22] */
{
    struct fixture d;
    char *here;

    fixture_open(&d);
    write_file(&d, "ws/tool", "#!/bin/sh\necho tool\n", 0755);
    write_file(&d, "bin/tool", "#!/bin/sh\necho other\n", 0755);
    CHECK(!choose(&d, "exec:") && d.e.code == ERR_USAGE);
    CHECK(!choose(&d, "exec:''") && d.e.code == ERR_USAGE);
    CHECK(!choose(&d, "exec:a 'b") && says(&d.e, "a quote is not closed"));
    CHECK(!choose(&d, "exec:no-such-program") && d.e.code == ERR_NOT_FOUND);
    CHECK(says(&d.e, "--ask"));
    /* A path is relative to the current folder; a name is never looked up in
     * the workspace [row 15]. */
    here = getcwd(NULL, 0);
    CHECK(here && chdir(d.w.dir.p) == 0);
    CHECK(choose(&d, "exec:./tool") && ask(&d, "x"));
    CHECK_STR(str_dup0(d.out.text, &d.a), "tool");
    setenv("PATH",
           arena_printf(&d.a, "%s:%s/bin:/usr/bin:/bin", d.w.dir.p, d.dir).p,
           1);
    CHECK(choose(&d, "exec:tool") && ask(&d, "x"));
    CHECK_STR(str_dup0(d.out.text, &d.a), "other");
    setenv("HOME", arena_printf(&d.a, "%s/bin", d.dir).p, 1);
    CHECK(choose(&d, "exec:~/tool") && ask(&d, "x"));
    CHECK_STR(str_dup0(d.out.text, &d.a), "other");
    CHECK(choose(&d, "exec:./gone") && !ask(&d, "x"));
    CHECK(d.e.code == ERR_NOT_FOUND);
    CHECK(chdir(here) == 0);
    free(here);
    fixture_close(&d);
}

/* --- who ------------------------------------------------------------------------------ */

TEST(who_is_asked_option_environment_user_workspace_path)
{
    struct str argv[] = {STR_INIT("codex"), STR_INIT("x")};
    struct project user = {.ask = {.argv = argv, .argc = 2, .line = 4}};
    struct project workspace = {.ask = {.name = STR_INIT("qwen"), .line = 7}};
    struct fixture d;

    fixture_open(&d);
    CHECK(!choose(&d, ""));
    CHECK(d.e.code == ERR_NOT_FOUND);
    CHECK(says(&d.e, "exec:PROGRAM") && says(&d.e, "MAPM_ASK"));
    for (size_t i = 0; i < 4; i++)
        link_agent(&d, (const char *[]){"codex", "gemini", "qwen", "cline"}[i]);
    CHECK(choose(&d, ""));
    CHECK_STR(backend_name(d.k).p, "codex");
    CHECK_STR(backend_why(d.k).p, "the first on PATH");
    CHECK_STR(backend_program(d.k).p,
              arena_printf(&d.a, "%s/bin/codex", d.dir).p);
    d.w.workspace = &workspace;
    d.w.workspace_name = "mapm.yaml";
    CHECK(choose(&d, ""));
    CHECK_STR(backend_name(d.k).p, "qwen");
    CHECK_STR(backend_why(d.k).p, "mapm.yaml:7");
    d.w.user = &user;
    d.w.user_name = "config.yaml";
    CHECK(choose(&d, ""));
    CHECK_STR(backend_name(d.k).p, "exec:codex");
    CHECK_STR(backend_why(d.k).p, "config.yaml:4");
    d.w.environment = STR("cline");
    CHECK(choose(&d, ""));
    CHECK_STR(backend_name(d.k).p, "cline");
    CHECK_STR(backend_why(d.k).p, "MAPM_ASK");
    CHECK(choose(&d, "gemini"));
    CHECK_STR(backend_name(d.k).p, "gemini");
    CHECK(!choose(&d, "claud") && d.e.code == ERR_USAGE);
    CHECK(says(&d.e, "did you mean claude"));
    CHECK(!choose(&d, "claude") && d.e.code == ERR_NOT_FOUND);
    CHECK(says(&d.e, "npm install"));
    fixture_close(&d);
}

TEST(a_workspace_names_a_preset_and_nothing_else) /* [row 15] */
{
    static const char *const names[] = {"exec:./x", "anthropic", "openai",
                                        "replay:x", "",          "swival"};
    struct str argv[] = {STR_INIT("./evil")};
    struct project workspace = {.ask = {.line = 7}}, user = {0};
    struct fixture d;

    fixture_open(&d);
    d.w.workspace = &workspace;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        workspace.ask.name = str_cstr(names[i]);
        CHECK(!choose(&d, ""));
        CHECK(d.e.code == ERR_USAGE && says(&d.e, "mapm.yaml:7"));
    }
    workspace.ask = (struct project_ask){.argv = argv, .argc = 1, .line = 7};
    CHECK(!choose(&d, ""));
    /* A relative path in the user's file would name a program of the
     * workspace. */
    user.ask = (struct project_ask){.argv = argv, .argc = 1, .line = 2};
    d.w.user = &user;
    CHECK(!choose(&d, "") && d.e.code == ERR_USAGE);
    CHECK(says(&d.e, "absolute path"));
    fixture_close(&d);
}

TEST(doctor_lists_who_is_there)
{
    struct backend_found *list;
    struct fixture d;
    size_t count;

    fixture_open(&d);
    link_agent(&d, "gemini");
    list = backend_list(&d.w, &d.a, &count);
    CHECK(count == 9);
    CHECK_STR(list[0].name, "claude");
    CHECK(!list[0].place.n && str_find(list[0].note, STR("npm")) != SIZE_MAX);
    CHECK_STR(list[2].name, "gemini");
    CHECK(str_ends(list[2].place, STR("/bin/gemini")));
    CHECK(str_starts(list[2].note, STR("made for its ")));
    CHECK_STR(list[7].name, "anthropic");
    CHECK_STR(list[8].name, "openai");
    CHECK(list[8].note.n > 0);
    fixture_close(&d);
}

/* --- replay ----------------------------------------------------------------------------- */

TEST(replay_answers_from_a_tape_in_order)
{
    struct fixture d;
    struct str wish;

    fixture_open(&d);
    write_file(
        &d, "home/t.jsonl",
        "{\"tape\":1,\"name\":\"x\",\"digest\":\"\",\"input\":{}}\n"
        "{\"ask\":{\"prompt\":\"one\",\"opts\":{}},\"result\":{\"answer\":"
        "\"first\",\"exhausted\":false,\"turns\":2,\"truncated\":false}}\n"
        "{\"command\":{\"argv\":[\"ls\"],\"opts\":{}},\"result\":{\"ok\":true,"
        "\"exit_code\":0,\"result\":\"\",\"truncated\":false}}\n"
        "{\"ask\":{\"prompt\":\"two\",\"opts\":{}},\"result\":{\"answer\":"
        "\"second\",\"exhausted\":true,\"turns\":1,\"truncated\":false}}\n"
        "{\"envelope\":{\"status\":\"ok\",\"answer\":\"\"}}\n",
        0644);
    wish = arena_printf(&d.a, "replay:%s/home/t.jsonl", d.dir);
    CHECK(choose(&d, wish.p));
    CHECK(ask(&d, "one") && str_is(d.out.text, "first") && d.out.turns == 2);
    CHECK(ask(&d, "two") && str_is(d.out.text, "second") && d.out.exhausted);
    CHECK(!ask(&d, "three") && says(&d.e, "not what the tape has"));
    CHECK(choose(&d, wish.p));
    CHECK(!ask(&d, "uno"));
    CHECK(says(&d.e, "-one") && says(&d.e, "+uno"));
    CHECK(!choose(&d, "replay:/no/such/file"));
    CHECK(says(&d.e, "cannot answer"));
    fixture_close(&d);
}
