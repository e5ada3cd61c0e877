/* The user's ssh: addresses, commands and what its end means; [H2, row 49]. */

#include "base/fs.h"
#include "base/proc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../fetch/remote_address.h"
#include "../../fetch/ssh.h"
#include "tap.h"

static char home[] = "/tmp/mapm-ssh.XXXXXX";

static void remove_home(void)
{
    struct err ignored = {0};

    if (!fs_remove_tree_at(AT_FDCWD, home, &ignored))
        err_clear(&ignored);
}

__attribute__((constructor)) static void set_up(void)
{
    proc_init();
    if (!mkdtemp(home) || chdir("/") < 0)
        abort();
    atexit(remove_home);
    unsetenv("GIT_SSH");
    unsetenv("GIT_SSH_COMMAND");
    unsetenv("GIT_SSH_VARIANT");
    unsetenv("SSH_AUTH_SOCK");
}

/* A program of this name in the folder of the test. */
static struct str put(const char *name, const char *says, struct arena *a)
{
    struct err e = {0};
    struct str path = arena_printf(a, "%s/%s", home, name);

    unlink(path.p);
    CHECK(fs_create_at(AT_FDCWD, path.p, 0755,
                       arena_printf(a, "#!/bin/sh\n%s\n", says), &e));
    return path;
}

/* --- addresses --------------------------------------------------------------- */

TEST(addresses_by_ssh) /* [H2] */
{
    static const struct {
        const char *text, *place, *path;
    } rows[] = {
        {"git@github.com:a/b.git", "git@github.com", "a/b.git"},
        {"github.com:a/b", "github.com", "a/b"},
        {"work_gh:a/b", "work_gh", "a/b"},
        {"git@h:/abs/b", "git@h", "/abs/b"},
        {"git@h:~me/b", "git@h", "~me/b"},
        {"ssh://git@git.corp:7999/KEY/s.git", "git@git.corp:7999",
         "/KEY/s.git"},
        {"ssh://git.sr.ht/~u/r", "git.sr.ht", "~u/r"},
        {"git+ssh://h/a", "h", "/a"},
        {"ssh+git://h/a/", "h", "/a/"},
        {"ssh://h/My%20Proj/_git/r", "h", "/My Proj/_git/r"},
        {"ssh://[::1]:2222/a/b", "[::1]:2222", "/a/b"},
        {"git@[::1]:a/b", "git@[::1]", "a/b"},
        {"git@ssh.dev.azure.com:v3/o/p/r", "git@ssh.dev.azure.com", "v3/o/p/r"},
    };
    CLEANUP(arena_done) struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ssh_address s = {0};
        struct err e = {0};

        CHECK(ssh_address_is_meant(str_cstr(rows[i].text)));
        CHECK(ssh_address_parse(str_cstr(rows[i].text), &a, &s, &e));
        CHECK_STR(ssh_address_place(&s, &a).p, rows[i].place);
        CHECK_STR(str_dup0(s.path, &a), rows[i].path);
    }
}

