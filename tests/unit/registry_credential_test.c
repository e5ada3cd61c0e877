/* Credentials of registries: S3; TEAM.md 1.4. */

#include "base/fs.h"
#include "base/proc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../fetch/push_frame.h"
#include "tap.h"

static char home[] = "/tmp/mapm-registry.XXXXXX";
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
        mkdirat(home_fd, "bin", 0755) < 0 ||
        mkdirat(home_fd, ".docker", 0755) < 0 ||
        mkdirat(home_fd, "docker", 0755) < 0 ||
        mkdirat(home_fd, "run", 0755) < 0 ||
        mkdirat(home_fd, "run/containers", 0755) < 0)
        abort();
    atexit(remove_home);
    setenv("PATH", arena_printf(&a, "%s/bin:/usr/bin:/bin", home).p, 1);
    setenv("OUT", home, 1);
    setenv("HOME", home, 1);
    setenv("XDG_RUNTIME_DIR", arena_printf(&a, "%s/run", home).p, 1);
    unsetenv("DOCKER_CONFIG");
    unsetenv("MAPM_STORE_TOKEN");
}

static void put(const char *path, mode_t mode, const char *text)
{
    struct err e = {0};

    unlinkat(home_fd, path, 0);
    CHECK(fs_create_at(home_fd, path, mode, str_cstr(text), &e));
}

static void put_helper(const char *name, const char *says)
{
    CLEANUP(arena_done) struct arena a = {0};

    put(arena_printf(&a, "bin/docker-credential-%s", name).p, 0755,
        arena_printf(&a, "#!/bin/sh\nset -e\ncat >\"$OUT/stdin\"\n%s\n", says)
            .p);
}

static void clear(void)
{
    unlinkat(home_fd, ".docker/config.json", 0);
    unlinkat(home_fd, "docker/config.json", 0);
    unlinkat(home_fd, "run/containers/auth.json", 0);
    unsetenv("DOCKER_CONFIG");
    unsetenv("MAPM_STORE_TOKEN");
}

/* "user:secret from source", or what is not sent. */
static const char *found(const char *host, bool may_have_token, struct arena *a)
{
    struct registry_query q = {str_cstr(host), STR("acme/mapm"),
                               may_have_token};
    struct registry_secret s;

    registry_credential_find(&q, a, &s);
    if (s.kind == REGISTRY_NOTHING)
        return s.note.n ? s.note.p : "nothing";
    return arena_printf(a, "%.*s:%.*s from %.*s", STR_ARG(s.user),
                        STR_ARG(s.secret), STR_ARG(s.source))
        .p;
}

/* "am9lOnB3" is joe:pw, "YW5uOnE6eg==" ann:q:z. */
static const struct {
    const char *file, *host, *want;
} rows[] = {
    {"{\"auths\":{\"ghcr.io\":{\"auth\":\"am9lOnB3\"}}}", "ghcr.io", "joe:pw"},
    {"{\"auths\":{\"ghcr.io\":{\"auth\":\"YW5uOnE6eg==\"}}}", "ghcr.io",
     "ann:q:z"},
    {"{\"auths\":{\"https://ghcr.io/v2/\":{\"auth\":\"am9lOnB3\"}}}", "ghcr.io",
     "joe:pw"},
    {"{\"auths\":{\"https://index.docker.io/v1/\":{\"auth\":\"am9lOnB3\"}}}",
     "registry-1.docker.io", "joe:pw"},
    {"{\"auths\":{\"https://index.docker.io/v1/\":{\"auth\":\"am9lOnB3\"}}}",
     "evildocker.io", ":"},
    {"{\"auths\":{\"ghcr.io\":{\"auth\":\"am9lOnB3\"}}}", "ghcr.io:444", ":"},
    {"{\"auths\":{\"ghcr.io\":{\"auth\":\"am9lOnB3\"}}}", "xghcr.io", ":"},
    {"{\"auths\":{\"q.io\":{\"auth\":\"am9lOnB3\"},"
     "\"q.io/acme\":{\"auth\":\"YW5uOnE6eg==\"}}}",
     "q.io", "ann:q:z"},
    {"{\"auths\":{\"q.io/acm\":{\"auth\":\"am9lOnB3\"}}}", "q.io", ":"},
    {"{\"auths\":{\"q.io\":{\"auth\":\"am9l\"}}}", "q.io", ":"},
    {"{\"auths\":{\"q.io\":{\"auth\":\"am9lOg==\"}}}", "q.io", ":"},
    {"{\"auths\":{\"q.io\":{\"auth\":\"!!\"}}}", "q.io", ":"},
    {"{\"auths\":{\"q.io\":{\"auth\":\"am9lOnB3CmV2aWw=\"}}}", "q.io", ":"},
    {"{\"auths\":{\"q.io\":{\"auth\":7}}}", "q.io", ":"},
    {"{\"auths\":[]}", "q.io", ":"},
    {"[]", "q.io", "no file"},
    {"{", "q.io", "no file"},
    {"", "q.io", "no file"},
    {"{\"credsStore\":\"x\"}", "q.io", ": by x"},
    {"{\"credsStore\":\"x\",\"credHelpers\":{\"q.io\":\"y\"}}", "q.io",
     ": by y"},
    {"{\"credsStore\":\"x\",\"credHelpers\":{\"r.io\":\"y\"}}", "q.io",
     ": by x"},
    {"{\"credsStore\":\"../x\"}", "q.io", ":"},
    {"{\"credsStore\":\"a b\"}", "q.io", ":"},
    {"{\"auths\":{\"q.io\":{\"identitytoken\":\"t\"}}}", "q.io",
     ": and an identity"},
};

