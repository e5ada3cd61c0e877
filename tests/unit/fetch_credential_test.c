/* The programs that know a password: FETCH.md 9; [row 13]. */

#include "base/fs.h"
#include "base/proc.h"
#include "mapm/host_config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../fetch/client.h"
#include "tap.h"

static char home[] = "/tmp/mapm-credential.XXXXXX";
static int home_fd = -1;

static void remove_home(void)
{
    struct err ignored = {0};

    if (!fs_remove_tree_at(AT_FDCWD, home, &ignored))
        err_clear(&ignored);
}

__attribute__((constructor)) static void set_up(void)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err e = {0};

    proc_init();
    if (!mkdtemp(home) || !fs_open_dir(home, &home_fd, &e) ||
        mkdirat(home_fd, "bin", 0755) < 0)
        abort();
    atexit(remove_home);
    setenv("PATH", arena_printf(&a, "%s/bin:/usr/bin:/bin", home).p, 1);
    setenv("OUT", home, 1);
}

/* A program of this name, which keeps its arguments, input and environment. */
static void put(const char *name, const char *says)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err e = {0};
    struct str text = arena_printf(&a,
                                   "#!/bin/sh\n"
                                   "echo \"$@\" >\"$OUT/argv\"\n"
                                   "cat >\"$OUT/stdin\"\n"
                                   "env >\"$OUT/env\"\n"
                                   "pwd >\"$OUT/pwd\"\n"
                                   "%s\n",
                                   says);
    struct str path = arena_printf(&a, "bin/%s", name);

    unlinkat(home_fd, path.p, 0);
    CHECK(fs_create_at(home_fd, path.p, 0755, text, &e));
}

/* What it kept. */
static const char *kept(const char *name, struct arena *a)
{
    struct err e = {0};
    struct str text = {"", 0};

    if (!fs_read_file_at(home_fd, name, 1u << 20, a, &text, &e))
        return err_first(&e);
    return str_dup0(text, a);
}

static bool has_line(const char *text, const char *start)
{
    struct str rest = str_cstr(text), line;

    while (str_line(&rest, &line))
        if (str_starts(line, str_cstr(start)))
            return true;
    return false;
}

static bool find_of(const char *kind, enum credential_from from,
                    const char *host, const char *path, struct arena *a,
                    struct str *user, struct str *password)
{
    struct credential_query q = {.from = from,
                                 .kind = git_host_of_kind(str_cstr(kind)),
                                 .protocol = STR("https"),
                                 .host = str_cstr(host),
                                 .path = str_cstr(path)};

    q.name = str_slice(q.host, 0, str_find_char(q.host, ':'));
    struct credential c;
    bool found = credential_find(&q, a, &c);

    *user = c.user;
    *password = c.password;
    return found;
}

static bool find(enum credential_from from, const char *host, const char *path,
                 struct arena *a, struct str *user, struct str *password)
{
    return find_of("github", from, host, path, a, user, password);
}

