/* What the user's files say to mapm-fetch: FETCH.md 9; [row 13, row 15]. */

#include <curl/curl.h>
#include <git2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../fetch/worker/known_move.h"
#include "../../fetch/worker/secrets.h"
#include "tap.h"

__attribute__((constructor)) static void set_up(void)
{
    static const char *const names[] = {
        "HOME",
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "GH_CONFIG_DIR",
        "XDG_CONFIG_HOME",
        "NETRC",
        "GIT_SSL_CAINFO",
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_COUNT",
        "MAPM_GITHUB_HOSTS",
        "GH_ENTERPRISE_TOKEN",
        "GITHUB_ENTERPRISE_TOKEN",
    };

    git_libgit2_init();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
}

TEST(netrc_is_read_entry_by_entry)
{
    static const struct {
        const char *text, *want; /* machine/login/password; … */
    } rows[] = {
        {"", ""},
        {"machine a login b password c", "a/b/c;"},
        {"machine A\n\tlogin b\n\tpassword c\nmachine d login e password f\n",
         "a/b/c;d/e/f;"},
        {"machine\ta\rlogin\vb\n\npassword\fc \t ", "a/b/c;"},
        {"default login x password y\nmachine a login b password c", "a/b/c;"},
        {"machine a password \"x \\\" y\" login b", "a/b/x \" y;"},
        {"# machine z\nmachine a # comment\nlogin b password c", "a/b/c;"},
        {"machine a login b account q password c", "a/b/c;"},
        {"macdef m\nmachine no login no\n\nmachine a password c", "a//c;"},
        {"macdef\nmachine no login no\n\nmachine a password c", "a//c;"},
        {"machine a", "a//;"},
        {"machine a password \"open", "a//open;"},
        {"machine a password p\ndefault password q", "a//p;"},
        {"machine", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        CLEANUP(buf_done) struct buf got;
        struct str rest = str_cstr(rows[i].text);
        struct netrc_entry n;

        buf_init(&got, 1000);
        while (netrc_next(&rest, &a, &n))
            buf_printf(&got, "%.*s/%.*s/%.*s;", STR_ARG(n.machine),
                       STR_ARG(n.login), STR_ARG(n.password));
        CHECK_STR(got.n ? got.p : "", rows[i].want);
    }
}

static struct url url_of(const char *text, struct arena *a)
{
    struct url u = {0};

    if (!url_parse(str_cstr(text), a, &u))
        abort();
    return u;
}

TEST(tokens_go_to_github_alone) /* [row 10] */
{
    static const struct {
        const char *url, *source;
    } rows[] = {
        {"https://github.com/a/b.git", "the token from GH_TOKEN"},
        {"https://ghe.example/a/b.git", "the token from GH_TOKEN"},
        {"https://GitHub.com/a/b.git", "the token from GH_TOKEN"},
        {"http://github.com/a/b.git", NULL},
        {"https://github.com.evil.example/a", NULL},
        {"https://evil.example/github.com", NULL},
        {"https://127.0.0.1:80/a", NULL},
        {"http://u:p@127.0.0.1/a",
         "the password in the git configuration's url.*.insteadOf"},
        {"http://u:p@evil.example/a", NULL},
    };
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    CLEANUP(secrets_done) struct secrets secrets;
    struct host_config host = {.host = STR("ghe.example"),
                               .kind = &git_hosts[0]};
    struct secret got;
    struct url u;
    struct err e = {0};

    CHECK(settings_load(&s, &host, 1, &e));
    secrets_load(&secrets, &s);
    setenv("GH_TOKEN", "t", 1);
    setenv("GITHUB_TOKEN", "second", 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        u = url_of(rows[i].url, &a);
        secrets_first(&secrets, &u, &a, &got);
        CHECK_STR(got.source ? got.source : "",
                  rows[i].source ? rows[i].source : "");
    }
    setenv("GH_ENTERPRISE_TOKEN", "e", 1);
    u = url_of("https://ghe.example/a", &a);
    secrets_first(&secrets, &u, &a, &got);
    CHECK_STR(got.source, "the token from GH_ENTERPRISE_TOKEN");
    u = url_of("https://github.com/a", &a);
    secrets_first(&secrets, &u, &a, &got);
    CHECK_STR(got.source, "the token from GH_TOKEN");
    u = url_of("https://gist.github.com/a", &a);
    secrets_first(&secrets, &u, &a, &got);
    CHECK_STR(got.source, "the token from GH_TOKEN");
    unsetenv("GH_TOKEN");
    unsetenv("GITHUB_TOKEN");
    unsetenv("GH_ENTERPRISE_TOKEN");
}

/* clang-format off */
/* Of each kind: its own host, and one that the user named. */
static const struct {
    const char *kind, *home, *named;
} places[] = {
    {"github", "github.com", "github.example"},
    {"gitlab", "gitlab.com", "gitlab.example"},
    {"bitbucket", "bitbucket.org", "bitbucket.example"},
    {"bitbucket-dc", NULL, "bb.example"},
    {"gitea", "codeberg.org", "gitea.example"},
    {"azure", "dev.azure.com", "tfs.example"},
    {"azure", "o.visualstudio.com", "tfs.example"},
    {"codecommit", "git-codecommit.eu-west-1.amazonaws.com", NULL},
    {"sourcehut", "git.sr.ht", "hut.example"},
    {"huggingface", "huggingface.co", "face.example"},
    {"gitiles", NULL, "gerrit.example"},
    {"git", NULL, "git.example"},
};
static const char *const strangers[] = {
    "git.example.org", "gitlab.com.evil.example", "evilgitlab.com",
    "github.com.evil.example", "127.0.0.1", "x.dev.azure.com",
    "a.b.visualstudio.com", "visualstudio.com",
};
/* Each variable, the kind that it is for, and what is sent. */
static const struct {
    const char *variable, *kind, *user, *password;
    bool at_home;
} variables[] = {
    {"GH_TOKEN", "github", "x-access-token", "t", true},
    {"GITHUB_TOKEN", "github", "x-access-token", "t", true},
    {"GH_ENTERPRISE_TOKEN", "github", "x-access-token", "t", false},
    {"GITHUB_ENTERPRISE_TOKEN", "github", "x-access-token", "t", false},
    {"GITLAB_TOKEN", "gitlab", "oauth2", "t", true},
    {"BITBUCKET_TOKEN", "bitbucket", "x-token-auth", "t", true},
    {"GITEA_TOKEN", "gitea", "t", "", true},
    {"FORGEJO_TOKEN", "gitea", "t", "", true},
    {"AZURE_DEVOPS_EXT_PAT", "azure", "", "t", true},
    {"SYSTEM_ACCESSTOKEN", "azure", "", "t", true},
};
/* clang-format on */

/* "user:password" of what is sent to the host at once; "" for nothing. */
static const char *sent_to(const struct secrets *s, const char *host,
                           struct arena *a)
{
    struct url u = url_of(arena_printf(a, "https://%s/a/b.git", host).p, a);
    struct secret got;

    secrets_first(s, &u, a, &got);
    if (!got.source)
        return "";
    return arena_printf(a, "%.*s:%.*s", STR_ARG(got.user),
                        STR_ARG(got.password))
        .p;
}

static size_t put_hosts(struct host_config *out)
{
    size_t n = 0;

    for (size_t i = 0; i < COUNT(places); i++)
        if (places[i].named)
            out[n++] = (struct host_config){
                .host = str_cstr(places[i].named),
                .kind = git_host_of_kind(str_cstr(places[i].kind))};
    return n;
}

TEST(each_variable_goes_to_its_own_kind_alone) /* [H4, row 13] */
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    CLEANUP(secrets_done) struct secrets secrets;
    struct host_config hosts[COUNT(places)];
    struct err e = {0};

    CHECK(settings_load(&s, hosts, put_hosts(hosts), &e));
    secrets_load(&secrets, &s);
    for (size_t v = 0; v < COUNT(variables); v++) {
        const char *want =
            arena_printf(&a, "%s:%s", variables[v].user, variables[v].password)
                .p;

        setenv(variables[v].variable, "t", 1);
        for (size_t i = 0; i < COUNT(places); i++) {
            bool is_kind = strcmp(places[i].kind, variables[v].kind) == 0;

            if (places[i].home)
                CHECK_STR(sent_to(&secrets, places[i].home, &a),
                          is_kind && variables[v].at_home ? want : "");
            if (places[i].named)
                CHECK_STR(sent_to(&secrets, places[i].named, &a),
                          is_kind ? want : "");
        }
        for (size_t i = 0; i < COUNT(strangers); i++)
            CHECK_STR(sent_to(&secrets, strangers[i], &a), "");
        unsetenv(variables[v].variable);
    }
}

