/* What the user's files say to mapm-fetch: FETCH.md 9; [row 13, row 15]. */

#include <curl/curl.h>
#include <git2.h>
#include <stdlib.h>
#include <unistd.h>

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
        secrets_first(&secrets, &u, &got);
        CHECK_STR(got.source ? got.source : "",
                  rows[i].source ? rows[i].source : "");
    }
    setenv("GH_ENTERPRISE_TOKEN", "e", 1);
    u = url_of("https://ghe.example/a", &a);
    secrets_first(&secrets, &u, &got);
    CHECK_STR(got.source, "the token from GH_ENTERPRISE_TOKEN");
    u = url_of("https://github.com/a", &a);
    secrets_first(&secrets, &u, &got);
    CHECK_STR(got.source, "the token from GH_TOKEN");
    unsetenv("GH_TOKEN");
    unsetenv("GITHUB_TOKEN");
    unsetenv("GH_ENTERPRISE_TOKEN");
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
