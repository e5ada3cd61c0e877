#include "base/arena.h"
#include "base/confine.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "mapm/command_runner.h"
#include "mapm/runtime.h"

#include "command_case.h"
#include "sandbox_probe.h"

/* Tries each isolation mechanism from inside a command: [row 19, row 20] of the
 * threats, [K25]. */

static char outside[2000]; /* probe_dir as the command sees it */
static char self[2000];
static int port;

/* Creates a folder that the sandbox shows, beside this program; if that is not
 * writable, uses the folder of the test, which the sandbox hides. */
static void make_outside(struct arena *a)
{
    struct str dir;
    struct err e = {0};

    if (!proc_self_dir(a, &dir, &e))
        abort();
    snprintf(self, sizeof self, "%.*s/sandbox_test", STR_ARG(dir));
    snprintf(outside, sizeof outside, "%.*s/sandbox-XXXXXX", STR_ARG(dir));
    if (!mkdtemp(outside)) {
        snprintf(outside, sizeof outside, "%s/outside", case_root);
        if (mkdir(outside, 0755) < 0)
            abort();
    }
}

static int serve_unix(const char *path, bool abstract)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t n = strlen(path);

    if (n + 1 >= sizeof at.sun_path)
        return -1;
    memcpy(at.sun_path + abstract, path, n);
    if (bind(fd, (struct sockaddr *)&at,
             (socklen_t)(sizeof at.sun_family + abstract + n)) == 0)
        (void)listen(fd, 100);
    return fd;
}

static void serve_inet(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (bind(tcp, (struct sockaddr *)&at, sizeof at) < 0 ||
        listen(tcp, 100) < 0 ||
        getsockname(tcp, (struct sockaddr *)&at, &n) < 0)
        return;
    port = ntohs(at.sin_port);
    if (bind(udp, (struct sockaddr *)&at, sizeof at) < 0)
        printf("# no UDP port beside the TCP one\n");
}

__attribute__((constructor)) static void set_up(void)
{
    struct arena a = {0};

    make_outside(&a);
    case_shell("cd '%s' && echo text >file && echo text >spare && "
               "mkdir -p home/.ssh home/.config/gh home/proj home/tools/bin "
               "home/.cargo/bin && echo key >home/.ssh/id_ed25519 && "
               "echo note >home/note && echo token >home/.config/gh/hosts.yml "
               "&& echo token >home/.netrc && echo token "
               ">home/.cargo/credentials.toml && echo x >home/.cargo/config",
               outside);
    setenv("HOME", arena_printf(&a, "%s/home", outside).p, 1);
    serve_inet();
    (void)serve_unix(arena_printf(&a, "%s/socket", outside).p, false);
    (void)serve_unix(case_at(&a, "ws/socket").p, false);
    (void)serve_unix(PROBE_ABSTRACT, true);
    arena_done(&a);
}

__attribute__((destructor)) static void tear_down(void)
{
    struct err e = {0};

    if (!fs_remove_tree_at(AT_FDCWD, outside, &e))
        fprintf(stderr, "# %s\n", err_first(&e));
}

/* --- the probe -------------------------------------------------------------------- */

/* errno of each row, or -1 if the probe ended before it. */
static void run_probe(enum sandbox mode, bool network, int results[PROBES])
{
    struct arena a = {0};
    struct case_run r = case_make(&a);
    const char *const words[] = {self,
                                 "probe",
                                 outside,
                                 arena_printf(&a, "%d", port).p,
                                 arena_printf(&a, "%d", getpid()).p,
                                 mode == SANDBOX_OFF ? "open" : "walled",
                                 NULL};
    struct str rest, line, number;
    struct command_result out;

    for (int i = 0; i < PROBES; i++)
        results[i] = -1;
    case_shell("cd '%s' && rm -rf new folder && echo text >spare", outside);
    r.o.by_path = true;
    r.o.sandbox = mode;
    r.o.network = network;
    out = case_go(&r, &a, words);
    CHECK(out.ok);
    if (!out.ok)
        printf("# exit %d: %.*s\n", out.exit_code, STR_ARG(out.result));
    rest = out.result;
    while (str_line(&rest, &line)) {
        uint64_t i, error;

        if (str_cut(&line, ' ', &number) &&
            str_number(number, PROBES - 1, &i) &&
            str_number(line, 100000, &error))
            results[i] = (int)error;
    }
    arena_done(&a);
}