TEST(strange_addresses_are_refused) /* [H2, row 49] */
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"ssh://-oProxyCommand=x/a/b", "host"},
        {"git@-h:a", "host"},
        {"-oProxyCommand=x:a", "host"},
        {"ssh://h/-x", "path"},
        {"git@h:-x", "path"},
        {"ssh://a%62@h/x", "user"},
        {"ssh://-l@h/x", "user"},
        {"ssh://u:secret@h/x", "user"},
        {"ssh://h/a/'b'.git", "path"},
        {"ssh://h/a/b!", "path"},
        {"ssh://h/a/../b", "path"},
        {"ssh://h/a//b", "path"},
        {"ssh://h/$(id)", "path"},
        {"ssh://h/a;id", "path"},
        {"ssh://h/a\nb", "path"},
        {"ssh://h/a%0ab", "path"},
        {"ssh://h/a%27b", "path"},
        {"ssh://h/a~b", "path"},
        {"ssh://h", "path"},
        {"ssh://h/", "path"},
        {"git@h:", "path"},
        {"ssh://h:0/a", "port"},
        {"ssh://h:65536/a", "port"},
        {"ssh://h:22x/a", "port"},
        {"ssh://h;id/a", "host"},
        {"ssh://h`id`/a", "host"},
        {"ssh://h%20x/a", "host"},
        {"ssh://$HOME/a", "host"},
        {"ssh://%h/a", "host"},
        {"ssh:///a", "host"},
        {"ssh://[::1;id]/a", "host"},
        {"ssh://user@/a", "host"},
        {"ssh://h\xc3\xa9/a", "host"},
    };
    CLEANUP(arena_done) struct arena a = {0};
    char *long_text = heap_alloc(SSH_URL_MAX_BYTES + 2);
    struct ssh_address s = {0};
    struct err e = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(!ssh_address_parse(str_cstr(rows[i].text), &a, &s, &e));
        CHECK(e.code == ERR_REFUSED);
        CHECK_STR(str_dup0(str_slice(str_cstr(err_first(&e)), 0,
                                     8 + strlen(rows[i].part)),
                           &a),
                  arena_printf(&a, "invalid %s", rows[i].part).p);
        CHECK(s.host.p == NULL);
    }
    memset(long_text, 'a', SSH_URL_MAX_BYTES + 1);
    memcpy(long_text, "h:", 2);
    CHECK(!ssh_address_parse(str_cstr(long_text), &a, &s, &e));
    heap_free(long_text);
}

TEST(what_is_no_ssh)
{
    static const char *const rows[] = {
        "https://h/a",   "/srv/a:b",  "./a:b", "file:///a",
        "ext::sh -c id", "git://h/a", "plain"};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(!ssh_address_is_meant(str_cstr(rows[i])));
}

TEST(transport_of_config_yaml) /* [H2] */
{
    static const struct {
        const char *kind, *origin, *address;
        unsigned port;
    } rows[] = {
        {"github", "https://github.com/a/b/tree/main",
         "ssh://git@github.com/a/b.git", 0},
        {"github", "https://ghe.example/a/b/tree/main/x",
         "ssh://git@ghe.example:7999/a/b.git", 7999},
        {"gitlab", "https://gitlab.com/g/s/r/-/tree/main",
         "ssh://git@gitlab.com/g/s/r.git", 0},
        {"bitbucket-dc", "https://bb.corp/scm/KEY/s/-/tree/main",
         "ssh://git@bb.corp:7999/KEY/s.git", 0},
        {"azure", "https://dev.azure.com/o/My%20P/_git/r/-/tree/main",
         "ssh://git@ssh.dev.azure.com/v3/o/My%20P/r", 0},
        {"codecommit",
         "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/n/-/tree/m",
         "ssh://git-codecommit.eu-west-1.amazonaws.com/v1/repos/n", 0},
        {"sourcehut", "https://git.sr.ht/~u/r/-/tree/main",
         "ssh://git@git.sr.ht/~u/r", 0},
        {"git", "https://git.corp/srv/r.git/-/tree/main",
         "ssh://git@git.corp/srv/r.git", 0},
        {"git", "ssh://me@git.corp:2222/srv/r.git/-/tree/main",
         "ssh://me@git.corp:2222/srv/r.git", 7999},
    };
    CLEANUP(arena_done) struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct host_config h = {.kind =
                                    git_host_of_kind(str_cstr(rows[i].kind)),
                                .transport = HOST_OVER_SSH,
                                .port = rows[i].port,
                                .ports = {2222},
                                .port_count = 1};
        struct origin_rules rules = {.hosts = &h, .host_count = 1};
        struct ssh_address s;
        struct origin o;
        struct err e = {0};

        rules.any_host = true;
        CHECK(origin_parse(str_cstr(rows[i].origin), &rules, &a, &o, &e));
        h.host = o.host;
        CHECK(origin_parse(str_cstr(rows[i].origin), &rules, &a, &o, &e));
        CHECK_STR(str_dup0(remote_address(&o, &h, 1, &a), &a), rows[i].address);
        CHECK(ssh_address_parse(remote_address(&o, &h, 1, &a), &a, &s, &e));
    }
}