TEST(the_beginning_of_a_token_may_decide_its_user) /* [H4] */
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    CLEANUP(secrets_done) struct secrets secrets;
    struct err e = {0};

    CHECK(settings_load(&s, NULL, 0, &e));
    secrets_load(&secrets, &s);
    setenv("BITBUCKET_TOKEN", "ATATTx", 1);
    CHECK_STR(sent_to(&secrets, "bitbucket.org", &a),
              "x-bitbucket-api-token-auth:ATATTx");
    setenv("BITBUCKET_TOKEN", "ATCTTx", 1);
    CHECK_STR(sent_to(&secrets, "bitbucket.org", &a), "x-token-auth:ATCTTx");
    unsetenv("BITBUCKET_TOKEN");
}

TEST(a_token_of_a_job_is_for_one_host) /* [H4] */
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    CLEANUP(secrets_done) struct secrets secrets;
    struct host_config hosts[COUNT(places)];
    struct err e = {0};

    CHECK(settings_load(&s, hosts, put_hosts(hosts), &e));
    secrets_load(&secrets, &s);
    setenv("CI_JOB_TOKEN", "j", 1);
    CHECK_STR(sent_to(&secrets, "gitlab.com", &a), "");
    setenv("CI_SERVER_HOST", "gitlab.example", 1);
    CHECK_STR(sent_to(&secrets, "gitlab.com", &a), "");
    CHECK_STR(sent_to(&secrets, "gitlab.example", &a), "gitlab-ci-token:j");
    setenv("CI_SERVER_HOST", "evil.example", 1);
    CHECK_STR(sent_to(&secrets, "evil.example", &a), "");
    setenv("CI_SERVER_HOST", "gitlab.com", 1);
    CHECK_STR(sent_to(&secrets, "gitlab.com", &a), "gitlab-ci-token:j");
    setenv("GITLAB_TOKEN", "g", 1);
    CHECK_STR(sent_to(&secrets, "gitlab.com", &a), "oauth2:g");
    unsetenv("CI_JOB_TOKEN");
    unsetenv("CI_SERVER_HOST");
    unsetenv("GITLAB_TOKEN");
}