/* A command may create any file in its private /tmp. */
static bool is_clean(void)
{
    return case_shell("cd '%s' && ! test -e new && ! test -e folder",
                      outside) == 0;
}

static bool is_wanted(const struct probe *p, int got, int open, bool alone,
                      bool *proved)
{
    bool missing = alone && ((p->want & OUTER) || ((p->want & SCOPED) &&
                                                   confine_landlock_abi() < 6));

    *proved = true;
    if (p->want == MUST_WORK)
        return got == 0;
    if (is_exact(p->want))
        return got == p->want;
    if (p->want & ALWAYS)
        return got > 0;
    if ((p->want & CREATES) && got == 0 && is_clean())
        return true;
    *proved = open == 0 && !missing; /* It works without isolation. */
    return !*proved || got > 0;
}

static void check_probe(enum case_way way, enum sandbox mode)
{
    static int open[PROBES];
    static bool is_known;
    int results[PROBES], proved = 0;

    if (!case_set_way(way))
        return;
    if (!is_known)
        run_probe(SANDBOX_OFF, false, open);
    is_known = true;
    run_probe(mode, false, results);
    for (int i = 0; i < PROBES; i++) {
        bool is_proved;
        bool ok = is_wanted(&probes[i], results[i], open[i], way == CASE_ALONE,
                            &is_proved);

        if (!ok)
            printf("# %s: %s, without isolation %s\n", probes[i].name,
                   strerror(results[i]), strerror(open[i]));
        else if (!is_proved)
            printf("# nothing learnt: %s: %s, without isolation %s\n",
                   probes[i].name, strerror(results[i]), strerror(open[i]));
        CHECK(ok);
        proved += is_proved;
    }
    printf("# %d of %d proved\n", proved, PROBES);
}

TEST(each_wall_from_inside) /* [K25, row 19, row 20] */
{
    check_probe(CASE_WALLS, SANDBOX_ON);
}

TEST(each_wall_without_bubblewrap) /* [K25, row 19, row 20] */
{
    check_probe(CASE_ALONE, SANDBOX_ON);
}

TEST(each_wall_with_the_home_shown) /* [row 19, row 20] */
{
    check_probe(CASE_WALLS, SANDBOX_HOME);
    check_probe(CASE_ALONE, SANDBOX_HOME);
}

/* `always` and the rows that must work are also checked with the sandbox
 * off. */
TEST(with_the_sandbox_off_the_environment_stays_clean) /* [row 20] */
{
    int results[PROBES];

    case_set_way(CASE_WALLS);
    run_probe(SANDBOX_OFF, false, results);
    for (int i = 0; i < PROBES; i++) {
        bool ok = probes[i].want == MUST_WORK ? results[i] == 0
                  : probes[i].want == ALWAYS  ? results[i] > 0
                                              : true;

        if (!ok)
            printf("# %s: %s\n", probes[i].name, strerror(results[i]));
        CHECK(ok);
    }
}

static int result_named(const int results[PROBES], const char *name)
{
    for (int i = 0; i < PROBES; i++)
        if (strcmp(probes[i].name, name) == 0)
            return results[i];
    return -1;
}

/* policy.network allows the network, but no local socket. */
TEST(the_network_where_it_is_allowed) /* [row 19] */
{
    for (int way = 0; way < CASE_WAYS; way++) {
        int results[PROBES];

        if (!case_set_way(way))
            continue;
        run_probe(SANDBOX_ON, true, results);
        CHECK(result_named(results, "[row 19] TCP") == 0);
        CHECK(result_named(results, "[row 19] UDP") == 0);
        CHECK(result_named(results, "[row 19] netlink") == 0);
        CHECK(result_named(results, "[row 19] raw packets") > 0);
        CHECK(result_named(results, "[row 19] a unix socket outside") > 0);
        CHECK(result_named(results, "[row 19] an abstract unix socket") > 0);
        CHECK(result_named(results, "[row 19] write a file outside") > 0);
    }
}

