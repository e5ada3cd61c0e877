/* Addresses, the user's git configuration, and secrets in files: FETCH.md 9;
 * [row 13, row 15]. */

#include "base/fs.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <git2.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../fetch/worker/secrets.h"
#include "tap.h"

static char home[] = "/tmp/mapm-settings.XXXXXX";
static int home_fd = -1;

static void remove_home(void)
{
    struct err ignored = {0};

    if (!fs_remove_tree_at(AT_FDCWD, home, &ignored))
        err_clear(&ignored);
}

/* What the tests of one program leave does not reach the next one. */
static void clear(void)
{
    static const char *const names[] = {
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "GH_CONFIG_DIR",
        "XDG_CONFIG_HOME",
        "NETRC",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "SSL_CERT_DIR",
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "GIT_SSL_NO_VERIFY",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_SYSTEM",
        "MAPM_GITHUB_HOSTS",
        "GH_ENTERPRISE_TOKEN",
        "GITHUB_ENTERPRISE_TOKEN",
        "no_proxy",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    setenv("HOME", home, 1);
}

__attribute__((constructor)) static void set_up(void)
{
    struct err e = {0};

    git_libgit2_init();
    if (!mkdtemp(home) || !fs_open_dir(home, &home_fd, &e))
        abort();
    atexit(remove_home);
    clear();
}

/* PATH below HOME, with its folders. */
static void put(const char *path, const char *text)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str whole = str_cstr(path);
    size_t slash = str_find_last(whole, '/');
    struct err e = {0};

    if (slash != SIZE_MAX)
        CHECK(fs_make_dirs_at(home_fd, str_dup0(str_slice(whole, 0, slash), &a),
                              0755, &e));
    unlinkat(home_fd, path, 0);
    CHECK(fs_create_at(home_fd, path, 0600, str_cstr(text), &e));
}

/* A variable that names PATH below HOME. */
static void set_path(const char *name, const char *path)
{
    CLEANUP(arena_done) struct arena a = {0};

    setenv(name, arena_printf(&a, "%s/%s", home, path).p, 1);
}

/* GIT_CONFIG_KEY_0 and so on: pairs of KEY and VALUE, NULL at the end. */
static void configure(const char *const pairs[])
{
    char name[40];
    unsigned i = 0;

    for (; pairs[2 * i]; i++) {
        snprintf(name, sizeof name, "GIT_CONFIG_KEY_%u", i);
        setenv(name, pairs[2 * i], 1);
        snprintf(name, sizeof name, "GIT_CONFIG_VALUE_%u", i);
        setenv(name, pairs[2 * i + 1], 1);
    }
    snprintf(name, sizeof name, "%u", i);
    setenv("GIT_CONFIG_COUNT", name, 1);
}

static struct url url_of(const char *text, struct arena *a)
{
    struct url u = {0};

    if (!url_parse(str_cstr(text), a, &u))
        abort();
    return u;
}

/* --- addresses ------------------------------------------------------------ */