TEST(the_answer_of_a_helper)
{
    static const struct {
        const char *says, *user, *password; /* NULL: none */
    } rows[] = {
        {"echo username=me; echo password=p", "me", "p"},
        {"echo password=p=q; echo username=a b; echo quit=1", "a b", "p=q"},
        {"echo protocol=x; echo password=p", "", "p"},
        {"printf 'username=me\\npassword=p'", "me", "p"},
        {"echo username=me", NULL, NULL},
        {"echo password=", NULL, NULL},
        {"echo password=p; exit 1", NULL, NULL},
        {"echo xpassword=p", NULL, NULL},
        {"", NULL, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str user = {"", 0}, password = {"", 0};

        put("git", rows[i].says);
        CHECK(find(CREDENTIAL_HELPER, "x.example", "acme/x.git", &a, &user,
                   &password) == (rows[i].user != NULL));
        CHECK_STR(kept("pwd", &a), "/\n");
        if (rows[i].user) {
            CHECK_STR(kept("argv", &a), "credential fill\n");
            CHECK_STR(kept("stdin", &a),
                      "protocol=https\nhost=x.example\npath=acme/x.git\n\n");
            CHECK_STR(str_dup0(user, &a), rows[i].user);
            CHECK_STR(str_dup0(password, &a), rows[i].password);
        }
    }
}

TEST(a_password_of_one_path) /* [H4] */
{
    static const struct {
        const char *fill, *config;
        bool found, of_path;
    } rows[] = {
        {"echo path=acme/x.git; echo password=p", "echo false", true, true},
        {"echo password=p", "echo true", true, false},
        {"exit 128", "echo true", false, true},
        {"exit 128", "echo false", false, false},
        {"exit 128", "exit 1", false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct credential_query q = {.from = CREDENTIAL_HELPER,
                                     .protocol = STR("https"),
                                     .host = STR("x.example"),
                                     .name = STR("x.example"),
                                     .path = STR("acme/x.git")};
        struct credential c;

        put("git", arena_printf(&a, "if [ $1 = config ]; then %s; else %s; fi",
                                rows[i].config, rows[i].fill)
                       .p);
        CHECK(credential_find(&q, &a, &c) == rows[i].found);
        CHECK(c.of_path == rows[i].of_path);
        if (!rows[i].found)
            CHECK_STR(kept("argv", &a),
                      "config --type=bool --get-urlmatch "
                      "credential.useHttpPath https://x.example/acme/x.git\n");
    }
}

TEST(a_value_is_one_line)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str user, password;

    put("git", "echo password=p");
    unlinkat(home_fd, "argv", 0);
    CHECK(!find(CREDENTIAL_HELPER, "x.example\nhost=y.example", "x", &a, &user,
                &password));
    CHECK(!find(CREDENTIAL_HELPER, "x.example", "x\nhost=y.example", &a, &user,
                &password));
    CHECK(faccessat(home_fd, "argv", F_OK, 0) < 0);
}

TEST(the_answer_of_gh)
{
    static const struct {
        const char *says, *password;
    } rows[] = {
        {"echo gho_x", "gho_x"},
        {"printf '  gho_x \\n'", "gho_x"},
        {"echo gho_x; exit 1", NULL},
        {"printf 'two\\nlines\\n'", NULL},
        {"echo", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct str user = {"", 0}, password = {"", 0};

        put("gh", rows[i].says);
        CHECK(find(CREDENTIAL_PROGRAM, "ghe.example", "x", &a, &user,
                   &password) == (rows[i].password != NULL));
        CHECK_STR(kept("argv", &a), "auth token --hostname ghe.example\n");
        CHECK_STR(kept("stdin", &a), "");
        if (rows[i].password) {
            CHECK_STR(str_dup0(user, &a), "x-access-token");
            CHECK_STR(str_dup0(password, &a), rows[i].password);
        }
    }
}

TEST(the_program_of_each_kind)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str user, password;

    put("glab", "echo username=oauth2; echo password=glpat");
    CHECK(find_of("gitlab", CREDENTIAL_PROGRAM, "x.example:8443", "g/s/r.git",
                  &a, &user, &password));
    CHECK_STR(kept("argv", &a), "auth git-credential get\n");
    CHECK_STR(kept("stdin", &a),
              "protocol=https\nhost=x.example:8443\npath=g/s/r.git\n\n");
    CHECK_STR(str_dup0(user, &a), "oauth2");
    CHECK_STR(str_dup0(password, &a), "glpat");
    unlinkat(home_fd, "argv", 0);
    put("gh", "echo t");
    CHECK(!find_of("gitea", CREDENTIAL_PROGRAM, "x.example", "g/r", &a, &user,
                   &password));
    CHECK(!find_of("", CREDENTIAL_PROGRAM, "x.example", "g/r", &a, &user,
                   &password));
    CHECK(faccessat(home_fd, "argv", F_OK, 0) < 0);
    CHECK(find(CREDENTIAL_PROGRAM, "x.example:8443", "g/r", &a, &user,
               &password));
    CHECK_STR(kept("argv", &a), "auth token --hostname x.example\n");
}

TEST(a_repository_around_has_no_say) /* [row 13] */
{
    static const char *const dropped[] = {
        "GIT_DIR",        "GIT_WORK_TREE", "GIT_COMMON_DIR",
        "GIT_INDEX_FILE", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY",
    };
    CLEANUP(arena_done) struct arena a = {0};
    struct str user, password;
    const char *env;

    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        setenv(dropped[i], "/nowhere", 1);
    setenv("GIT_TERMINAL_PROMPT", "1", 1);
    setenv("GIT_SSL_CAINFO", "/kept", 1);
    put("git", "echo password=p");
    CHECK(find(CREDENTIAL_HELPER, "x.example", "x", &a, &user, &password));
    env = kept("env", &a);
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        CHECK(!has_line(env, arena_printf(&a, "%s=", dropped[i]).p));
        unsetenv(dropped[i]);
    }
    CHECK(has_line(env, "GIT_TERMINAL_PROMPT=0"));
    CHECK(!has_line(env, "GIT_TERMINAL_PROMPT=1"));
    CHECK(has_line(env, "GIT_SSL_CAINFO=/kept"));
    CHECK(has_line(env, "PATH="));
}

TEST(no_program_of_the_current_folder) /* [row 13] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str user, password;
    struct err e = {0};
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    CHECK(fs_make_dirs_at(home_fd, "ws", 0755, &e));
    put("git", "echo password=p");
    CHECK(renameat(home_fd, "bin/git", home_fd, "ws/git") == 0);
    CHECK(fchdir(home_fd) == 0 && chdir("ws") == 0);
    setenv("PATH", arena_printf(&a, ".:%s/ws", home).p, 1);
    CHECK(!find(CREDENTIAL_HELPER, "x.example", "x", &a, &user, &password));
    CHECK(fchdir(before) == 0);
    close(before);
}