TEST(a_file_of_docker_says_it_of_the_host_that_it_names)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        struct registry_query q = {str_cstr(rows[i].host), STR("acme/mapm"),
                                   false};
        struct registry_entry r;
        bool ok = registry_config_parse(str_cstr(rows[i].file), &q, &a, &r);
        struct str got = arena_printf(
            &a, "%.*s:%.*s%s%.*s%s", STR_ARG(r.user), STR_ARG(r.secret),
            r.helper.n ? " by " : "", STR_ARG(r.helper),
            r.has_identity ? " and an identity" : "");

        CHECK_STR(ok ? got.p : "no file", rows[i].want);
    }
}

TEST(docker_s_file_counts_before_that_of_podman)
{
    CLEANUP(arena_done) struct arena a = {0};

    clear();
    put("run/containers/auth.json", 0600,
        "{\"auths\":{\"q.io\":{\"auth\":\"YW5uOnE6eg==\"}}}");
    CHECK(strstr(found("q.io", true, &a), "ann:q:z from /tmp/"));
    put(".docker/config.json", 0600,
        "{\"auths\":{\"q.io\":{\"auth\":\"am9lOnB3\"}}}");
    CHECK(strstr(found("q.io", true, &a), "joe:pw from /tmp/"));
    put("docker/config.json", 0600, "{\"auths\":{}}");
    setenv("DOCKER_CONFIG", arena_printf(&a, "%s/docker", home).p, 1);
    CHECK(strstr(found("q.io", true, &a), "ann:q:z from /tmp/"));
    CHECK_STR(found("r.io", true, &a), "nothing");
}

TEST(a_helper_is_asked_for_the_registry_by_its_name)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err e = {0};
    struct str said = {"", 0};

    clear();
    put(".docker/config.json", 0600,
        "{\"credHelpers\":{\"q.io\":\"own\",\"docker.io\":\"own\"},"
        "\"auths\":{\"q.io\":{\"auth\":\"am9lOnB3\"}}}");
    put_helper("own", "[ \"$1\" = get ]; echo '{\"ServerURL\":\"q.io\","
                      "\"Username\":\"kim\",\"Secret\":\"s3\"}'");
    CHECK_STR(found("q.io", true, &a), "kim:s3 from docker-credential-own");
    CHECK(fs_read_file_at(home_fd, "stdin", 1000, &a, &said, &e));
    CHECK(str_is(said, "q.io"));
    CHECK_STR(found("registry-1.docker.io", true, &a),
              "kim:s3 from docker-credential-own");
    CHECK(fs_read_file_at(home_fd, "stdin", 1000, &a, &said, &e));
    CHECK(str_is(said, "https://index.docker.io/v1/"));
}

TEST(a_helper_that_knows_nothing_leaves_it_to_the_file)
{
    CLEANUP(arena_done) struct arena a = {0};

    clear();
    put(".docker/config.json", 0600,
        "{\"credsStore\":\"own\","
        "\"auths\":{\"q.io\":{\"auth\":\"am9lOnB3\"}}}");
    put_helper("own", "echo credentials not found; exit 1");
    CHECK(strstr(found("q.io", true, &a), "joe:pw from /tmp/"));
    put_helper("own", "echo '{\"Username\":\"kim\"}'");
    CHECK(strstr(found("q.io", true, &a), "joe:pw from /tmp/"));
    put_helper("own", "printf '{\"Username\":\"kim\",\"Secret\":\"a\\\\nb\"}'");
    CHECK(strstr(found("q.io", true, &a), "joe:pw from /tmp/"));
    unlinkat(home_fd, "bin/docker-credential-own", 0);
    CHECK(strstr(found("q.io", true, &a), "joe:pw from /tmp/"));
    put(".docker/config.json", 0600, "{\"credsStore\":\"own\"}");
    CHECK_STR(found("q.io", true, &a), "docker-credential-own is not in PATH");
    put_helper("own", "echo credentials not found; exit 1");
    CHECK_STR(found("q.io", true, &a), "docker-credential-own gives no login");
}