TEST(addresses_are_taken_apart)
{
    static const struct {
        const char *text, *scheme, *user, *password, *host, *path;
        unsigned port;
        const char *shown;
    } rows[] = {
        {"HTTPS://User%40x:p%3Aw@GitHub.COM/a/B.git", "https", "User@x", "p:w",
         "github.com", "/a/B.git", 443, "https://github.com/a/B.git"},
        {"http://x.example/a", "http", "", "", "x.example", "/a", 80,
         "http://x.example/a"},
        {"http://x.example:80/a", "http", "", "", "x.example", "/a", 80,
         "http://x.example/a"},
        {"https://x.example:443/a", "https", "", "", "x.example", "/a", 443,
         "https://x.example/a"},
        {"http://x.example:443/a", "http", "", "", "x.example", "/a", 443,
         "http://x.example:443/a"},
        {"https://x.example:80/a", "https", "", "", "x.example", "/a", 80,
         "https://x.example:80/a"},
        {"https://x.example:8443/a", "https", "", "", "x.example", "/a", 8443,
         "https://x.example:8443/a"},
        {"https://x.example:65535/", "https", "", "", "x.example", "/", 65535,
         "https://x.example:65535/"},
        {"https://x.example/a/../b/./c", "https", "", "", "x.example",
         "/a/../b/./c", 443, "https://x.example/a/../b/./c"},
        {"https://token@[::1]:99/", "https", "token", "", "[::1]", "/", 99,
         "https://[::1]:99/"},
        {"odd://x.example/a", "odd", "", "", "x.example", "/a", 0,
         "odd://x.example/a"},
    };
    CLEANUP(arena_done) struct arena a = {0};
    struct url u;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        u = url_of(rows[i].text, &a);
        CHECK_STR(str_dup0(u.scheme, &a), rows[i].scheme);
        CHECK_STR(str_dup0(u.user, &a), rows[i].user);
        CHECK_STR(str_dup0(u.password, &a), rows[i].password);
        CHECK_STR(str_dup0(u.host, &a), rows[i].host);
        CHECK_STR(str_dup0(u.path, &a), rows[i].path);
        CHECK(u.port == rows[i].port);
        CHECK_STR(str_dup0(url_format(&u, &a), &a), rows[i].shown);
    }
    CHECK(!url_parse(STR(""), &a, &u));
    CHECK(!url_parse(STR("https://"), &a, &u));
    CHECK(!url_parse(STR("/a/b"), &a, &u));
    CHECK(!url_parse(STR("https://x.example/a\0b"), &a, &u));
    CHECK(!url_parse(STR("https://x.example:65536/"), &a, &u));
}

TEST(a_place_is_scheme_host_and_port) /* [row 10] */
{
    static const struct {
        const char *x, *y;
        bool same;
    } rows[] = {
        {"https://x.example/a", "https://X.example:443/b", true},
        {"https://u:p@x.example/a", "https://x.example/a", true},
        {"https://x.example/a", "http://x.example/a", false},
        {"https://x.example/a", "http://x.example:443/a", false},
        {"https://x.example/a", "https://x.example:8443/a", false},
        {"https://x.example/a", "https://y.example/a", false},
    };
    CLEANUP(arena_done) struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct url x = url_of(rows[i].x, &a), y = url_of(rows[i].y, &a);

        CHECK(url_same_place(&x, &y) == rows[i].same);
        CHECK(url_same_place(&y, &x) == rows[i].same);
        CHECK(url_is_secure(&x) &&
              url_is_secure(&y) == str_is(y.scheme, "https"));
        CHECK(!url_is_loopback(&x));
    }
}

/* --- the configuration ---------------------------------------------------- */

/* The proxy says which file counted. */
static void check_proxy(const char *want)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    struct url u = url_of("https://github.com/a/b", &a);
    struct err e = {0};
    struct str got;

    CHECK(settings_load(&s, NULL, 0, &e));
    got = settings_proxy(&s, &u);
    CHECK_STR(got.p ? str_dup0(got, &a) : "none", want);
}

/* Where none is used, the address of the host itself is judged. [row 47] */
static void check_may_use(const char *variable, const char *value,
                          const char *exempt, bool want)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    struct url u = url_of("https://git.example.com/a", &a);
    struct err e = {0};

    if (variable)
        setenv(variable, value, 1);
    if (exempt)
        setenv("no_proxy", exempt, 1);
    CHECK(settings_load(&s, NULL, 0, &e));
    CHECK(settings_may_use_proxy(&s, &u) == want);
    clear();
}

TEST(a_proxy_that_is_not_used_is_none)
{
    clear();
    check_may_use(NULL, NULL, NULL, false);
    check_may_use("https_proxy", "http://p", NULL, true);
    check_may_use("ALL_PROXY", "http://p", "", true);
    check_may_use("http_proxy", "http://p", NULL, false);
    check_may_use("https_proxy", "http://p", "*", false);
    check_may_use("https_proxy", "http://p", "a, example.com", false);
    check_may_use("https_proxy", "http://p", ".Example.com.,b", false);
    check_may_use("https_proxy", "http://p", "git.example.com", false);
    check_may_use("https_proxy", "http://p", "xample.com", true);
    check_may_use("https_proxy", "http://p", "x.git.example.com,.,", true);
    configure((const char *const[]){"http.proxy", "", NULL});
    check_may_use("https_proxy", "http://p", NULL, false);
    configure((const char *const[]){"http.proxy", "http://p", NULL});
    check_may_use(NULL, NULL, NULL, true);
}