TEST(a_variable_may_name_its_host) /* [H4] */
{
    static const struct {
        const char *variable, *host;
    } rows[] = {
        {"MAPM_TOKEN_GIT_EXAMPLE", "git.example"},
        {"MAPM_TOKEN_GIT__CORP_EXAMPLE_ORG", "git-corp.example.org"},
        {"MAPM_TOKEN_GIT_CORP_EXAMPLE_ORG", "git.corp.example.org"},
        {"MAPM_TOKEN_GITLAB_COM", "gitlab.com"},
    };
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    CLEANUP(secrets_done) struct secrets secrets;
    struct host_config hosts[COUNT(places)];
    struct err e = {0};

    CHECK(settings_load(&s, hosts, put_hosts(hosts), &e));
    secrets_load(&secrets, &s);
    setenv("GITLAB_TOKEN", "g", 1);
    for (size_t v = 0; v < COUNT(rows); v++) {
        setenv(rows[v].variable, "m", 1);
        for (size_t i = 0; i < COUNT(rows); i++) {
            const char *got = sent_to(&secrets, rows[i].host, &a);

            CHECK((strstr(got, ":m") != NULL) == (i == v));
        }
        unsetenv(rows[v].variable);
    }
    CHECK_STR(sent_to(&secrets, "gitlab.com", &a), "oauth2:g");
    unsetenv("GITLAB_TOKEN");
}