TEST(no_helper_is_started_from_the_current_folder) /* [row 13] */
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    clear();
    put(".docker/config.json", 0600, "{\"credsStore\":\"own\"}");
    put_helper("own", "echo '{\"Username\":\"kim\",\"Secret\":\"s3\"}'");
    CHECK_STR(found("q.io", true, &a), "kim:s3 from docker-credential-own");
    CHECK(fchdir(home_fd) == 0);
    CHECK_STR(found("q.io", true, &a), "docker-credential-own is not in PATH");
    CHECK(chdir("/") == 0);
    CHECK_STR(found("q.io", true, &a), "kim:s3 from docker-credential-own");
    CHECK(fchdir(before) == 0);
}

TEST(an_identity_token_is_not_sent)
{
    CLEANUP(arena_done) struct arena a = {0};

    clear();
    put(".docker/config.json", 0600, "{\"credsStore\":\"own\"}");
    put_helper("own", "echo '{\"Username\":\"<token>\",\"Secret\":\"s\"}'");
    CHECK_STR(found("q.io", true, &a),
              "docker-credential-own has an identity token, which is not sent");
    put(".docker/config.json", 0600,
        "{\"auths\":{\"q.io\":{\"identitytoken\":\"t\"}}}");
    CHECK(strstr(found("q.io", true, &a), "config.json has an identity token"));
}

TEST(the_variable_is_for_hosts_that_the_user_names)
{
    CLEANUP(arena_done) struct arena a = {0};

    clear();
    put(".docker/config.json", 0600,
        "{\"auths\":{\"q.io\":{\"auth\":\"am9lOnB3\"}}}");
    setenv("MAPM_STORE_TOKEN", "t0k", 1);
    CHECK_STR(found("q.io", true, &a), ":t0k from MAPM_STORE_TOKEN");
    CHECK(strstr(found("q.io", false, &a), "joe:pw from /tmp/"));
    setenv("MAPM_STORE_TOKEN", "t0k\r\nX: y", 1);
    CHECK(strstr(found("q.io", true, &a), "MAPM_STORE_TOKEN is not sent"));
}

/* What mapm answers for the remote `asked` of a run with these two. */
static struct registry_secret answer(enum team_remote_source one,
                                     enum team_remote_source two, size_t asked,
                                     struct arena *a)
{
    struct team_remote list[2];
    struct team_remotes all = {list, 2, false};
    struct registry_secret s = {0};
    struct buf b;
    struct fields in;
    struct err e = {0};

    CHECK(team_remote_parse(STR("oci://a.example/x"), one, a, &list[0], &e));
    CHECK(team_remote_parse(STR("oci://b.example/x"), two, a, &list[1], &e));
    buf_init(&b, 1u << 16);
    push_answer_secret(&b, &all, &list[asked]);
    in = fields_of(str_from_index(buf_str(&b), FRAME_HEAD + 1));
    CHECK(push_read_secret(&in, a, &s));
    buf_done(&b);
    return s;
}

TEST(the_variable_is_not_for_a_store_of_the_workspace)
{
    CLEANUP(arena_done) struct arena a = {0};
    const enum team_remote_source mine = TEAM_FROM_ENVIRONMENT;
    const enum team_remote_source theirs = TEAM_FROM_WORKSPACE;

    clear();
    setenv("MAPM_STORE_TOKEN", "t0k", 1);
    CHECK(answer(mine, theirs, 0, &a).kind == REGISTRY_TOKEN);
    CHECK(answer(mine, theirs, 1, &a).kind == REGISTRY_NOTHING);
    CHECK(answer(theirs, theirs, 0, &a).kind == REGISTRY_NOTHING);
    CHECK(answer(theirs, mine, 0, &a).kind == REGISTRY_NOTHING);
    CHECK(answer(theirs, mine, 1, &a).kind == REGISTRY_TOKEN);
    CHECK(answer(mine, mine, 1, &a).kind == REGISTRY_NOTHING);
}