TEST(files_count_as_git_reads_them)
{
    check_proxy("none");
    put("config", "[http]\n\tproxy = system\n");
    set_path("GIT_CONFIG_SYSTEM", "config");
    check_proxy("none");
    setenv("GIT_CONFIG_NOSYSTEM", "no", 1);
    check_proxy("system");
    put(".config/git/config", "[http]\n\tproxy = config\n");
    check_proxy("config");
    put("xdg/git/config", "[http]\n\tproxy = xdg\n");
    set_path("XDG_CONFIG_HOME", "xdg");
    check_proxy("xdg");
    setenv("XDG_CONFIG_HOME", "xdg", 1);
    check_proxy("config");
    setenv("XDG_CONFIG_HOME", "", 1);
    check_proxy("config");
    put(".gitconfig", "[http]\n\tproxy = home\n");
    check_proxy("home");
    setenv("HOME", ".", 1);
    check_proxy("system");
    unsetenv("HOME");
    check_proxy("system");
    setenv("HOME", home, 1);
    setenv("GIT_CONFIG_GLOBAL", "", 1);
    check_proxy("system");
    put("global", "[http]\n\tproxy = global\n");
    set_path("GIT_CONFIG_GLOBAL", "global");
    check_proxy("global");
    configure((const char *const[]){"http.proxy", "environment", NULL});
    check_proxy("environment");
    clear();
    configure((const char *const[]){"http.proxy", "a", "HTTP.Proxy", "b",
                                    "https.proxy", "c", "proxy", "d",
                                    "http.x.y", "e", NULL});
    check_proxy("b");
    clear();
}

TEST(a_file_that_git_cannot_read_is_an_error)
{
    CLEANUP(settings_done) struct settings s;
    struct err e = {0};

    put(".gitconfig", "[http\n");
    CHECK(!settings_load(&s, NULL, 0, &e) && e.code == ERR_FORMAT);
    CHECK_STR(err_next(&e, err_first(&e)), "cannot read the git configuration");
    CHECK(unlinkat(home_fd, ".gitconfig", 0) == 0);
    clear();
}

TEST(verification_stays_on) /* [row 15] */
{
    static const struct {
        const char *key, *value, *env;
        bool wants_no_verify;
    } rows[] = {
        {"http.sslVerify", "false", NULL, true},
        {"http.sslVerify", "NO", NULL, true},
        {"http.sslVerify", "off", NULL, true},
        {"http.sslVerify", "0", NULL, true},
        {"http.https://x.example.sslVerify", "false", NULL, true},
        {"http.sslVerify", "true", NULL, false},
        {"http.sslVerify", "1", NULL, false},
        {"core.sslVerify", "false", NULL, false},
        {"http.proxy", "false", NULL, false},
        {"http.proxy", "p", "1", true},
        {"http.proxy", "p", "0", false},
        {"http.proxy", "p", "", false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(settings_done) struct settings s;
        struct err e = {0};

        configure((const char *const[]){rows[i].key, rows[i].value, NULL});
        if (rows[i].env)
            setenv("GIT_SSL_NO_VERIFY", rows[i].env, 1);
        CHECK(settings_load(&s, NULL, 0, &e));
        CHECK(s.wants_no_verify == rows[i].wants_no_verify);
        clear();
    }
}

/* Bundle and folder for an address; "broken". */
static void check_ca(const char *url, const char *bundle, const char *folder)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    struct url u = url_of(url, &a);
    struct settings_ca ca = {{"", 0}, {"", 0}};
    struct err e = {0};
    bool ok;

    CHECK(settings_load(&s, NULL, 0, &e));
    ok = settings_ca(&s, &u, &ca, &e);
    CHECK_STR(ok ? str_dup0(ca.bundle, &a) : "broken", bundle);
    CHECK(ok || e.code == ERR_TLS);
    CHECK_STR(str_dup0(ca.folder, &a), folder);
}