/* --- commands ----------------------------------------------------------------- */

static const struct ssh_address far = {.user = STR_INIT("git"),
                                       .host = STR_INIT("git.example"),
                                       .port = 7999,
                                       .path = STR_INIT("/a b/c.git")};
static const struct ssh_address near = {.host = STR_INIT("near"),
                                        .path = STR_INIT("a/b")};

/* The arguments, each behind a "|", without the options that are always there. */
static const char *shown(const struct ssh_settings *s,
                         const struct ssh_address *to, bool may_prompt,
                         struct arena *a)
{
    static const char always[] =
        "|-o|RequestTTY=no|-o|ForwardAgent=no|-o|ForwardX11=no|-o|"
        "PermitLocalCommand=no|-o|ClearAllForwardings=yes";
    struct ssh_program p;
    const char *const *argv;
    struct err e = {0};
    struct str out = STR("");
    size_t at;

    if (!ssh_program_find(s, to, a, &p, &e) ||
        !ssh_argv(&p, to, may_prompt, a, &argv, &e))
        return err_first(&e);
    for (; *argv; argv++)
        out = arena_printf(a, "%.*s|%s", STR_ARG(out), *argv);
    at = str_find(out, str_cstr(always));
    if (at != SIZE_MAX)
        out = arena_printf(a, "%.*s|…%.*s", STR_ARG(str_slice(out, 0, at)),
                           STR_ARG(str_from_index(out, at + strlen(always))));
    at = str_find(out, str_cstr(home));
    while (at != SIZE_MAX) {
        out = arena_printf(a, "%.*s%.*s", STR_ARG(str_slice(out, 0, at)),
                           STR_ARG(str_from_index(out, at + strlen(home))));
        at = str_find(out, str_cstr(home));
    }
    return str_dup0(out, a);
}

TEST(the_command_is_the_users_own) /* [H2] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct ssh_settings none = {STR(""), STR("")};
    struct ssh_settings core = {arena_printf(&a, "%s/ssh -i 'my key'", home),
                                STR("")};
    struct ssh_settings simple = {STR(""), STR("simple")};

    put("ssh", "exit 0", &a);
    put("plink", "exit 0", &a);
    put("wrap", "exit 0", &a);
    put("odd", "exit 1", &a);
    setenv("PATH", home, 1);
    CHECK_STR(shown(&none, &near, false, &a),
              "|/ssh|-o|SendEnv=GIT_PROTOCOL|-o|BatchMode=yes|…|--|near|"
              "git-upload-pack 'a/b'");
    CHECK_STR(shown(&none, &far, true, &a),
              "|/ssh|-o|SendEnv=GIT_PROTOCOL|…|-p|7999|--|git@git.example|"
              "git-upload-pack '/a b/c.git'");
    setenv("GIT_SSH", "plink", 1);
    CHECK_STR(shown(&none, &far, false, &a),
              "|/plink|-batch|-P|7999|git@git.example|"
              "git-upload-pack '/a b/c.git'");
    CHECK_STR(shown(&simple, &near, false, &a),
              "|/plink|near|git-upload-pack 'a/b'");
    CHECK_STR(shown(&simple, &far, false, &a),
              arena_printf(&a,
                           "%s/plink takes no port, and "
                           "git@git.example:7999 has one",
                           home)
                  .p);
    setenv("GIT_SSH_VARIANT", "putty", 1);
    CHECK_STR(shown(&simple, &far, false, &a),
              "|/plink|-P|7999|git@git.example|git-upload-pack '/a b/c.git'");
    unsetenv("GIT_SSH_VARIANT");
    /* A line of the configuration precedes GIT_SSH, as with git. */
    CHECK_STR(shown(&core, &near, true, &a),
              "|/bin/sh|-c|/ssh -i 'my key' \"$@\"|/ssh -i 'my key'|"
              "-o|SendEnv=GIT_PROTOCOL|…|--|near|git-upload-pack 'a/b'");
    setenv("GIT_SSH_COMMAND", "X=1 \"tortoiseplink\" -x", 1);
    setenv("GIT_SSH_VARIANT", "tortoiseplink", 1);
    CHECK_STR(shown(&core, &near, false, &a),
              "|/bin/sh|-c|X=1 \"tortoiseplink\" -x \"$@\"|"
              "X=1 \"tortoiseplink\" -x|-batch|near|git-upload-pack 'a/b'");
    unsetenv("GIT_SSH_VARIANT");
    unsetenv("GIT_SSH_COMMAND");
    /* An unknown one is asked for OpenSSH's -G. */
    setenv("GIT_SSH", arena_printf(&a, "%s/wrap", home).p, 1);
    CHECK_STR(shown(&none, &near, true, &a),
              "|/wrap|-o|SendEnv=GIT_PROTOCOL|…|--|near|git-upload-pack 'a/b'");
    setenv("GIT_SSH", "odd", 1);
    CHECK_STR(shown(&none, &near, true, &a),
              "|/odd|near|git-upload-pack 'a/b'");
    setenv("GIT_SSH", "./ssh", 1);
    CHECK_STR(shown(&none, &near, true, &a), "GIT_SSH is no absolute path: "
                                             "./ssh");
    setenv("GIT_SSH", "absent", 1);
    CHECK_STR(shown(&none, &near, true, &a), "absent: no such program in PATH");
    unsetenv("GIT_SSH");
}