/* --- what is seen of a home ------------------------------------------------------------ */

/* [row 20] the home directory, and a workspace in it. */
TEST(what_is_seen_of_a_home) /* [row 20] */
{
    static const struct {
        const char *path;
        bool on, home; /* readable */
    } rows[] = {
        {".ssh/id_ed25519", false, false},
        {".config/gh/hosts.yml", false, false},
        {".netrc", false, false},
        {".cargo/credentials.toml", false, false},
        {"note", false, true},
        {".cargo/config", true, true}, /* PATH needs ~/.cargo */
    };

    for (int mode = SANDBOX_ON; mode <= SANDBOX_HOME; mode++) {
        for (int way = 0; way < CASE_WAYS; way++) {
            struct arena a = {0};
            struct case_run r = case_make(&a);

            if (!case_set_way(way))
                continue;
            r.o.sandbox = (enum sandbox)mode;
            r.o.workspace = arena_printf(&a, "%s/home/proj", outside);
            setenv("PATH",
                   arena_printf(&a, "%s:%s/home/.cargo/bin", getenv("PATH"),
                                outside)
                       .p,
                   1);
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                struct command_result out = case_sh(
                    &r, &a,
                    arena_printf(&a, "cat '%s/home/%s'", outside, rows[i].path)
                        .p);

                if (out.ok != (mode == SANDBOX_ON ? rows[i].on : rows[i].home))
                    printf("# %s: %.*s\n", rows[i].path, STR_ARG(out.result));
                CHECK(out.ok ==
                      (mode == SANDBOX_ON ? rows[i].on : rows[i].home));
                (void)case_sh(&r, &a,
                              arena_printf(&a, "echo evil >'%s/home/%s'",
                                           outside, rows[i].path)
                                  .p);
            }
            CHECK(
                case_sh(&r, &a, "echo x >made && test -s made && rm made").ok);
            (void)case_sh(&r, &a, "echo evil >../made");
            /* A home in /tmp is written to in the private /tmp. */
            CHECK(case_shell("! grep -rq evil '%s/home'", outside) == 0);
            arena_done(&a);
        }
    }
}

/* --- protected files ---------------------------------------------------------------------- */

/* Returns all files of the workspace as text. */
static struct str snapshot(struct arena *a)
{
    struct str text = STR("");
    struct err e = {0};

    /* Lists the protected files and their targets, but no other file of a
     * row. */
    CHECK(case_shell("find .git .agents .claude .mcp.json mapm.yaml conf "
                     ".codex .vscode .github CLAUDE.md -printf '%%p %%y %%m "
                     "%%l\\n' 2>/dev/null | LC_ALL=C sort >../snapshot; "
                     "find .git .agents .claude .mcp.json mapm.yaml conf "
                     "-type f 2>/dev/null | LC_ALL=C sort | while read -r f; "
                     "do sha256sum \"$f\"; done >>../snapshot") == 0);
    CHECK(fs_read_user_file(case_at(a, "snapshot").p, 1 << 20, a, &text, &e));
    return text;
}

static void make_workspace(void)
{
    CHECK(case_shell(
              "rm -rf .git .agents .claude .mcp.json mapm.yaml .codex .vscode "
              ".github conf evil git2 && mkdir -p .git/objects .git/info "
              ".agents/skills/hello .claude/skills && echo '[core]' "
              ">.git/config && echo HEAD >.git/HEAD && echo text "
              ">.agents/skills/hello/SKILL.md && echo '{}' "
              ">.claude/settings.json && echo 'version: 1' >mapm.yaml && "
              "ln -s ../../.agents/skills/hello .claude/skills/hello && "
              "chmod 640 mapm.yaml") == 0);
}