TEST(certificates_come_from_the_first_that_says)
{
    CLEANUP(arena_done) struct arena a = {0};
    const char *x = "https://x.example/a", *y = "https://y.example/a";
    const char *folder = arena_printf(&a, "%s/folder", home).p;

    put("curl.pem", "curl");
    put("file.pem", "file");
    put("x.pem", "x");
    put("git.pem", "git");
    check_ca(x, "", "");
    set_path("CURL_CA_BUNDLE", "curl.pem");
    check_ca(x, "curl", "");
    set_path("SSL_CERT_FILE", "file.pem");
    check_ca(x, "file", "");
    setenv("SSL_CERT_DIR", "/default", 1);
    check_ca(x, "file", "/default");
    configure((const char *const[]){
        "http.https://x.example.sslCAInfo", "~/x.pem",
        "http.https://x.example.sslCAPath", "~/folder", NULL});
    check_ca(x, "x", folder);
    check_ca(y, "file", "/default");
    setenv("GIT_SSL_CAPATH", "/env", 1);
    check_ca(x, "x", "/env");
    set_path("GIT_SSL_CAINFO", "git.pem");
    check_ca(x, "git", "/env");
    clear();
    configure((const char *const[]){"http.sslCAInfo", "/nowhere.pem", NULL});
    check_ca(x, "broken", "");
    configure((const char *const[]){"http.sslCAInfo", "", NULL});
    check_ca(x, "", "");
    clear();
}

TEST(folders_of_certificates_are_named)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    const char *const *folders;
    struct err e = {0};
    size_t count;

    configure((const char *const[]){"http.sslCAPath", "/one", "http.sslCAPath",
                                    "relative", "http.sslCAInfo", "/nowhere",
                                    "http.https://x.example.sslCAPath", "/two",
                                    "http.proxy", "/proxy", NULL});
    setenv("SSL_CERT_DIR", "/three", 1);
    CHECK(settings_load(&s, NULL, 0, &e));
    folders = settings_ca_folders(&s, &a, &count);
    CHECK(count == 3);
    CHECK_STR(folders[0], "/one");
    CHECK_STR(folders[1], "/two");
    CHECK_STR(folders[2], "/three");
    clear();
}

TEST(hosts_of_github)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    struct host_config given = {.host = STR("given.example"),
                                .kind = &git_hosts[0]};
    static const char *const want[] = {"near.example:8443", "far.example",
                                       "given.example", "a.example",
                                       "b.example"};
    const struct str *hosts;
    struct err e = {0};
    size_t count;

    setenv("MAPM_GITHUB_HOSTS", "a.example, B.example,", 1);
    configure((const char *const[]){
        "url.https://near.example:8443/.insteadOf", "https://github.com/",
        "url.https://far.example/x/.insteadOf", "https://x.example/",
        "url./some/folder.insteadOf", "https://y.example/",
        "url.https://none.example/.insteadOf", "", "url.insteadOf", "z", NULL});
    CHECK(settings_load(&s, &given, 1, &e));
    settings_hosts(&s, &a, &hosts, &count);
    CHECK(count == sizeof want / sizeof *want);
    for (size_t i = 0; i < count && i < sizeof want / sizeof *want; i++)
        CHECK_STR(str_dup0(hosts[i], &a), want[i]);
    CHECK(settings_git_host(&s, STR("github.com")));
    CHECK(settings_git_host(&s, STR("given.example")));
    CHECK(settings_git_host(&s, STR("b.example")));
    CHECK(!settings_git_host(&s, STR("near.example")));
    CHECK(!settings_git_host(&s, STR("c.example")));
    CHECK(!settings_git_host(&s, STR("")));
    clear();
}

TEST(the_longest_rewrite_counts)
{
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"https://github.com/acme/x", "https://acme.example/x"},
        {"https://github.com/other/x", "https://all.example/other/x"},
        {"https://x.example/x", "https://x.example/x"},
        {"https://same.example/x", "https://first.example/x"},
    };
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(settings_done) struct settings s;
    struct err e = {0};

    configure((const char *const[]){
        "url.https://acme.example/.insteadOf", "https://github.com/acme/",
        "url.https://all.example/.insteadOf", "https://github.com/",
        "url.https://first.example/.insteadOf", "https://same.example/",
        "url.https://second.example/.insteadOf", "https://same.example/",
        NULL});
    CHECK(settings_load(&s, NULL, 0, &e));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct url u;

        CHECK(settings_rewrite(&s, str_cstr(rows[i].from), &a, &u, &e));
        CHECK_STR(str_dup0(url_format(&u, &a), &a), rows[i].to);
    }
    clear();
}