static bool has_variable(const char *const *env, const char *start)
{
    for (; *env; env++)
        if (strncmp(*env, start, strlen(start)) == 0)
            return true;
    return false;
}

TEST(no_token_reaches_ssh) /* [H2, row 49] */
{
    static const char *const gone[] = {
        "GH_TOKEN",     "GITLAB_TOKEN",    "AZURE_DEVOPS_EXT_PAT",
        "MAPM_TOKEN_X", "MAPM_HOME",       "SYSTEM_ACCESSTOKEN",
        "GIT_DIR",      "GIT_CONFIG_COUNT"};
    CLEANUP(arena_done) struct arena a = {0};
    const char *const *env;

    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        setenv(gone[i], "s3cret", 1);
    setenv("SSH_AUTH_SOCK", "/agent", 1);
    setenv("PATH", "bin:/usr/bin::./x:/bin", 1);
    setenv("GIT_PROTOCOL", "version=1", 1);
    env = ssh_env(&a);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        CHECK(!has_variable(env, gone[i]));
        unsetenv(gone[i]);
    }
    CHECK(has_variable(env, "SSH_AUTH_SOCK=/agent"));
    CHECK(has_variable(env, "GIT_PROTOCOL=version=2"));
    CHECK(!has_variable(env, "GIT_PROTOCOL=version=1"));
    CHECK(has_variable(env, "PATH=/usr/bin:/bin"));
    unsetenv("SSH_AUTH_SOCK");
    unsetenv("GIT_PROTOCOL");
}

/* --- its end ------------------------------------------------------------------ */