/* [row 15, row 19] Each attempt fails, and all files are unchanged. */
TEST(protected_files_stay_as_they_are) /* [row 19] */
{
    static const struct {
        const char *line, *named;
    } rows[] = {
        /* files that did not exist */
        {"mkdir -p .git/hooks; echo x >.git/hooks/pre-commit", ".git/hooks"},
        {"echo '{}' >.mcp.json", ".mcp.json"},
        {"ln -s /etc/passwd .mcp.json", ".mcp.json"},
        {"mkdir .mcp.json; touch .mcp.json/x", ".mcp.json"},
        {"mkfifo .mcp.json", ".mcp.json"},
        {"mkdir .vscode; echo x >.vscode/tasks.json", ".vscode"},
        {"mkdir -p a/b; echo x >a/b/config.toml; mv a/b .codex", ".codex"},
        {"mkdir .codex .codex/d; touch .codex/d/f; chmod 0 .codex/d .codex",
         ".codex"},
        {"echo ../evil >.git/commondir", ".git/commondir"},
        {"mkdir -p .git/modules/m/hooks; echo x >.git/modules/m/hooks/h",
         ".git/modules"},
        {"touch .envrc", ".envrc"},
        /* files that existed */
        {"echo x >>mapm.yaml", NULL},
        {"rm mapm.yaml", NULL},
        {"chmod 666 mapm.yaml", NULL},
        {"mv mapm.yaml m; echo x >mapm.yaml", NULL},
        {"echo x >m; mv -f m mapm.yaml", NULL},
        {"echo x >>.agents/skills/hello/SKILL.md", NULL},
        {"mkdir .agents/skills/evil; touch .agents/skills/evil/SKILL.md", NULL},
        {"rm -rf .agents", NULL},
        {"mv .agents evil", NULL},
        {"mv .claude evil; mkdir .claude; echo x >.claude/settings.json", NULL},
        {"rm .claude/skills/hello; ln -s ../../evil .claude/skills/hello",
         NULL},
        {"echo x >>.claude/skills/hello/SKILL.md", NULL},
        {"echo '[core] hooksPath = evil' >>.git/config", NULL},
        {"ln .claude/settings.json s; echo x >>s", NULL},
        {"rm -f .claude/settings.json; mkfifo .claude/settings.json", NULL},
        {"rm -rf .claude/skills; ln -s / .claude/skills", NULL},
    };

    for (int way = 0; way < CASE_WAYS; way++) {
        if (!case_set_way(way))
            continue;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct arena a = {0};
            struct case_run r = case_make(&a);
            struct command_result out;
            struct str before, after;

            make_workspace();
            before = snapshot(&a);
            out =
                case_sh(&r, &a, arena_printf(&a, "set -e; %s", rows[i].line).p);
            after = snapshot(&a);
            if (out.ok || !str_eq(before, after))
                printf("# way %d: %s: %.*s\n# %.*s\n", way, rows[i].line,
                       STR_ARG(out.result), STR_ARG(after));
            CHECK(!out.ok);
            CHECK(str_eq(before, after));
            if (rows[i].named) {
                CHECK(str_starts(
                    out.result,
                    STR("error: it changed files that it may not change; they "
                        "are as before: ")));
                CHECK(str_find(out.result, str_cstr(rows[i].named)) !=
                      SIZE_MAX);
            }
            arena_done(&a);
        }
    }
}

/* --- folders of skills ------------------------------------------------------------------- */

/* The folders that the library reads, with those of options: `lib` and
 * `deep/in/lib`. */
static struct str shelf_snapshot(struct arena *a)
{
    struct str text = STR("");
    struct err e = {0};