TEST(config_says_where_a_token_is) /* [H4] */
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    CLEANUP(secrets_done) struct secrets secrets;
    const struct git_host *gitlab = git_host_of_kind(STR("gitlab"));
    const struct host_config hosts[] = {
        {.host = STR_INIT("a.example"),
         .kind = gitlab,
         .token = HOST_TOKEN_VARIABLE,
         .variable = STR_INIT("A_TOKEN")},
        {.host = STR_INIT("b.example"),
         .kind = gitlab,
         .token = HOST_TOKEN_GIT},
        {.host = STR_INIT("gitlab.com"),
         .kind = gitlab,
         .token = HOST_TOKEN_NONE},
    };
    struct url u;
    struct err e = {0};

    CHECK(settings_load(&s, hosts, COUNT(hosts), &e));
    secrets_load(&secrets, &s);
    setenv("GITLAB_TOKEN", "g", 1);
    CHECK_STR(sent_to(&secrets, "a.example", &a), "oauth2:g");
    setenv("A_TOKEN", "a", 1);
    CHECK_STR(sent_to(&secrets, "a.example", &a), "oauth2:a");
    CHECK_STR(sent_to(&secrets, "b.example", &a), "");
    CHECK_STR(sent_to(&secrets, "gitlab.com", &a), "");
    setenv("MAPM_TOKEN_GITLAB_COM", "m", 1);
    CHECK_STR(sent_to(&secrets, "gitlab.com", &a), "");
    u = url_of("https://gitlab.com/a", &a);
    CHECK_STR(secrets_way_in(&secrets, &u, &a).p,
              "change \"token: none\" of it: mapm host set gitlab.com --token "
              "default");
    u = url_of("https://a.example/a", &a);
    CHECK_STR(str_dup0(secrets_way_in(&secrets, &u, &a), &a), "set A_TOKEN");
    u = url_of("https://codeberg.org/a", &a);
    CHECK_STR(str_dup0(secrets_way_in(&secrets, &u, &a), &a),
              "set GITEA_TOKEN");
    u = url_of("https://x-y.example/a", &a);
    CHECK_STR(str_dup0(secrets_way_in(&secrets, &u, &a), &a),
              "set MAPM_TOKEN_X__Y_EXAMPLE");
    unsetenv("A_TOKEN");
    unsetenv("GITLAB_TOKEN");
    unsetenv("MAPM_TOKEN_GITLAB_COM");
}

TEST(what_the_table_knows_to_be_one_repository) /* [H4] */
{
    /* clang-format off */
    static const struct {
        const char *from, *to;
        bool is_known;
    } rows[] = {
        {"https://o.visualstudio.com/p/_git/r", "https://dev.azure.com/o/p/_git/r", true},
        {"https://o.visualstudio.com/DefaultCollection/p/_git/r", "https://dev.azure.com/o/p/_git/r", true},
        {"https://o.visualstudio.com/p/_git/r", "https://dev.azure.com/other/p/_git/r", false},
        {"https://o.visualstudio.com/p/_git/r", "https://dev.azure.com/o/p/_git/s", false},
        {"https://o.visualstudio.com/p/_git/r", "http://dev.azure.com/o/p/_git/r", false},
        {"https://o.visualstudio.com/p/_git/r", "https://dev.azure.com:8443/o/p/_git/r", false},
        {"https://dev.azure.com/o/p/_git/r", "https://o.visualstudio.com/p/_git/r", false},
        {"https://o.visualstudio.com.evil.example/p/_git/r", "https://dev.azure.com/o/p/_git/r", false},
    };
    /* clang-format on */
    CLEANUP(arena_done) struct arena a = {0};
    const struct git_host *azure = git_host_of_kind(STR("azure"));

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct url from = url_of(rows[i].from, &a), to = url_of(rows[i].to, &a);

        CHECK_STR(
            known_move(azure, &from, &to) == rows[i].is_known ? "" : rows[i].to,
            "");
    }
}