TEST(the_end_in_words) /* [H2] */
{
    static const struct {
        const char *words;
        int code;
        enum err_code err;
        bool may_retry;
        const char *message, *hint;
    } rows[] = {
        {"No ED25519 host key is known\nHost key verification failed.\n", 255,
         ERR_FETCH, false, "ssh does not know the host key of",
         "\"ssh -T -p 7999 git@git.example\" once"},
        {"@@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @@\r\n"
         "Host key verification failed.",
         255, ERR_FETCH, false,
         "not the host key that ssh knows:", "may be an attack"},
        {"git@git.example: Permission denied (publickey).", 255, ERR_AUTH,
         false, "no key was accepted by", "no ssh agent is running"},
        {"ssh: Could not resolve hostname git.example: x", 255, ERR_HOST, false,
         "no such host:", ""},
        {"ssh: connect to host x port 22: Connection refused", 255, ERR_FETCH,
         true, "cannot connect to", "check the connection"},
        {"ERROR: Repository not found.", 1, ERR_NOT_FOUND, false,
         "no such repository, or no key", "check the name"},
        {"fatal: '/x' does not appear to be a git repository", 128,
         ERR_NOT_FOUND, false, "no such repository, or no key",
         "check the name"},
        {"sh: 1: git-upload-pack: not found", 127, ERR_FETCH, false,
         "there is no git on", ""},
        /* The words of the other side are not those of ssh. */
        {"Permission denied", 1, ERR_FETCH, false,
         "ssh to git@git.example:7999 ended with status 1", ""},
        {"", 0, ERR_FETCH, true, "git@git.example:7999 ended the ssh", ""},
    };
    CLEANUP(arena_done) struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ssh_failure f = {.to = &far,
                                .end = SSH_HUNG_UP,
                                .exit_code = rows[i].code,
                                .words = str_cstr(rows[i].words)};
        struct err e = {0};

        CHECK(ssh_explain(&f, &a, &e) == rows[i].may_retry);
        CHECK(e.code == rows[i].err);
        CHECK(strstr(err_prev(&e, NULL), rows[i].message) ==
              err_prev(&e, NULL));
        CHECK(strstr(e.hint, rows[i].hint) != NULL);
    }
}

TEST(the_last_lines_are_shown_without_controls) /* [H2] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct ssh_failure f = {.to = &near, .end = SSH_SILENT, .seconds = 30};
    struct str words = STR("");
    const char *m = NULL;
    struct err e = {0};
    size_t count = 0;

    for (int i = 0; i < 14; i++)
        words =
            arena_printf(&a, "%.*s\x1b[31mline\t%d\x07 \xe2\x80\xae\xff\r\n\n",
                         STR_ARG(words), i);
    f.words = words;
    CHECK(ssh_explain(&f, &a, &e));
    CHECK_STR(err_first(&e), "ssh: [31mline 13 ?");
    while ((m = err_next(&e, m)) != NULL)
        count++;
    CHECK(count == SSH_SHOWN_LINES + 1);
    CHECK_STR(err_prev(&e, NULL), "less than 1000 bytes a second came "
                                  "from near by ssh, for 30 s");
}

/* --- processes ------------------------------------------------------------------ */

static struct str read_all(int fd, struct arena *a)
{
    char block[4096];
    ssize_t n, all = 0;

    while ((n = read(fd, block + all, sizeof block - (size_t)all)) > 0)
        all += n;
    return arena_str(a, str_make(block, (size_t)all));
}

TEST(a_line_and_its_end) /* [H2] */
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str path = put("ssh",
                          "echo why >&2\necho \"$GIT_PROTOCOL\"\n"
                          "sleep 60 & wait",
                          &a);
    bool may_prompt = true, may_retry;
    struct err e = {0}, why = {0};
    char byte[10];
    struct ssh s;
    int fd = -1;

    setenv("GIT_SSH", path.p, 1);
    setenv("PATH", "/usr/bin:/bin", 1);
    ssh_init(&s, false);
    CHECK(ssh_start(&s, 7, &near, &fd, &may_prompt, &e));
    CHECK(!may_prompt && s.count == 1);
    CHECK(read(fd, byte, sizeof byte) == 10 &&
          memcmp(byte, "version=2\n", 10) == 0);
    CHECK(!ssh_end(&s, 8, SSH_DONE, 0, &may_retry, &why));
    CHECK(ssh_end(&s, 7, SSH_SILENT, 30, &may_retry, &why));
    CHECK(s.count == 0 && may_retry);
    CHECK_STR(err_first(&why), "ssh: why");
    /* The whole group has gone: nobody holds the other end. */
    CHECK(read_all(fd, &a).n == 0);
    close(fd);
    ssh_done(&s);
    ssh_done(&s);
    unsetenv("GIT_SSH");
}