    CHECK(
        case_shell("for f in .swival .metis lib deep deep/in; do test -L $f "
                   "&& echo $f; done >../snapshot; find .swival/skills "
                   ".metis/skills lib deep/in/lib -printf '%%p %%y %%m %%l\\n' "
                   "2>/dev/null | LC_ALL=C sort >>../snapshot; "
                   "find .swival/skills .metis/skills lib deep/in/lib -type f "
                   "2>/dev/null | LC_ALL=C sort | while read -r f; do "
                   "cat $f; done >>../snapshot") == 0);
    CHECK(fs_read_user_file(case_at(a, "snapshot").p, 1 << 20, a, &text, &e));
    return text;
}

static void make_shelves(bool all)
{
    CHECK(case_shell("chmod -R u+rwX .swival .metis lib deep 2>/dev/null; "
                     "rm -rf .swival .metis lib deep evil x") == 0);
    if (all)
        CHECK(case_shell("for f in .swival/skills .metis/skills lib "
                         "deep/in/lib; do mkdir -p $f/alpha && "
                         "echo text >$f/alpha/SKILL.md || exit 1; done; "
                         "echo note >.swival/note; echo note >deep/note") == 0);
}

static void try_shelves(const char *line, bool all, enum case_way way)
{
    struct arena a = {0};
    struct case_run r = case_make(&a);
    struct str more[] = {case_at(&a, "ws/lib"), case_at(&a, "ws/deep/in/lib"),
                         case_at(&a, "ws"), case_at(&a, "elsewhere")};
    struct command_result out;
    struct str before, after;

    make_shelves(all);
    r.o.skills = more;
    r.o.skill_count = sizeof more / sizeof *more;
    before = shelf_snapshot(&a);
    out = case_sh(&r, &a, arena_printf(&a, "set -e; %s", line).p);
    after = shelf_snapshot(&a);
    if (out.ok || !str_eq(before, after))
        printf("# way %d: %s: %.*s\n# %.*s\n", way, line, STR_ARG(out.result),
               STR_ARG(after));
    CHECK(!out.ok);
    CHECK(str_eq(before, after));
    make_shelves(false);
    arena_done(&a);
}

/* [row 19, T31] A command cannot write a folder that a library reads, replace
 * it by a link, or create it. */
TEST(no_command_writes_skills) /* [row 19] */
{
    static const char *const there[] = {
        "echo x >>.swival/skills/alpha/SKILL.md",
        "rm -rf .swival/skills/alpha; ln -s / .swival/skills/alpha",
        "mv .swival/skills evil; ln -s evil .swival/skills",
        "mv .swival evil; ln -s evil .swival",
        "mkdir .metis/skills/evil; touch .metis/skills/evil/SKILL.md",
        "rm -rf .metis; ln -s /etc .metis",
        "rm -rf lib/alpha; ln -s / lib/alpha",
        "mv lib evil; mkdir -p lib/alpha; echo x >lib/alpha/SKILL.md",
        "mkdir deep/in/lib/evil; touch deep/in/lib/evil/SKILL.md",
        "mv deep evil; mkdir -p deep/in/lib/alpha",
        "mv deep/in deep/out; ln -s out deep/in",
        "rm -rf deep/in/lib; ln -s / deep/in/lib",
    };
    static const char *const missing[] = {
        "mkdir -p .swival/skills/evil; touch .swival/skills/evil/SKILL.md",
        "mkdir -p .metis/skills; mkdir .metis/skills/evil",
        "mkdir -p x/skills/evil; mv x .metis",
        "mkdir -p evil/skills; ln -s evil .metis",
        "mkdir -p .metis/skills; chmod 0 .metis",
        "mkdir lib; touch lib/SKILL.md",
        "ln -s / lib",
        "mkdir -p deep/in; ln -s / deep/in/lib",
    };

    for (int way = 0; way < CASE_WAYS; way++) {
        if (!case_set_way(way))
            continue;
        for (size_t i = 0; i < sizeof there / sizeof *there; i++)
            try_shelves(there[i], true, way);
        for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
            try_shelves(missing[i], false, way);
    }
}