/* --- secrets -------------------------------------------------------------- */

/* "user:password source" of what is sent at once, and of the two files. */
static struct str secrets_of(const char *url, struct arena *a)
{
    CLEANUP(settings_done) struct settings s;
    CLEANUP(secrets_done) struct secrets secrets;
    struct host_config host = {.host = STR("ghe.example"),
                               .kind = &git_hosts[0]};
    struct str out = STR("");
    struct url u = url_of(url, a);
    struct secret got = {0};
    unsigned tried = 0;
    bool of_path;
    struct err e = {0};

    CHECK(settings_load(&s, &host, 1, &e));
    secrets_load(&secrets, &s);
    secrets_first(&secrets, &u, a, &got);
    if (got.source)
        out = arena_printf(a, "%.*s:%.*s %s;", STR_ARG(got.user),
                           STR_ARG(got.password), got.source);
    /* From 2 on it asks mapm, which is not there. */
    for (tried = 0; tried < 2;) {
        unsigned before = tried;
        struct link none = {0};

        if (before == 0 && secrets.netrc_count == 0)
            tried = 1;
        if (tried == 1 && secrets.gh_count == 0)
            break;
        CHECK(secrets_next(&secrets, &none, &u, &tried, a, &got, &of_path, &e));
        if (got.source == NULL)
            break;
        out =
            arena_printf(a, "%.*s%.*s:%.*s %s;", STR_ARG(out),
                         STR_ARG(got.user), STR_ARG(got.password), got.source);
    }
    return out;
}

TEST(files_of_secrets) /* [row 13] */
{
    CLEANUP(arena_done) struct arena a = {0};

    CHECK_STR(str_dup0(secrets_of("https://github.com/a", &a), &a), "");
    put(".netrc", "machine github.com login me password first\n"
                  "machine github.com login me password second\n"
                  "machine GHE.example login you password third\n"
                  "machine x.example login empty\n"
                  "machine x.example login x password fourth\n");
    put(".config/gh/hosts.yml", "github.com:\n  user: me\n"
                                "  oauth_token: gh1\n"
                                "Ghe.example:\n  oauth_token: gh2\n"
                                "x.example:\n  oauth_token: gh3\n"
                                "none.example: text\n");
    CHECK_STR(str_dup0(secrets_of("https://github.com/a", &a), &a),
              "me:first the password from netrc;"
              "x-access-token:gh1 the token from gh's hosts.yml;");
    CHECK_STR(str_dup0(secrets_of("https://ghe.example/a", &a), &a),
              "you:third the password from netrc;"
              "x-access-token:gh2 the token from gh's hosts.yml;");
    CHECK_STR(str_dup0(secrets_of("http://github.com/a", &a), &a), "");
    put("netrc", "machine github.com login other password p\n");
    set_path("NETRC", "netrc");
    put("gh/hosts.yml", "github.com:\n  oauth_token: gh4\n");
    set_path("GH_CONFIG_DIR", "gh");
    setenv("GH_TOKEN", "t", 1);
    CHECK_STR(str_dup0(secrets_of("https://github.com/a", &a), &a),
              "x-access-token:t the token from GH_TOKEN;"
              "other:p the password from netrc;"
              "x-access-token:gh4 the token from gh's hosts.yml;");
    clear();
    put("xdg/gh/hosts.yml", "github.com:\n  oauth_token: gh5\n");
    set_path("XDG_CONFIG_HOME", "xdg");
    CHECK_STR(str_dup0(secrets_of("https://github.com/a", &a), &a),
              "me:first the password from netrc;"
              "x-access-token:gh5 the token from gh's hosts.yml;");
    setenv("XDG_CONFIG_HOME", "xdg", 1);
    CHECK_STR(str_dup0(secrets_of("https://github.com/a", &a), &a),
              "me:first the password from netrc;"
              "x-access-token:gh1 the token from gh's hosts.yml;");
    setenv("GH_CONFIG_DIR", "gh", 1); /* relative: none */
    CHECK_STR(str_dup0(secrets_of("https://github.com/a", &a), &a),
              "me:first the password from netrc;");
    clear();
}