TEST(addresses_are_rewritten)
{
    static const struct {
        const char *from, *to; /* NULL: refused */
    } rows[] = {
        {"https://github.com/a/b.git", "https://mirror.example/gh/a/b.git"},
        {"https://github.com/acme/b.git", "https://near.example:8443/b.git"},
        {"https://ghe.example/a/b.git", "https://ghe.example/a/b.git"},
        {"https://ssh.example/a.git", "ssh://git@ssh.example/a.git"},
        {"https://file.example/a.git", NULL},
        {"https://odd.example/a.git", NULL},
        {"https://plain.example/a.git", "http://plain.example/a.git"},
    };
    static const char *const config[][2] = {
        {"url.https://mirror.example/gh/.insteadOf", "https://github.com/"},
        {"url.https://near.example:8443/.INSTEADOF",
         "https://github.com/acme/"},
        {"URL.git@ssh.example:.insteadof", "https://ssh.example/"},
        {"url.file:///x/.insteadof", "https://file.example/"},
        {"url.ext::sh -c .insteadof", "https://odd.example/"},
        {"url.http://plain.example/.insteadof", "https://plain.example/"},
    };
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    struct err e = {0};
    char name[40];

    for (unsigned i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "GIT_CONFIG_KEY_%u", i);
        setenv(name, config[i][0], 1);
        snprintf(name, sizeof name, "GIT_CONFIG_VALUE_%u", i);
        setenv(name, config[i][1], 1);
    }
    setenv("GIT_CONFIG_COUNT", "6", 1);
    CHECK(settings_load(&s, NULL, 0, &e));
    unsetenv("GIT_CONFIG_COUNT");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct url u;
        bool ok = settings_rewrite(&s, str_cstr(rows[i].from), &a, &u, &e);

        CHECK(ok == (rows[i].to != NULL));
        if (ok)
            CHECK_STR(url_format(&u, &a).p, rows[i].to);
        else
            CHECK(e.code == ERR_REFUSED);
    }
}

TEST(http_settings_fit_their_address)
{
    static const struct {
        const char *url, *proxy;
    } rows[] = {
        {"https://github.com/acme/x", "near"},
        {"https://github.com/acmes/x", "host"},
        {"https://github.com/b/x", "host"},
        {"https://github.com:8443/b/x", "all"},
        {"http://github.com/b/x", "all"},
        {"https://a.example.com/b/x", "star"},
        {"https://a.b.example.com/b/x", "all"},
        {"https://other/", "all"},
    };
    static const char *const config[][2] = {
        {"http.https://github.com/acme/.proxy", "near"},
        {"http.proxy", "all"},
        {"http.https://github.com.proxy", "host"},
        {"http.https://*.example.com.proxy", "star"},
    };
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    struct err e = {0};
    char name[40];

    for (unsigned i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "GIT_CONFIG_KEY_%u", i);
        setenv(name, config[i][0], 1);
        snprintf(name, sizeof name, "GIT_CONFIG_VALUE_%u", i);
        setenv(name, config[i][1], 1);
    }
    setenv("GIT_CONFIG_COUNT", "4", 1);
    CHECK(settings_load(&s, NULL, 0, &e));
    unsetenv("GIT_CONFIG_COUNT");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct url u = url_of(rows[i].url, &a);

        CHECK_STR(str_dup0(settings_proxy(&s, &u), &a), rows[i].proxy);
    }
}

TEST(an_environment_that_git_would_refuse_is_refused)
{
    CLEANUP(settings_done) struct settings s;
    struct err e = {0};

    setenv("GIT_CONFIG_COUNT", "many", 1);
    CHECK(!settings_load(&s, NULL, 0, &e) && e.code == ERR_FORMAT);
    settings_done(&s);
    unsetenv("GIT_CONFIG_KEY_0");
    setenv("GIT_CONFIG_COUNT", "1", 1);
    CHECK(!settings_load(&s, NULL, 0, &e) && e.code == ERR_FORMAT);
    unsetenv("GIT_CONFIG_COUNT");
}