/* A command can write files beside the skills. */
TEST(beside_skills_a_command_writes) /* [row 19] */
{
    static const char *const lines[] = {
        "echo x >>.swival/note; echo x >.swival/new; rm .swival/new",
        "mkdir .metis/log; rm -r .metis/log",
        "echo x >deep/in/made; mv deep/in/made deep/made; rm deep/made",
        "cat lib/alpha/SKILL.md",
    };

    for (int way = 0; way < CASE_WAYS; way++) {
        if (!case_set_way(way))
            continue;
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            struct arena a = {0};
            struct case_run r = case_make(&a);
            struct str more[] = {case_at(&a, "ws/lib"),
                                 case_at(&a, "ws/deep/in/lib"),
                                 case_at(&a, "ws")};
            struct command_result out;

            make_shelves(true);
            r.o.skills = more;
            r.o.skill_count = sizeof more / sizeof *more;
            out = case_sh(&r, &a, arena_printf(&a, "set -e; %s", lines[i]).p);
            if (!out.ok)
                printf("# way %d: %s: %.*s\n", way, lines[i],
                       STR_ARG(out.result));
            CHECK(out.ok);
            make_shelves(false);
            arena_done(&a);
        }
    }
}

/* The target of a folder given as an option is protected entirely. */
TEST(skills_behind_a_link_of_an_agent) /* [row 19] */
{
    for (int way = 0; way < CASE_WAYS; way++) {
        struct arena a = {0};
        struct case_run r = case_make(&a);
        struct str more[] = {case_at(&a, "ws/.claude/skills"),
                             case_at(&a, "ws/also")};
        struct command_result out;
        struct str before;

        if (!case_set_way(way))
            continue;
        make_workspace();
        make_shelves(true);
        CHECK(case_shell("rm -rf .claude also; mkdir -p conf/claude/skills/a; "
                         "ln -s conf/claude .claude; ln -s lib also; "
                         "echo x >conf/claude/settings.json") == 0);
        r.o.skills = more;
        r.o.skill_count = 2;
        before = snapshot(&a);
        out = case_sh(&r, &a, "echo x >>conf/claude/settings.json");
        CHECK(!out.ok);
        out = case_sh(&r, &a, "touch conf/claude/skills/a/new");
        CHECK(!out.ok);
        CHECK(str_eq(before, snapshot(&a)));
        before = shelf_snapshot(&a);
        out = case_sh(&r, &a, "touch lib/alpha/new");
        CHECK(!out.ok);
        CHECK(str_eq(before, shelf_snapshot(&a)));
        CHECK(case_shell("rm -f also") == 0);
        make_shelves(false);
        arena_done(&a);
    }
}

/* A command cannot move the repository aside and create another one. */
TEST(a_repository_cannot_be_exchanged) /* [row 19] */
{
    static const char *const lines[] = {
        "mv .git git2; mkdir -p .git/hooks; echo x >.git/hooks/pre-commit",
        "mv .git git2; echo 'gitdir: evil' >.git",
        "mv .git git2; ln -s git2 .git",
    };

    for (int way = 0; way < CASE_WAYS; way++) {
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            struct arena a = {0};
            struct case_run r = case_make(&a);
            struct command_result out;

            if (!case_set_way(way))
                continue;
            make_workspace();
            out = case_sh(&r, &a, arena_printf(&a, "set -e; %s", lines[i]).p);
            CHECK(!out.ok);
            CHECK(case_shell("test -d .git && ! test -L .git && "
                             "! test -e .git/hooks && "
                             "grep -q '^.core.$' .git/config") == 0);
            if (way == CASE_WALLS) /* nothing was moved */
                CHECK(case_shell("test -e .git/HEAD && ! test -e git2") == 0);
            arena_done(&a);
        }
    }
}

TEST(protected_files_behind_links_and_second_names) /* [row 19] */
{
    static const char *const lines[] = {
        "echo x >>conf/mcp.json",
        "rm .mcp.json; echo x >.mcp.json",
        "rm .mcp.json",
        "ln -sfn /etc/passwd .mcp.json",
        "rm .claude; mkdir .claude",
        "echo x >conf/claude/new",
        "echo x >>second",
    };

    for (int way = 0; way < CASE_WAYS; way++) {
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            struct arena a = {0};
            struct case_run r = case_make(&a);
            struct command_result out;
            struct str before;

            if (!case_set_way(way))
                continue;
            make_workspace();
            CHECK(case_shell("rm -rf .claude second; mkdir -p conf/claude; "
                             "echo '{}' >conf/mcp.json; ln -s conf/mcp.json "
                             ".mcp.json; ln -s conf/claude .claude; "
                             "echo x >conf/claude/settings.json; "
                             "ln mapm.yaml second") == 0);
            before = snapshot(&a);
            out = case_sh(&r, &a, arena_printf(&a, "set -e; %s", lines[i]).p);
            if (out.ok || !str_eq(before, snapshot(&a)))
                printf("# way %d: %s: %.*s\n", way, lines[i],
                       STR_ARG(out.result));
            CHECK(!out.ok);
            CHECK(str_eq(before, snapshot(&a)));
            arena_done(&a);
        }
    }
    case_shell("rm -f second");
}

/* At most ten names, without control sequences for a terminal. */
TEST(names_of_changed_files) /* [row 22] */
{
    struct arena a = {0};
    struct case_run r = case_make(&a);
    struct command_result out;

    case_set_way(CASE_ALONE);
    make_workspace();
    out = case_sh(&r, &a, "touch .agents/\"$(printf 'a\\033[2J\\nb')\"");
    CHECK(str_ends(out.result, STR(".agents/a\\x1b[2J\\x0ab")));
    out = case_sh(&r, &a,
                  "touch .envrc .mcp.json .vscode .codex .gemini .qwen .cursor "
                  ".cline .amp .roo");
    CHECK(str_find(out.result, STR("more")) == SIZE_MAX);
    out = case_sh(&r, &a,
                  "touch .envrc .mcp.json .vscode .codex .gemini .qwen .cursor "
                  ".cline .amp .roo .kiro; echo printed");
    CHECK(str_ends(out.result, STR(" and 1 more\nprinted\n")));
    CHECK(case_shell("! ls -d .envrc .kiro .vscode 2>/dev/null") == 0);
    arena_done(&a);
}

/* A change that the command could not have made is from another program, and
 * stays. */
TEST(a_change_by_another_program_is_reported_not_undone)
{
    struct arena a = {0};
    struct case_run r = case_make(&a);
    struct command_result out;
    pid_t child;

    if (!case_set_way(CASE_WALLS))
        return;
    make_workspace();
    case_shell("rm -f started");
    child = fork();
    if (child == 0) {
        AWAIT(case_shell("test -e started") == 0);
        _exit(case_shell("echo more >>mapm.yaml; touch done") != 0);
    }
    case_notices = 0;
    out = case_sh(&r, &a,
                  "touch started; while ! test -e done; do sleep 0.02; done");
    waitpid(child, NULL, 0);
    CHECK(out.ok && case_notices == 1);
    CHECK(case_shell("grep -q more mapm.yaml") == 0);
    case_shell("rm -f started done");
    arena_done(&a);
}

/* Ordinary work is possible. */
TEST(ordinary_work_is_not_disturbed)
{
    static const char *const lines[] = {
        "rm -rf x && git init -q x && cd x && echo 1 >f && git add f && git -c "
        "user.name=x -c user.email=x@x commit -qm one && git log --oneline",
        "mkdir -p d/e && echo x >d/e/f && mv d/e/f d/g && cp -p d/g h && "
        "chmod 755 h && touch -d @0 h && rm -rf d h",
        "echo '# text' >CLAUDE.md && rm CLAUDE.md",
        "python3 -c 'import tempfile,subprocess,threading; "
        "tempfile.TemporaryFile(); subprocess.run([\"true\"],check=True); "
        "t = threading.Thread(target=print); t.start(); t.join()'",
        "cd .git && echo ref >HEAD && cd .. && touch .git/index",
        "printf '#!/bin/sh\\necho ran' >tool && chmod +x tool && ./tool && "
        "rm tool",
    };

    for (int way = 0; way < CASE_WAYS; way++) {
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            struct arena a = {0};
            struct case_run r = case_make(&a);
            struct command_result out;

            if (!case_set_way(way))
                continue;
            make_workspace();
            out = case_sh(&r, &a, lines[i]);
            if (!out.ok)
                printf("# way %d: %s: exit %d: %.*s\n", way, lines[i],
                       out.exit_code, STR_ARG(out.result));
            CHECK(out.ok);
            arena_done(&a);
        }
    }
}

/* Installs a bwrap that behaves as on other machines. */
static void make_bwrap(const char *text, struct arena *a)
{
    struct err e = {0};

    CHECK(fs_make_dirs(case_at(a, "fake").p, 0755, &e));
    (void)unlink(case_at(a, "fake/bwrap").p);
    CHECK(fs_create_at(AT_FDCWD, case_at(a, "fake/bwrap").p, 0755,
                       arena_printf(a, "#!/bin/sh\n%s\n", text), &e));
}

TEST(a_bubblewrap_that_cannot) /* [K25, row 19] */
{
    static const struct {
        const char *text;
        bool notice;
        const char *result;
    } rows[] = {
        /* no user namespaces: only the inner isolation, with a notice */
        {"echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
         true, "ran\n"},
        /* before 0.7 */
        {"for i; do case $i in --size) echo 'bwrap: Unknown option --size' "
         ">&2; "
         "exit 1;; esac; done; exec /usr/bin/bwrap \"$@\"",
         false, "ran\n"},
        /* a failure caused by the workspace does not reduce the isolation */
        {"for i; do case $i in --bind) echo 'bwrap: Cannot mount x' >&2; "
         "exit 1;; esac; done; exec /usr/bin/bwrap \"$@\"",
         false, "error: the sandbox could not be built: bwrap: Cannot mount x"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct case_run r = case_make(&a);
        struct command_result out;

        if (!case_set_way(CASE_WALLS) && i > 0)
            continue;
        make_bwrap(rows[i].text, &a);
        setenv("PATH", arena_printf(&a, "%s/fake:%s", case_root, case_path).p,
               1);
        case_notices = 0;
        out = case_sh(&r, &a,
                      arena_printf(&a,
                                   "echo evil 2>/dev/null >'%s/note' || echo "
                                   "ran",
                                   getenv("HOME"))
                          .p);
        CHECK_STR(out.result.p, rows[i].result);
        CHECK(case_notices == rows[i].notice);
        arena_done(&a);
    }

    /* [row 15] A bwrap in the workspace is not used. */
    {
        struct arena a = {0};
        struct case_run r = case_make(&a);

        CHECK(case_shell("printf '#!/bin/sh\\ntouch pwned' >bwrap; "
                         "chmod 755 bwrap") == 0);
        setenv("PATH", arena_printf(&a, "%s/ws:%s/bin", case_root, case_root).p,
               1);
        CHECK(case_sh(&r, &a, "true").ok);
        CHECK(case_shell("! test -e pwned && rm bwrap") == 0);
        arena_done(&a);
    }
}

/* [row 19] A flood of processes ends with the command and leaves none. */
TEST(a_flood_of_processes_ends_with_its_time) /* [row 19] */
{
    for (int way = 0; way < CASE_WAYS; way++) {
        struct arena a = {0};
        struct case_run r = case_make(&a);
        struct command_result out;

        if (!case_set_way(way))
            continue;
        r.in.timeout_s = 1;
        out = case_sh(&r, &a,
                      "f() { for i in 1 2 3 4 5 6 7 8 9 10; do (setsid sleep "
                      "61.37 &); done; }; f; f; f; f; f; while :; do "
                      "sleep 1; done");
        CHECK(!out.ok && out.exit_code == -1);
        CHECK(case_shell("! grep -lqsz '61[.]37' /proc/[0-9]*/cmdline") == 0);
        arena_done(&a);
    }
}
